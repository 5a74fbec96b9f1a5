import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.GroupState;

/** What all plays have: the cluster, the diary, players, and a way to write down what was done on purpose. */
final class Script {
    /** The broker loads their groups later on: they must not expire before it was asked about them. */
    private static final int SESSION_MS = 45_000;
    private static final int CALM_MS = 1_300;

    final Cluster cluster;
    final Story diary;

    Script(Cluster cluster, Story diary) {
        this.cluster = cluster;
        this.diary = diary;
    }

    interface Deed {
        void done() throws Exception;
    }

    static void write(Story diary, Map<String, Object> line) {
        try {
            diary.write(line);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** What was done to the group, in the words of triggers; nothing else happens to it in that time. */
    void act(String group, String trigger, String clientId, Deed deed) throws Exception {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("kind", "act");
        line.put("group", group);
        line.put("trigger", trigger);
        line.put("client_id", clientId);
        line.put("from_ms", System.currentTimeMillis());
        deed.done();
        line.put("to_ms", System.currentTimeMillis());
        write(diary, line);
        Thread.sleep(CALM_MS);
    }

    Player classic(String group, String clientId, List<String> assignors, Map<String, Object> more, String... topics) {
        Map<String, Object> settings = new HashMap<>(Map.of(
            "session.timeout.ms", SESSION_MS,
            "heartbeat.interval.ms", 100,
            "partition.assignment.strategy", assignors));
        settings.putAll(more);
        return player(group, clientId, settings, topics);
    }

    Player modern(String group, String clientId, Map<String, Object> more, String... topics) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.put("group.protocol", "consumer");
        return player(group, clientId, settings, topics);
    }

    Player matching(String group, String clientId, String regex) {
        Map<String, Object> settings = settings(group, clientId, Map.of("group.protocol", "consumer"));
        return new Player(diary, settings,
            (consumer, callbacks) -> consumer.subscribe(new SubscriptionPattern(regex), callbacks));
    }

    private Player player(String group, String clientId, Map<String, Object> more, String... topics) {
        return new Player(diary, settings(group, clientId, more),
            (consumer, callbacks) -> consumer.subscribe(Set.of(topics), callbacks));
    }

    private Map<String, Object> settings(String group, String clientId, Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(Map.of(
            "client.id", clientId,
            "metadata.max.age.ms", 500,
            "enable.auto.commit", true,
            "auto.commit.interval.ms", 900));
        settings.putAll(more);
        return cluster.consumerSettings(group, settings);
    }

    /** These players together own so many partitions, each some, and the broker calls the group stable. */
    void settled(String group, int partitions, Player... players) throws Exception {
        Cluster.until(() -> group + " of " + players.length + " players settled", () ->
            Arrays.stream(players).mapToInt(Player::owned).sum() == partitions
                && Stream.of(players).allMatch(player -> player.owned() > 0)
                && cluster.admin.describeConsumerGroups(List.of(group)).all().get().get(group).groupState()
                    == GroupState.STABLE);
    }
}
