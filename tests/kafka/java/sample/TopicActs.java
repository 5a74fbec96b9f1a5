import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.NewPartitions;

/** Topics that grow, go, and come again, under groups that consume them. */
final class TopicActs {
    private static final String[] RANGE = {"range"};

    static void partitionsAdded(Stage stage) throws Exception {
        String group = "partitions-added";
        Member first = stage.classic(group, "tracker-1", RANGE, Map.of(), "shipments");
        Member second = stage.classic(group, "tracker-2", RANGE, Map.of(), "shipments");
        Map<String, Object> before = Seen.settled(stage.cluster, group, 4, first, second);
        stage.pause(8);
        Story.Event event = stage.story.begin("partitions-added", "partitions_added");
        Cluster.settled(() -> stage.cluster.admin.createPartitions(Map.of("shipments", NewPartitions.increaseTo(6)))
            .all());
        Map<String, Object> after = Seen.settled(stage.cluster, group, 6, first, second);
        stage.pause(5);
        event.with("group", group).with("topic", "shipments").with("partitions_before", 4)
            .with("partitions_after", 6).with("observations", List.of(before, after))
            .end("a generation of the same members that owns two more partitions, then commits of those");
    }

    static void topicDeleted(Stage stage) throws Exception {
        OffsetActs.emptied(stage, "topic-deleted", "legacy-orders", 3, 6);
        String id = topicId(stage, "legacy-orders");
        Map<String, Map<String, Long>> before = Seen.committed(stage.cluster, "topic-deleted");
        Story.Event event = stage.story.begin("topic-deleted", "topic_deleted");
        deleted(stage, "legacy-orders", "topic-deleted");
        event.with("group", "topic-deleted").with("topic", "legacy-orders").with("topic_id", id)
            .with("offsets_before", before).end("tombstones of the offsets of all its partitions, then of the empty group by a sweep");
    }

    static void topicRecreated(Stage stage) throws Exception {
        OffsetActs.emptied(stage, "topic-recreated", "staging", 2, 5);
        String oldId = topicId(stage, "staging");
        Map<String, Map<String, Long>> before = Seen.committed(stage.cluster, "topic-recreated");
        Story.Event event = stage.story.begin("topic-recreated", "topic_recreated");
        deleted(stage, "staging", "topic-recreated");
        stage.pause(2);
        stage.cluster.topic("staging", 2);
        Member again = stage.classic("topic-recreated", "again", RANGE, Map.of(), "staging").awaitPartitions(2);
        Cluster.until("it commits again", () -> stage.cluster.offsetsOf("topic-recreated").size() == 2);
        again.close();
        event.with("group", "topic-recreated").with("topic", "staging").with("topic_id_before", oldId)
            .with("topic_id_after", topicId(stage, "staging")).with("offsets_before", before)
            .with("offsets_after", Seen.committed(stage.cluster, "topic-recreated"))
            .end("commits under one topic id, their tombstones, then commits under the same name and another id");
    }

    private static void deleted(Stage stage, String topic, String group) throws Exception {
        stage.cluster.deleteTopic(topic);
        Cluster.until("its offsets are gone", () -> stage.cluster.offsetsOf(group).isEmpty());
    }

    private static String topicId(Stage stage, String topic) throws Exception {
        return Cluster.settled(() -> stage.cluster.admin.describeTopics(Set.of(topic)).topicNameValues().get(topic))
            .topicId().toString();
    }
}
