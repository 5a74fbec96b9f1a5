import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Offsets that are committed and deleted without any membership. */
final class Commits {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final TopicPartition SECOND = new TopicPartition("orders", 1);

    private static final Map<TopicPartition, OffsetAndMetadata> BOTH =
        Map.of(FIRST, new OffsetAndMetadata(1), SECOND, new OffsetAndMetadata(1));

    static void byAdmin(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        cluster.commitAsAdmin("admin-reset", Map.of(FIRST, new OffsetAndMetadata(3), SECOND, new OffsetAndMetadata(2)));
        cluster.commitAsAdmin("admin-reset", Map.of(FIRST, new OffsetAndMetadata(0)));
    }

    /** Metadata is any text: empty, long, with control characters, beyond the basic plane. */
    static void withMetadata(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        List<String> texts = List.of(
            "", "{\"host\": \"a\"}", "ünï–\uD83D\uDE00", "\u0000\u001b[0m\n\"\\", "x".repeat(4096));
        Map<String, Object> settings = cluster.consumerSettings("assigned", Map.of());
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
            consumer.assign(List.of(FIRST, SECOND));
            for (int i = 0; i < texts.size(); i++) {
                Optional<Integer> epoch = i % 2 == 0 ? Optional.of(0) : Optional.empty();
                consumer.commitSync(Map.of(FIRST, new OffsetAndMetadata(i, epoch, texts.get(i))));
            }
        }
    }

    static void byOldRequests(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        for (short version : new short[] {2, 3, 4}) {
            String group = "old-client-v" + version;
            RawRequests.commit(cluster, version, group, FIRST, 10 + version, 3_600_000);
            RawRequests.commit(cluster, version, group, SECOND, version, RawRequests.BROKERS_RETENTION);
        }
        for (short version : new short[] {5, 6, 7, 8, 9}) {
            TopicPartition at = new TopicPartition("orders", version % 6);
            RawRequests.commit(cluster, version, "request-versions", at, version, 0);
        }
    }

    /** No broker checks that the offset exists or makes sense. */
    static void negative(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        RawRequests.commit(cluster, (short) 8, "negative", FIRST, -1, 0);
        RawRequests.commit(cluster, (short) 8, "negative", SECOND, Long.MIN_VALUE, 0);
    }

    /** Expired by the next sweep. */
    static void shortLived(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        RawRequests.commit(cluster, RawRequests.LAST_WITH_RETENTION, "short-lived", FIRST, 7, 1);
        RawRequests.commit(cluster, RawRequests.LAST_WITH_RETENTION, "partly-short-lived", FIRST, 8, 1);
        cluster.commitAsAdmin("partly-short-lived", Map.of(SECOND, new OffsetAndMetadata(9)));
    }

    static void awaitSweep(Cluster cluster) throws Exception {
        Cluster.until("the sweep took the expired offsets", () -> {
            var offsets = cluster.offsetsOf("partly-short-lived");
            return !offsets.containsKey(FIRST) && offsets.containsKey(SECOND);
        });
    }

    static void deletedOffset(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        cluster.commitAsAdmin("offset-deleted", BOTH);
        cluster.deleteOffsets("offset-deleted", FIRST);
    }

    static void deletedGroup(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        cluster.commitAsAdmin("simple-deleted", BOTH);
        cluster.deleteGroup("simple-deleted");
    }

    static void deletedTopic(Cluster cluster) throws Exception {
        cluster.topic("doomed", 2);
        TopicPartition doomed = new TopicPartition("doomed", 1);
        cluster.topic("orders", 6);
        for (String group : List.of("of-doomed-1", "of-doomed-2")) {
            cluster.commitAsAdmin(group, Map.of(doomed, new OffsetAndMetadata(1), SECOND, new OffsetAndMetadata(1)));
        }
        cluster.deleteTopic("doomed");
        Cluster.until("the offsets of the deleted topic are gone", () ->
            !cluster.offsetsOf("of-doomed-2").containsKey(doomed));
    }
}
