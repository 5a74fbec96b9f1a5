import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.config.ConfigResource;

/**
 * Groups that do as they should, of every kind: {@code Calm BOOTSTRAP SNAPSHOTS protocol,protocol…}. All of them start
 * before the first snapshot that counts, and go on past the last one: nobody says goodbye.
 */
final class Calm {
    private static final int NUM_SNAPSHOTS = 20;
    private static final long BETWEEN_MS = 2_000;
    private static final Map<String, Integer> BUSY = Map.of("orders", 6, "payments", 3);

    private Calm() {
    }

    public static void main(String[] arguments) {
        int code = 1;
        try (Cluster cluster = new Cluster(arguments[0]);
                Snapshots snapshots = new Snapshots(cluster, Path.of(arguments[1]))) {
            play(cluster, snapshots, Set.of(arguments[2].split(",")));
            code = 0;
        } catch (Exception failure) {
            failure.printStackTrace();
        }
        Runtime.getRuntime().halt(code);
    }

    private static void play(Cluster cluster, Snapshots snapshots, Set<String> protocols) throws Exception {
        cluster.topic("orders", BUSY.get("orders"));
        cluster.topic("payments", BUSY.get("payments"));
        cluster.topic("copies", 2);
        cluster.topic("rare", 1);
        new SteadyTraffic(cluster, BUSY);
        snapshots.take();
        List<Reading> readings = readings(cluster, protocols);
        for (int i = 0; i < NUM_SNAPSHOTS; i++) {
            Thread.sleep(BETWEEN_MS);
            if (i % 5 == 0) {
                Reading.send(cluster, "rare");
            }
            snapshots.take();
        }
        for (Reading reading : readings) {
            reading.assertWell();
        }
    }

    private static List<Reading> readings(Cluster cluster, Set<String> protocols) throws Exception {
        List<Reading> readings = new ArrayList<>(List.of(
            Reading.classic(cluster, "calm-eager", "RangeAssignor", 6, "orders"),
            Reading.classic(cluster, "calm-cooperative", "CooperativeStickyAssignor", 9, "orders", "payments"),
            Reading.seldom(cluster, "calm-seldom", "payments"),
            Reading.idle(cluster, "calm-idle", "rare"),
            Reading.manual(cluster, "calm-manual", "payments"),
            Reading.transactional(cluster, "calm-transactional", "orders", "copies"),
            Reading.streams(cluster, "calm-streams-classic", "classic", "exactly_once_v2")));
        if (protocols.contains("consumer")) {
            readings.add(Reading.modern(cluster, "calm-consumer", 6, "orders"));
        }
        if (protocols.contains("share")) {
            Map<String, String> fromTheStart = Map.of("share.auto.offset.reset", "earliest");
            cluster.configure(ConfigResource.Type.GROUP, "calm-share", fromTheStart);
            readings.add(Reading.share(cluster, "calm-share", "payments"));
        }
        if (protocols.contains("streams")) {
            readings.add(Reading.streams(cluster, "calm-streams", "streams", "at_least_once"));
        }
        return readings;
    }
}
