import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Offsets that move, stand still, are put elsewhere, expire or are deleted. */
final class OffsetActs {
    private static final String[] RANGE = {"range"};
    private static final long SHIFT = -15;
    private static final int RETENTION_MS = 3_000;

    /** Of four partitions two move on; one is committed where it was, one no more. */
    static void standingStill(Stage stage) throws Exception {
        Map<String, Object> byHand = Map.of("enable.auto.commit", false);
        Member member = stage.classic("ledger", "ledger-1", RANGE, byHand, "payments").awaitPartitions(4);
        for (int i = 0; i < 6; i++) {
            commit(member, 0, 1, 2, 3);
            stage.pause(2);
        }
        TopicPartition stalled = new TopicPartition("payments", 2);
        member.onItsThread(consumer -> consumer.pause(List.of(stalled)));
        commit(member, 0, 1, 2, 3);
        Story.Event stall = standsStill(stage, "partition-stalled", "partition_stalled", 2);
        Story.Event stop = standsStill(stage, "partition-stopped", "partition_stopped", 3);
        while (!stage.isOver) {
            commit(member, 0, 1, 2);
            stage.pause(2);
        }
        stall.with("end_offset_after", endOffset(stage, stalled))
            .end("commits of the same offset again and again, while those of partitions 0 and 1 advance");
        stop.with("end_offset_after", endOffset(stage, new TopicPartition("payments", 3)))
            .end("no more commits, while those of partitions 0 and 1 advance");
    }

    private static void commit(Member member, int... partitions) throws Exception {
        member.onItsThread(consumer -> {
            Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
            for (int partition : partitions) {
                TopicPartition at = new TopicPartition("payments", partition);
                positions.put(at, new OffsetAndMetadata(consumer.position(at)));
            }
            consumer.commitSync(positions);
        });
    }

    private static Story.Event standsStill(Stage stage, String event, String kind, int partition) throws Exception {
        TopicPartition at = new TopicPartition("payments", partition);
        return stage.story.begin(event, kind).with("group", "ledger").with("topic", "payments")
            .with("partition", partition)
            .with("committed_offset", stage.cluster.offsetsOf("ledger").get(at).offset())
            .with("end_offset_before", endOffset(stage, at));
    }

    private static long endOffset(Stage stage, TopicPartition at) throws Exception {
        return Cluster.settled(() -> stage.cluster.admin.listOffsets(Map.of(at, OffsetSpec.latest())).all())
            .get(at).offset();
    }

    /** Takes partitions by itself, so that the group has offsets and never a member. */
    static void standalone(Stage stage) throws Exception {
        List<TopicPartition> partitions = partitions("clicks", 3);
        Story.Event event = stage.story.begin("standalone-consumer", "simple_consumer");
        int commits = 0;
        try (KafkaConsumer<String, String> consumer = stage.standalone("standalone", "export-1", partitions)) {
            for (; !stage.isOver; commits++) {
                consumer.poll(Duration.ofMillis(500));
                String note = "batch " + commits;
                Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
                partitions.forEach(at ->
                    positions.put(at, new OffsetAndMetadata(consumer.position(at), Optional.empty(), note)));
                consumer.commitSync(positions);
                stage.pause(2);
            }
        }
        event.with("group", "standalone").with("topic", "clicks").with("num_commits", commits)
            .with("offsets_after", Seen.committed(stage.cluster, "standalone"))
            .end("this number of commits of each partition, and no other record of the group");
    }

    /** Metadata is any text. */
    static void annotated(Stage stage) throws Exception {
        List<String> texts = List.of("", "{\"run\": 17, \"by\": \"nightly\"}", "ünï–\uD83D\uDE00",
            "tab\tquote\"<script>alert(1)</script>", "x".repeat(600));
        TopicPartition at = new TopicPartition("inventory", 1);
        Story.Event event = stage.story.begin("commit-metadata", "commit_metadata");
        List<Object> commits = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = stage.standalone("annotated", "nightly", List.of(at))) {
            for (int i = 0; i < texts.size(); i++) {
                consumer.commitSync(Map.of(at, new OffsetAndMetadata(i + 2, Optional.of(0), texts.get(i))));
                commits.add(Map.of("offset", i + 2, "metadata", texts.get(i)));
                stage.pause(1);
            }
        }
        event.with("group", "annotated").with("topic", "inventory").with("partition", 1).with("commits", commits)
            .end("each commit with the text that its client gave it");
    }

    static void resetToEarliest(Stage stage) throws Exception {
        Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
        partitions("inventory", 4).forEach(at -> wanted.put(at, OffsetSpec.earliest()));
        Map<String, Object> how = Map.of("reset", "to_earliest");
        reset(stage, "reset-to-earliest", how, before -> {
            Map<TopicPartition, Long> after = new HashMap<>();
            Cluster.settled(() -> stage.cluster.admin.listOffsets(wanted).all())
                .forEach((at, start) -> after.put(at, start.offset()));
            return after;
        });
    }

    static void resetByShift(Stage stage) throws Exception {
        Map<String, Object> how = Map.of("reset", "shift", "shift_by", SHIFT);
        reset(stage, "reset-by-shift", how, before -> {
            Map<TopicPartition, Long> after = new HashMap<>();
            before.forEach((at, committed) -> after.put(at, committed.offset() + SHIFT));
            return after;
        });
    }

    private interface Reset {
        Map<TopicPartition, Long> of(Map<TopicPartition, OffsetAndMetadata> before) throws Exception;
    }

    /** As kafka-consumer-groups does it: while the group has no member, all partitions at once. */
    private static void reset(Stage stage, String group, Map<String, Object> how, Reset reset) throws Exception {
        emptied(stage, group, "inventory", 4, 15);
        Map<TopicPartition, OffsetAndMetadata> before = stage.cluster.offsetsOf(group);
        Map<TopicPartition, OffsetAndMetadata> after = new HashMap<>();
        reset.of(before).forEach((at, offset) -> after.put(at, new OffsetAndMetadata(offset)));
        Map<String, Map<String, Long>> seenBefore = Seen.committed(stage.cluster, group);
        Story.Event event = stage.story.begin(group, "admin_reset");
        stage.cluster.commitAsAdmin(group, after);
        new TreeMap<>(how).forEach(event::with);
        event.with("group", group).with("topic", "inventory").with("offsets_before", seenBefore)
            .with("offsets_after", Seen.committed(stage.cluster, group))
            .end("one commit of every partition while the group is empty, from the offsets before to those after");
        stage.pause(3);
        stage.classic(group, group + "-again", RANGE, Map.of(), "inventory").awaitPartitions(4);
    }

    static void offsetsDeleted(Stage stage) throws Exception {
        emptied(stage, "offsets-deleted", "inventory", 4, 8);
        Map<String, Map<String, Long>> before = Seen.committed(stage.cluster, "offsets-deleted");
        Story.Event event = stage.story.begin("offsets-deleted", "offsets_deleted");
        List<TopicPartition> deleted = partitions("inventory", 2);
        stage.cluster.deleteOffsets("offsets-deleted", deleted.toArray(TopicPartition[]::new));
        event.with("group", "offsets-deleted").with("topic", "inventory").with("partitions", List.of(0, 1))
            .with("offsets_before", before).with("offsets_after", Seen.committed(stage.cluster, "offsets-deleted"))
            .end("tombstones of these partitions' offsets; the others remain");
    }

    static void groupDeleted(Stage stage) throws Exception {
        emptied(stage, "group-deleted", "inventory", 4, 8);
        Map<String, Map<String, Long>> before = Seen.committed(stage.cluster, "group-deleted");
        Story.Event event = stage.story.begin("group-deleted", "group_deleted");
        stage.cluster.deleteGroup("group-deleted");
        event.with("group", "group-deleted").with("offsets_before", before)
            .end("tombstones of all its offsets and of the group");
    }

    /** An old client's commit with a life of its own, and one without. */
    static void expired(Stage stage) throws Exception {
        TopicPartition shortLived = new TopicPartition("inventory", 0);
        TopicPartition lasting = new TopicPartition("inventory", 1);
        Story.Event event = stage.story.begin("offset-expired", "offset_expired");
        stage.cluster.commitAsAdmin("expired", Map.of(lasting, new OffsetAndMetadata(9)));
        RawRequests.commit(stage.cluster, RawRequests.LAST_WITH_RETENTION, "expired", shortLived, 7, RETENTION_MS);
        // As acknowledged: by the time that an admin asks, the sweep may have been there.
        Map<String, Map<String, Long>> before = Seen.offsets(Map.of(shortLived, 7L, lasting, 9L));
        Cluster.until("the sweep took the expired offset", () ->
            !stage.cluster.offsetsOf("expired").containsKey(shortLived));
        event.with("group", "expired").with("topic", "inventory").with("partition", 0).with("retention_ms", RETENTION_MS)
            .with("offsets_before", before).with("offsets_after", Seen.committed(stage.cluster, "expired"))
            .end("a commit with an expire time, and after that time a tombstone");
    }

    /** Whoever read for some seconds and left. */
    static void emptied(Stage stage, String group, String topic, int partitions, double seconds) throws Exception {
        Member member = stage.classic(group, group + "-1", RANGE, Map.of(), topic).awaitPartitions(partitions);
        stage.pause(seconds);
        member.commit().close();
        Seen.awaitEmpty(stage.cluster, group);
        stage.pause(1);
    }

    static List<TopicPartition> partitions(String topic, int number) {
        return IntStream.range(0, number).mapToObj(partition -> new TopicPartition(topic, partition)).toList();
    }
}
