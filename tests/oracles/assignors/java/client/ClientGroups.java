import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.TopicPartition;

/**
 * Groups that live through several generations, by the client classes on the classpath. Each member keeps an assignor of
 * its own, writes its subscription as consumers do, and is told what the leader gave it.
 *
 * A line in: assignor, topics, and rounds of members (member_id, group_instance_id, rack_id, subscribed_topics;
 * is_synced: whether it hears of the assignment), the first of which leads unless `leader` names another. A line out:
 * for each round the bytes of each member's subscription and assignment, null where the assignor failed.
 */
public final class ClientGroups {
    private static final ObjectMapper JSON = new ObjectMapper();

    private ClientGroups() { }

    private static final class Consumer {
        final ConsumerPartitionAssignor assignor;
        List<TopicPartition> owned = List.of();
        int generation = -1;

        Consumer(JsonNode group) throws Exception {
            assignor = ClientAssignors.assignor(group);
        }

        boolean isCooperative() {
            return assignor.name().startsWith("cooperative");
        }

        ByteBuffer subscribe(JsonNode member) throws Exception {
            List<String> topics = Specs.texts(member, "subscribed_topics");
            ByteBuffer userData = assignor.subscriptionUserData(new HashSet<>(topics));
            List<TopicPartition> claimed = isCooperative() ? owned : List.of();
            Optional<String> rack = Optional.ofNullable(Specs.text(member, "rack_id"));
            Subscription subscription = (Subscription) (ClientAssignors.SUBSCRIPTION.getParameterCount() == 3
                ? ClientAssignors.SUBSCRIPTION.newInstance(topics, userData, claimed)
                : ClientAssignors.SUBSCRIPTION.newInstance(topics, userData, claimed, generation, rack));
            return ConsumerProtocol.serializeSubscription(subscription);
        }

        void assigned(ByteBuffer bytes, int number, String id) {
            Assignment assignment = ConsumerProtocol.deserializeAssignment(bytes);
            owned = assignment.partitions();
            assignor.onAssignment(assignment, new ConsumerGroupMetadata("group", number, id, Optional.empty()));
        }
    }

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(JSON.writeValueAsString(lived(JSON.readTree(line))));
        }
        out.flush();
    }

    private static List<Object> lived(JsonNode group) throws Exception {
        Map<String, Consumer> consumers = new HashMap<>();
        List<Object> rounds = new ArrayList<>();
        int number = 0;
        for (JsonNode round : group.get("rounds")) {
            number++;
            Set<String> present = new HashSet<>();
            for (JsonNode member : round.get("members")) {
                String id = member.get("member_id").asText();
                present.add(id);
                if (!consumers.containsKey(id)) consumers.put(id, new Consumer(group));
            }
            consumers.keySet().retainAll(present);
            Cluster cluster = ClientAssignors.cluster(round.has("topics") ? round : group);
            rounds.add(rebalanced(round, cluster, consumers, number));
        }
        return rounds;
    }

    private static Object rebalanced(JsonNode round, Cluster cluster, Map<String, Consumer> consumers, int number)
            throws Exception {
        Map<String, ByteBuffer> subscribed = new LinkedHashMap<>();
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (JsonNode member : round.get("members")) {
            String id = member.get("member_id").asText();
            ByteBuffer bytes = consumers.get(id).subscribe(member);
            subscribed.put(id, bytes);
            Subscription read = ConsumerProtocol.deserializeSubscription(bytes.duplicate());
            read.setGroupInstanceId(Optional.ofNullable(Specs.text(member, "group_instance_id")));
            subscriptions.put(id, read);
        }
        String first = round.get("members").get(0).get("member_id").asText();
        ConsumerPartitionAssignor leader = consumers.get(round.path("leader").asText(first)).assignor;
        Map<String, Assignment> assigned;
        try {
            assigned = leader.assign(cluster, new GroupSubscription(subscriptions)).groupAssignment();
        } catch (RuntimeException e) {
            return null;
        }
        List<Object> written = new ArrayList<>();
        for (JsonNode member : round.get("members")) {
            String id = member.get("member_id").asText();
            ByteBuffer bytes = ConsumerProtocol.serializeAssignment(assigned.get(id));
            written.add(List.of(hex(subscribed.get(id)), hex(bytes)));
            Consumer consumer = consumers.get(id);
            // The number is taken over with the join already.
            consumer.generation = number;
            if (member.path("is_synced").asBoolean(true)) consumer.assigned(bytes.duplicate(), number, id);
        }
        return written;
    }

    private static String hex(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
