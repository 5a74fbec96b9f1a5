import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/** What a group's leader answers, by the client classes on the classpath, from 2.4 on. */
public final class ClientAssignors {
    static final Constructor<?> SUBSCRIPTION = newestConstructor();

    private ClientAssignors() { }

    public static void main(String[] args) throws Exception {
        Specs.answerAll(ClientAssignors::answer);
    }

    private static Map<String, List<Object>> answer(JsonNode spec) throws Exception {
        // A default map filled in the order of the members, as the leader fills it from the JoinGroup response.
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (JsonNode member : spec.get("members")) {
            subscriptions.put(member.get("member_id").asText(), subscription(member));
        }
        ConsumerPartitionAssignor assignor = assignor(spec);
        Map<String, List<Object>> lists = new HashMap<>();
        assignor.assign(cluster(spec), new GroupSubscription(subscriptions)).groupAssignment()
            .forEach((member, assignment) -> lists.put(member, pairs(assignment.partitions())));
        return lists;
    }

    static ConsumerPartitionAssignor assignor(JsonNode spec) throws Exception {
        ConsumerPartitionAssignor assignor = switch (spec.get("assignor").asText()) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            case "cooperative-sticky" -> new CooperativeStickyAssignor();
            default -> throw new IllegalArgumentException("no such assignor: " + spec.get("assignor"));
        };
        if (spec.hasNonNull("leader_memory")) {
            // What earlier rounds of the same leader leave in the object.
            Field highest = AbstractStickyAssignor.class.getDeclaredField("maxGeneration");
            highest.setAccessible(true);
            highest.setInt(assignor, spec.get("leader_memory").asInt());
        }
        return assignor;
    }

    private static List<Object> pairs(List<TopicPartition> partitions) {
        List<Object> pairs = new ArrayList<>();
        partitions.forEach(each -> pairs.add(List.of(each.topic(), each.partition())));
        return pairs;
    }

    private static Subscription subscription(JsonNode member) throws Exception {
        Subscription subscription = member.hasNonNull("subscription")
            ? ConsumerProtocol.deserializeSubscription(bytes(member, "subscription"))
            : fromFields(member);
        subscription.setGroupInstanceId(Optional.ofNullable(Specs.text(member, "group_instance_id")));
        return subscription;
    }

    private static Subscription fromFields(JsonNode member) throws Exception {
        List<TopicPartition> owned = new ArrayList<>();
        Specs.partitions(member, "owned").forEach(
            (topic, partitions) -> partitions.forEach(each -> owned.add(new TopicPartition(topic, each))));
        List<String> topics = Specs.texts(member, "subscribed_topics");
        ByteBuffer userData = bytes(member, "user_data");
        if (SUBSCRIPTION.getParameterCount() == 3) {
            return (Subscription) SUBSCRIPTION.newInstance(topics, userData, owned);
        }
        Optional<String> rack = Optional.ofNullable(Specs.text(member, "rack_id")).filter(each -> !each.isEmpty());
        return (Subscription) SUBSCRIPTION.newInstance(
            topics, userData, owned, member.path("generation").asInt(-1), rack);
    }

    private static ByteBuffer bytes(JsonNode member, String field) {
        String hex = Specs.text(member, field);
        return hex == null ? null : ByteBuffer.wrap(HexFormat.of().parseHex(hex));
    }

    /** Generations and racks came to the constructor with 3.4. */
    private static Constructor<?> newestConstructor() {
        Constructor<?> newest = null;
        for (Constructor<?> each : Subscription.class.getConstructors()) {
            if (newest == null || each.getParameterCount() > newest.getParameterCount()) newest = each;
        }
        return newest;
    }

    static Cluster cluster(JsonNode spec) {
        Map<String, Node> nodes = new HashMap<>();
        List<PartitionInfo> partitions = new ArrayList<>();
        for (JsonNode topic : spec.get("topics")) {
            for (int i = 0; i < topic.get("partitions").asInt(); i++) {
                List<Node> replicas = new ArrayList<>();
                for (JsonNode rack : topic.path("racks").path(i)) {
                    replicas.add(node(nodes, rack.isNull() ? null : rack.asText(), replicas.size()));
                }
                Node[] all = replicas.toArray(new Node[0]);
                // Releases before 2.5 cannot take a leader that is none of the nodes.
                Node leader = all.length == 0 ? node(nodes, null, 0) : all[0];
                partitions.add(new PartitionInfo(topic.get("name").asText(), i, leader, all, all));
            }
        }
        return new Cluster("cluster", List.copyOf(nodes.values()), partitions, Set.of(), Set.of());
    }

    /** A broker of the rack; another one for each replica of a partition. */
    private static Node node(Map<String, Node> nodes, String rack, int replica) {
        return nodes.computeIfAbsent(replica + "/" + rack, key -> new Node(nodes.size(), "host", 9092, rack));
    }
}
