import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CloseOptions.GroupMembershipOperation;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;

/** Groups whose members assign partitions themselves: what rebalances them, and what does not. */
final class ClassicActs {
    private static final String[] RANGE = {"range"};
    private static final int SHORT_SESSION_MS = 8_000;
    private static final int FLAPS = 8;

    /** One comes, one more, the first goes: the last two stay until the end. */
    static void assignor(Stage stage, String assignor) throws Exception {
        String group = "classic-" + assignor;
        String[] only = {assignor};
        Story.Event event = stage.story.begin("assignor-" + assignor, "classic_rebalances");
        List<Object> seen = new ArrayList<>();
        Member first = stage.classic(group, assignor + "-1", only, Map.of(), "orders", "payments");
        seen.add(Seen.settled(stage.cluster, group, 10, first));
        stage.pause(7);
        Map<String, Object> rack = Map.of("client.rack", "rack-b");
        Member second = stage.classic(group, assignor + "-2", only, rack, "orders");
        seen.add(Seen.settled(stage.cluster, group, 10, first, second));
        stage.pause(7);
        Member third = stage.classic(group, assignor + "-3", only, Map.of(), "orders", "payments");
        seen.add(Seen.settled(stage.cluster, group, 10, first, second, third));
        stage.pause(7);
        first.close();
        seen.add(Seen.settled(stage.cluster, group, 10, second, third));
        event.with("group", group).with("assignor", assignor).with("observations", seen)
            .end("generations of this assignor in which one, two, three and two members own what was observed");
    }

    static void staticMembers(Stage stage) throws Exception {
        Map<String, Object> shortly = Map.of("session.timeout.ms", SHORT_SESSION_MS);
        Member stays = instance(stage, "picker-1", Map.of());
        Member bounced = instance(stage, "picker-2", Map.of());
        Member gone = instance(stage, "picker-3", shortly);
        Map<String, Object> before = Seen.settled(stage.cluster, "classic-static", 4, stays, bounced, gone);
        stage.pause(5);
        Story.Event bounce = stage.story.begin("static-bounce", "static_bounce");
        String oldId = id(bounced);
        bounced.close();
        stage.pause(3);
        Member again = instance(stage, "picker-2", Map.of());
        Map<String, Object> after = Seen.settled(stage.cluster, "classic-static", 4, stays, again, gone);
        bounce.with("group", "classic-static").with("group_instance_id", "picker-2")
            .with("member_id_before", oldId).with("member_id_after", id(again))
            .with("observations", List.of(before, after))
            .end("one more record of the same generation, in which only the member id of the instance differs");
        stage.pause(4);
        Story.Event expiry = stage.story.begin("static-never-returns", "static_expired");
        String goneId = id(gone);
        gone.close();
        Map<String, Object> without = Seen.settled(stage.cluster, "classic-static", 4, stays, again);
        expiry.with("group", "classic-static").with("group_instance_id", "picker-3").with("member_id", goneId)
            .with("session_timeout_ms", SHORT_SESSION_MS).with("observations", List.of(after, without))
            .end("a generation without the instance, a session timeout or more after it left");
    }

    private static Member instance(Stage stage, String instance, Map<String, Object> more) {
        Map<String, Object> settings = new LinkedHashMap<>(more);
        settings.put("group.instance.id", instance);
        return stage.classic("classic-static", instance, RANGE, settings, "inventory");
    }

    /** As by kill -9: the broker only hears nothing more, and what was read since the last commit is read again. */
    static void killed(Stage stage) throws Exception {
        Map<String, Object> settings =
            Map.of("session.timeout.ms", SHORT_SESSION_MS, "enable.auto.commit", false);
        Member survivor = stage.classic("classic-killed", "pricing-1", RANGE, Map.of(), "clicks");
        Member victim = stage.classic("classic-killed", "pricing-2", RANGE, settings, "clicks");
        Map<String, Object> before = Seen.settled(stage.cluster, "classic-killed", 3, survivor, victim);
        stage.pause(4);
        victim.commit();
        stage.pause(4);
        Story.Event event = stage.story.begin("member-killed", "session_timeout");
        String victimId = id(victim);
        victim.onItsThread(consumer -> consumer.close(
            CloseOptions.groupMembershipOperation(GroupMembershipOperation.REMAIN_IN_GROUP)));
        Map<String, Object> after = Seen.settled(stage.cluster, "classic-killed", 3, survivor);
        event.with("group", "classic-killed").with("member_id", victimId).with("client_id", "pricing-2")
            .with("session_timeout_ms", SHORT_SESSION_MS).with("observations", List.of(before, after))
            .end("the next generation does not have the member, and begins a session timeout or more after the kill");
    }

    /** From eager to cooperative by two rounds of restarts, as the upgrade guide has it. */
    static void rollingUpgrade(Stage stage) throws Exception {
        String group = "classic-upgraded";
        List<Member> members = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            members.add(stage.classic(group, "api-" + (i + 1), RANGE, Map.of(), "orders"));
        }
        Map<String, Object> before = Seen.settled(stage.cluster, group, 6, members.toArray(Member[]::new));
        stage.pause(3);
        Story.Event event = stage.story.begin("rolling-upgrade", "assignor_upgrade");
        List<Object> rounds = new ArrayList<>();
        for (String[] assignors : new String[][] {{"range", "cooperative-sticky"}, {"cooperative-sticky"}}) {
            rounds.add(round(stage, group, members, assignors));
            stage.pause(3);
        }
        event.with("group", group).with("assignors", List.of("range", "cooperative-sticky")).with("before", before)
            .with("rounds", rounds)
            .end("range while all members offer both, then cooperative-sticky from the first restart of round two on");
    }

    private static Map<String, Object> round(Stage stage, String group, List<Member> members, String[] assignors)
            throws Exception {
        Map<String, Object> round = new LinkedHashMap<>();
        round.put("offered", List.of(assignors));
        round.put("from_time", Story.now());
        List<Object> seen = new ArrayList<>();
        for (int i = 0; i < members.size(); i++) {
            members.get(i).close();
            stage.pause(1);
            members.set(i, stage.classic(group, "api-" + (i + 1), assignors, Map.of(), "orders"));
            seen.add(Seen.settled(stage.cluster, group, 6, members.toArray(Member[]::new)));
            stage.pause(1.5);
        }
        round.put("to_time", Story.now());
        round.put("observations", seen);
        return round;
    }

    static void storm(Stage stage) throws Exception {
        String group = "classic-storm";
        Member steady = stage.classic(group, "notifier-steady", RANGE, Map.of(), "orders");
        Map<String, Object> before = Seen.settled(stage.cluster, group, 6, steady);
        stage.pause(4);
        Story.Event event = stage.story.begin("rebalance-storm", "rebalance_storm");
        List<Object> flaps = new ArrayList<>();
        for (int i = 0; i < FLAPS; i++) {
            Map<String, Object> flap = new LinkedHashMap<>();
            flap.put("from_time", Story.now());
            Member flapping = stage.classic(group, "notifier-flapping", RANGE, Map.of(), "orders");
            flapping.awaitPartitions(3);
            ConsumerGroupMetadata metadata = metadata(flapping);
            stage.pause(0.5);
            flapping.close();
            flap.put("to_time", Story.now());
            flap.put("member_id", metadata.memberId());
            flap.put("generation", metadata.generationId());
            flaps.add(flap);
            stage.pause(0.5);
        }
        Map<String, Object> after = Seen.settled(stage.cluster, group, 6, steady);
        event.with("group", group).with("client_id", "notifier-flapping").with("flaps", flaps)
            .with("observations", List.of(before, after))
            .end("two generations each time the member joins and leaves, each time with another member id");
    }

    private static String id(Member member) throws Exception {
        return metadata(member).memberId();
    }

    private static ConsumerGroupMetadata metadata(Member member) throws Exception {
        ConsumerGroupMetadata[] metadata = new ConsumerGroupMetadata[1];
        member.onItsThread(consumer -> metadata[0] = consumer.groupMetadata());
        return metadata[0];
    }
}
