import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;
import org.apache.kafka.coordinator.group.modern.TopicIds;

/**
 * Rounds of Kafka's own assignors, one for each line of the input, answered by a line of JSON with its seconds.
 *
 * `case SIDE ASSIGNOR MEMBERS TOPICS PARTITIONS equal|unequal fresh|same|joined|left|both COPIES` prepares the inputs,
 * `round` runs the call that a leader or coordinator makes, COPIES times, `warm SECONDS` does so for so long, `digest`
 * tells what the last one answered.
 * A line that takes longer than the limit of seconds given as argument is answered so, and ends the program.
 */
public final class AssignorRounds {
    private static final ScheduledExecutorService WATCH = Executors.newScheduledThreadPool(1, task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });
    private static final int BUCKETS = 5;

    private record Case(
        String side, String assignor, int members, int topics, int partitions, boolean isEqual, String history) {
        static Case of(String[] words) {
            return new Case(words[1], words[2], Integer.parseInt(words[3]), Integer.parseInt(words[4]),
                Integer.parseInt(words[5]), words[6].equals("equal"), words[7]);
        }

        /** With unequal subscriptions each fifth of the members takes a fifth of the topics. */
        int bucketOf(int member) {
            return isEqual ? 0 : Math.min(BUCKETS - 1, member / Math.max(1, members / BUCKETS));
        }

        List<String> topicsOf(int bucket) {
            List<String> names = new ArrayList<>();
            int end = isEqual ? topics : (bucket + 1) * topics / BUCKETS;
            for (int i = bucket * topics / BUCKETS; i < end; i++) names.add(topic(i));
            return names;
        }

        /** The numbers of the members that are there at first, or after the change. */
        List<Integer> present(boolean isAfter) {
            List<Integer> present = new ArrayList<>();
            for (int i = 0; i < members; i++) present.add(i);
            if (isAfter && (history.equals("left") || history.equals("both"))) present.remove(members / 2);
            if (isAfter && (history.equals("joined") || history.equals("both"))) present.add(members);
            return present;
        }

        boolean isFresh() {
            return history.equals("fresh");
        }
    }

    /** One prepared call, and its answer as numbers in the order of Kafka's lists. */
    private interface Prepared {
        Object call();

        long digest(Object answer);
    }

    private AssignorRounds() { }

    public static void main(String[] args) throws Exception {
        double limit = Double.parseDouble(args[0]);
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Prepared[] prepared = {};
        Object last = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            var late = WATCH.schedule(() -> {
                System.out.printf("{\"seconds\": %f, \"is_over\": true}%n", limit);
                Runtime.getRuntime().halt(0);
            }, (long) (limit * 1000), TimeUnit.MILLISECONDS);
            long start = System.nanoTime();
            long digest = 0;
            switch (words[0]) {
                case "case" -> prepared = copies(Case.of(words), Integer.parseInt(words[8]));
                case "round" -> last = round(prepared);
                case "warm" -> {
                    do last = round(prepared); while (System.nanoTime() - start < Double.parseDouble(words[1]) * 1e9);
                }
                default -> digest = prepared[prepared.length - 1].digest(last);
            }
            double seconds = (System.nanoTime() - start) / 1e9;
            late.cancel(false);
            System.out.printf("{\"seconds\": %.9f, \"digest\": \"%s\"}%n", seconds, Long.toUnsignedString(digest));
        }
    }

    private static Object round(Prepared[] prepared) {
        Object last = null;
        for (Prepared each : prepared) last = each.call();
        return last;
    }

    private static Prepared[] copies(Case shape, int copies) {
        Prepared[] prepared = new Prepared[copies];
        for (int i = 0; i < copies; i++) prepared[i] = shape.side.equals("client") ? client(shape) : server(shape);
        return prepared;
    }

    private static String topic(int i) {
        return String.format("topic-%05d", i);
    }

    private static String member(int i) {
        return "member" + i;
    }

    private static final class Digest {
        private long value;

        void add(long number) {
            value = value * 31 + number;
        }

        void add(String topic, int partition) {
            add(Integer.parseInt(topic.substring(topic.length() - 5)) * 1_000_003L + partition);
        }
    }

    // ------------------------------------------------------------------------------------------------ the leader's

    private static Prepared client(Case shape) {
        Cluster cluster = cluster(shape);
        Map<String, List<TopicPartition>> owned = new HashMap<>();
        if (!shape.isFresh()) {
            var first = new GroupSubscription(subscriptions(shape, owned, false));
            leaders(shape).assign(cluster, first).groupAssignment()
                .forEach((member, assignment) -> owned.put(member, assignment.partitions()));
        }
        Map<String, Subscription> subscriptions = subscriptions(shape, owned, true);
        GroupSubscription group = new GroupSubscription(subscriptions);
        return new Prepared() {
            @Override
            public Object call() {
                // The assignor reads them to their ends.
                for (Subscription each : subscriptions.values()) if (each.userData() != null) each.userData().rewind();
                return leaders(shape).assign(cluster, group);
            }

            @Override
            public long digest(Object answer) {
                Map<String, Assignment> lists = ((ConsumerPartitionAssignor.GroupAssignment) answer).groupAssignment();
                Digest digest = new Digest();
                for (int i : shape.present(true)) {
                    digest.add(-1);
                    lists.get(member(i)).partitions().forEach(each -> digest.add(each.topic(), each.partition()));
                }
                return digest.value;
            }
        };
    }

    private static ConsumerPartitionAssignor leaders(Case shape) {
        return switch (shape.assignor) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            default -> new CooperativeStickyAssignor();
        };
    }

    private static Cluster cluster(Case shape) {
        Node node = new Node(0, "host", 9092);
        Node[] replicas = {node};
        List<PartitionInfo> partitions = new ArrayList<>();
        for (int t = 0; t < shape.topics; t++) {
            for (int i = 0; i < shape.partitions; i++) {
                partitions.add(new PartitionInfo(topic(t), i, node, replicas, replicas));
            }
        }
        return new Cluster("cluster", List.of(node), partitions, Set.of(), Set.of());
    }

    private static Map<String, Subscription> subscriptions(
        Case shape, Map<String, List<TopicPartition>> owned, boolean isAfter) {
        // Lists of names are shared, as in Kafka's own benchmarks: a real leader's are not, and take it longer.
        Map<Integer, List<String>> shared = new HashMap<>();
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (int i : shape.present(isAfter)) {
            List<String> topics = shared.computeIfAbsent(shape.bucketOf(i), shape::topicsOf);
            List<TopicPartition> has = owned.get(member(i));
            boolean isEager = shape.assignor.equals("sticky");
            subscriptions.put(member(i), has == null
                ? new Subscription(topics, null, List.of(), -1, Optional.empty())
                : new Subscription(topics, isEager ? userData(has) : null, isEager ? List.of() : has, 1, Optional.empty()));
        }
        return subscriptions;
    }

    /** What a member of the eager sticky assignor says of the generation before, number 1. */
    private static ByteBuffer userData(List<TopicPartition> owned) {
        Map<String, List<Integer>> byTopic = new LinkedHashMap<>();
        owned.forEach(each -> byTopic.computeIfAbsent(each.topic(), key -> new ArrayList<>()).add(each.partition()));
        int size = 8;
        for (String topic : byTopic.keySet()) size += 6 + topic.length() + 4 * byTopic.get(topic).size();
        ByteBuffer data = ByteBuffer.allocate(size).putInt(byTopic.size());
        byTopic.forEach((topic, partitions) -> {
            byte[] name = topic.getBytes(StandardCharsets.UTF_8);
            data.putShort((short) name.length).put(name).putInt(partitions.size());
            partitions.forEach(data::putInt);
        });
        data.putInt(1).flip();
        return data;
    }

    // ------------------------------------------------------------------------------------------- the coordinator's

    private static Prepared server(Case shape) {
        Map<String, Uuid> ids = new HashMap<>();
        Map<Uuid, String> names = new HashMap<>();
        for (int t = 0; t < shape.topics; t++) {
            Uuid id = new Uuid(0x1234567890abcdefL * (t + 1), 0x7654321fedcba98L * (t + 7));
            ids.put(topic(t), id);
            names.put(id, topic(t));
        }
        var describer = new SubscribedTopicDescriber() {
            @Override
            public int numPartitions(Uuid id) {
                return names.containsKey(id) ? shape.partitions : -1;
            }

            @Override
            public Set<String> racksForPartition(Uuid id, int partition) {
                return Set.of();
            }
        };
        var resolver = new TopicIds.CachedTopicResolver(new Topics(ids));
        Map<String, Map<Uuid, Set<Integer>>> targets = new HashMap<>();
        if (!shape.isFresh()) {
            assigned(shape, groupSpec(shape, targets, resolver, false), describer).members()
                .forEach((member, assignment) -> targets.put(member, asRead(assignment.partitions())));
        }
        GroupSpecImpl group = groupSpec(shape, targets, resolver, true);
        return new Prepared() {
            @Override
            public Object call() {
                return assigned(shape, group, describer);
            }

            @Override
            public long digest(Object answer) {
                Digest digest = new Digest();
                for (int i : shape.present(true)) {
                    digest.add(-1);
                    ((GroupAssignment) answer).members().get(member(i)).partitions().forEach(
                        (id, partitions) -> partitions.forEach(each -> digest.add(names.get(id), each)));
                }
                return digest.value;
            }
        };
    }

    private static GroupAssignment assigned(Case shape, GroupSpecImpl group, SubscribedTopicDescriber describer) {
        return switch (shape.assignor) {
            case "uniform" -> new UniformAssignor().assign(group, describer);
            case "simple" -> new SimpleAssignor().assign(group, describer);
            default -> new org.apache.kafka.coordinator.group.assignor.RangeAssignor().assign(group, describer);
        };
    }

    /** A target as the coordinator makes it of a record: a default map, and a set copied from each list. */
    private static Map<Uuid, Set<Integer>> asRead(Map<Uuid, Set<Integer>> target) {
        Map<Uuid, Set<Integer>> read = new HashMap<>();
        target.forEach((id, partitions) -> read.put(id, new HashSet<>(new ArrayList<>(partitions))));
        return read;
    }

    private static GroupSpecImpl groupSpec(
        Case shape, Map<String, Map<Uuid, Set<Integer>>> targets, TopicIds.TopicResolver resolver, boolean isAfter) {
        Map<Integer, Set<String>> shared = new HashMap<>();
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        for (int i : shape.present(isAfter)) {
            String member = member(i);
            Set<String> topics = shared.computeIfAbsent(
                shape.bucketOf(i), bucket -> new HashSet<>(shape.topicsOf(bucket)));
            Map<Uuid, Set<Integer>> target = targets.getOrDefault(member, Map.of());
            target.forEach((id, partitions) -> partitions.forEach(
                each -> owners.computeIfAbsent(id, key -> new HashMap<>()).put(each, member)));
            members.put(member, new MemberSubscriptionAndAssignmentImpl(Optional.empty(), Optional.empty(),
                new TopicIds(topics, resolver), new org.apache.kafka.coordinator.group.modern.Assignment(target)));
        }
        SubscriptionType type = shape.isEqual ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
        return new GroupSpecImpl(members, type, owners, Optional.empty());
    }
}
