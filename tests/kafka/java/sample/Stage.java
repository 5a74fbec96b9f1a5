import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** What every act of the sample has: the cluster, the story that it tells, and members that commit as they read. */
final class Stage {
    private static final int COMMIT_EVERY_MS = 2_000;
    /** The default of clients: whoever is slow to be heard, on a busy machine or while the broker restarts, stays. */
    private static final int SESSION_MS = 45_000;

    final Cluster cluster;
    final Story story;
    /** Whoever plays in the background ends when this is set. */
    volatile boolean isOver;

    Stage(Cluster cluster, Story story) {
        this.cluster = cluster;
        this.story = story;
    }

    /** A member that assigns by the first of `assignors` that all members know. */
    Member classic(String group, String clientId, String[] assignors, Map<String, Object> more, String... topics) {
        Map<String, Object> settings = new HashMap<>(Map.of(
            "session.timeout.ms", SESSION_MS,
            "heartbeat.interval.ms", 500,
            "partition.assignment.strategy", Arrays.stream(assignors).map(Stage::assignorClass).toList()));
        settings.putAll(more);
        return member(group, clientId, settings, topics);
    }

    Member modern(String group, String clientId, Map<String, Object> more, String... topics) {
        Map<String, Object> settings = new HashMap<>(Map.of("group.protocol", "consumer"));
        settings.putAll(more);
        return member(group, clientId, settings, topics);
    }

    private Member member(String group, String clientId, Map<String, Object> more, String... topics) {
        Map<String, Object> settings = new HashMap<>(Map.of(
            "client.id", clientId,
            "metadata.max.age.ms", 2_000,
            "enable.auto.commit", true,
            "auto.commit.interval.ms", COMMIT_EVERY_MS));
        settings.putAll(more);
        return new Member(cluster.consumerSettings(group, settings), consumer -> consumer.subscribe(Set.of(topics)));
    }

    /** A consumer without a group's membership. */
    KafkaConsumer<String, String> standalone(String group, String clientId, List<TopicPartition> partitions) {
        Map<String, Object> settings = cluster.consumerSettings(group, Map.of("client.id", clientId));
        KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings);
        consumer.assign(partitions);
        return consumer;
    }

    /** Lets traffic and commits go on. */
    void pause(double seconds) throws InterruptedException {
        Thread.sleep((long) (seconds * 1000));
    }

    private static String assignorClass(String name) {
        return "org.apache.kafka.clients.consumer." + switch (name) {
            case "range" -> "RangeAssignor";
            case "roundrobin" -> "RoundRobinAssignor";
            case "sticky" -> "StickyAssignor";
            case "cooperative-sticky" -> "CooperativeStickyAssignor";
            default -> throw new IllegalArgumentException(name);
        };
    }
}
