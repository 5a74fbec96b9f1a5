import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownMemberIdException;

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

    /** Two groups whose members have left: offsets of both are set back, by an admin and by a program. */
    static void setBack(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        cluster.topic("returns", 1);
        Map<TopicPartition, OffsetAndMetadata> back = Map.of(
            FIRST, new OffsetAndMetadata(1, Optional.of(0), "by hand"),
            SECOND, new OffsetAndMetadata(1),
            new TopicPartition("returns", 0), new OffsetAndMetadata(0));
        for (String protocol : List.of("classic", "consumer")) {
            readAndLeave(cluster, "by-admin-" + protocol, protocol, back);
            cluster.commitAsAdmin("by-admin-" + protocol, back);
            readAndLeave(cluster, "by-program-" + protocol, protocol, back);
            Map<String, Object> settings = cluster.consumerSettings("by-program-" + protocol, Map.of());
            try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
                consumer.assign(back.keySet());
                consumer.commitSync(back);
            }
        }
    }

    /** While it has a member, nobody else may commit. */
    private static void readAndLeave(
        Cluster cluster, String group, String protocol, Map<TopicPartition, OffsetAndMetadata> back
    ) throws Exception {
        Map<String, Object> settings = cluster.consumerSettings(group, Map.of("group.protocol", protocol));
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
            consumer.subscribe(List.of("orders", "returns"));
            while (consumer.assignment().size() < 7) {
                consumer.poll(Duration.ofMillis(100));
            }
            for (TopicPartition at : back.keySet()) {
                consumer.commitSync(Map.of(at, new OffsetAndMetadata(3)));
            }
            try {
                cluster.admin.alterConsumerGroupOffsets(group, back).all().get();
                throw new IllegalStateException("offsets of " + group + " were set while it had a member");
            } catch (ExecutionException refused) {
                if (!(refused.getCause() instanceof UnknownMemberIdException)) {
                    throw refused;
                }
            }
        }
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
