import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Groups of the newer protocols, whose assignments the coordinator makes, and what converts between the protocols. */
final class ModernActs {
    private static final String[] UPGRADABLE = {"range", "cooperative-sticky"};

    static void uniform(Stage stage) throws Exception {
        serverSide(stage, "uniform", Map.of());
    }

    static void range(Stage stage) throws Exception {
        serverSide(stage, "range", Map.of("group.remote.assignor", "range"));
    }

    private static void serverSide(Stage stage, String assignor, Map<String, Object> settings) throws Exception {
        String group = "modern-" + assignor;
        Story.Event event = stage.story.begin("consumer-group-" + assignor, "consumer_rebalances");
        List<Object> seen = new ArrayList<>();
        Member first = stage.modern(group, group + "-1", settings, "orders", "payments");
        seen.add(Seen.settled(stage.cluster, group, 10, first));
        stage.pause(6);
        Member second = stage.modern(group, group + "-2", settings, "orders", "payments");
        seen.add(Seen.settled(stage.cluster, group, 10, first, second));
        stage.pause(6);
        Member third = stage.modern(group, group + "-3", settings, "orders", "payments");
        seen.add(Seen.settled(stage.cluster, group, 10, first, second, third));
        stage.pause(6);
        first.close();
        seen.add(Seen.settled(stage.cluster, group, 10, second, third));
        event.with("group", group).with("assignor", assignor).with("observations", seen)
            .end("target epochs in which one, two, three and two members are assigned what was observed");
    }

    /** A member of the new protocol joins a classic group, and is the last of its kind to leave. */
    static void converted(Stage stage) throws Exception {
        String group = "converted";
        Member classic = stage.classic(group, "checkout-classic", UPGRADABLE, Map.of(), "orders");
        Map<String, Object> before = Seen.settled(stage.cluster, group, 6, classic);
        stage.pause(6);
        Story.Event upgrade = stage.story.begin("online-upgrade", "converted_to_consumer");
        Member modern = stage.modern(group, "checkout-modern", Map.of(), "orders");
        Map<String, Object> during = Seen.settled(stage.cluster, group, 6, classic, modern);
        upgrade.with("group", group).with("observations", List.of(before, during))
            .end("the classic group's tombstone, then records of a consumer group that has a classic member");
        stage.pause(7);
        Story.Event downgrade = stage.story.begin("online-downgrade", "converted_to_classic");
        modern.close();
        Map<String, Object> after = Seen.settled(stage.cluster, group, 6, classic);
        downgrade.with("group", group).with("observations", List.of(during, after))
            .end("tombstones of all records of the consumer group, then a classic group of the one remaining member");
    }

    static void regex(Stage stage) throws Exception {
        Story.Event event = stage.story.begin("consumer-group-regex", "regex_subscription");
        Watch watch = new Watch(() -> Seen.consumer(stage.cluster, "modern-regex"));
        RegexGroups.resolved(stage.cluster);
        event.with("group", "modern-regex").with("regular_expressions", List.of("region-.*", ".*south"))
            .with("topics", List.of("region-north", "region-south", "region-west"))
            .with("observations", watch.ended())
            .end("the topics that the expressions match; for the first one again, with the topic created later");
    }

    /** Away and back under another member id, with its partitions kept for it. */
    static void staticMembers(Stage stage) throws Exception {
        Story.Event event = stage.story.begin("consumer-group-static", "consumer_static_members");
        Watch watch = new Watch(() -> Seen.consumer(stage.cluster, "modern-static"));
        ConsumerGroups.staticMembers(stage.cluster);
        event.with("group", "modern-static").with("group_instance_ids", List.of("one", "two"))
            .with("observations", watch.ended())
            .end("instance two at member epoch -2 while away, then back with its partitions under another member id");
    }

    static void share(Stage stage) throws Exception {
        Story.Event event = stage.story.begin("share-group", "share_rebalances");
        Watch watch = new Watch(() -> Seen.share(stage.cluster, "shared"));
        ShareGroups.rebalanced(stage.cluster);
        event.with("group", "shared").with("topics", List.of("orders", "payments"))
            .with("observations", watch.ended())
            .end("share group records of two members, with the partitions whose state was initialized");
    }

    static void streams(Stage stage) throws Exception {
        Story.Event event = stage.story.begin("streams-group", "streams_rebalances");
        Watch watch = new Watch(() -> Seen.streams(stage.cluster, "streams-modern"));
        StreamsGroups.modern(stage.cluster);
        event.with("group", "streams-modern").with("observations", watch.ended())
            .end("streams group records of two processes: a topology of two subtopologies, active and standby tasks");
    }

    static void connect(Stage stage) throws Exception {
        Story.Event event = stage.story.begin("connect-cluster", "connect_rebalances");
        Watch watch = new Watch(() -> Seen.classic(stage.cluster, "connect-cluster"));
        ConnectWorkers.rebalanced(stage.cluster);
        event.with("group", "connect-cluster").with("sink_group", "connect-orders")
            .with("connectors", List.of("lines", "orders")).with("observations", watch.ended())
            .end("a classic group of type connect with one worker, then two; and the commits of the sink's consumers");
    }
}
