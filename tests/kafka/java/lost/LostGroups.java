import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.common.GroupState;

/**
 * Groups of every protocol lose all their members at once, by a kill, while messages go on to come:
 * {@code LostGroups BOOTSTRAP FOLDER}. Some stay away, some come back, one is deleted; of those that stay away the broker
 * deletes what offsets it has. It says on its standard output what the log is to be copied for, and goes on with a line
 * on its standard input. With the address alone it is the process that is killed.
 */
final class LostGroups {
    private static final String TOPIC = "orders";
    private static final int PARTITIONS = 3;
    private static final List<String> PROTOCOLS = List.of("classic", "consumer", "share", "streams");
    private static final String DELETED = "deleted-consumer";
    private static final long READING_MS = 3_000;
    private static final long WRITING_MS = 3_000;

    private final Cluster cluster;
    private final Snapshots snapshots;

    private LostGroups(Cluster cluster, Snapshots snapshots) {
        this.cluster = cluster;
        this.snapshots = snapshots;
    }

    public static void main(String[] arguments) {
        int code = 1;
        try (Cluster cluster = new Cluster(arguments[0])) {
            if (arguments.length == 1) {
                doomed().forEach(group -> new Application(cluster, group, TOPIC));
                System.in.read();
                return;
            }
            try (Snapshots snapshots = new Snapshots(cluster, Path.of(arguments[1], "snapshots.jsonl"))) {
                new LostGroups(cluster, snapshots).play();
            }
            code = 0;
        } catch (Exception failure) {
            failure.printStackTrace();
        }
        // Without hooks: nobody says goodbye.
        Runtime.getRuntime().halt(code);
    }

    private static List<String> named(String word) {
        return PROTOCOLS.stream().map(protocol -> word + "-" + protocol).toList();
    }

    private static List<String> doomed() {
        return Stream.of(named("lost"), named("back"), List.of(DELETED)).flatMap(List::stream).toList();
    }

    private void play() throws Exception {
        cluster.topic(TOPIC, PARTITIONS);
        new SteadyTraffic(cluster, Map.of(TOPIC, PARTITIONS));
        new Application(cluster, "steady-classic", TOPIC);
        Application leaving = new Application(cluster, "left-classic", TOPIC);
        Process process = started();
        await(GroupState.STABLE, doomed());
        await(GroupState.STABLE, List.of("steady-classic", "left-classic"));
        for (String group : doomed()) {
            // Share groups keep theirs elsewhere.
            if (!group.endsWith("share")) {
                Cluster.until(group + " committed", () -> !cluster.offsetsOf(group).isEmpty());
            }
        }
        snapshots.take();
        Thread.sleep(READING_MS);
        leaving.leave();
        snapshots.take();

        process.destroyForcibly().waitFor();
        await(GroupState.EMPTY, doomed());
        ask("@lost");
        snapshots.take();
        Thread.sleep(WRITING_MS);
        snapshots.take();
        ask("@down");

        cluster.deleteGroup(DELETED);
        named("back").forEach(group -> new Application(cluster, group, TOPIC));
        await(GroupState.STABLE, named("back"));
        Thread.sleep(READING_MS);
        snapshots.take();
        ask("@back");

        for (String group : named("lost")) {
            if (!group.endsWith("share")) {
                Cluster.until("offsets of " + group + " expired", () -> cluster.offsetsOf(group).isEmpty());
            }
        }
        snapshots.take();
        ask("@expired");
    }

    /** The process that will be killed. */
    private Process started() throws Exception {
        List<String> command = List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
            "-cp", System.getProperty("java.class.path"), "LostGroups", cluster.bootstrap);
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    }

    private void await(GroupState state, List<String> groups) throws Exception {
        Cluster.until(groups + " are " + state, () -> states().entrySet().stream()
            .filter(each -> each.getValue() == state).map(Map.Entry::getKey)
            .collect(Collectors.toSet()).containsAll(groups));
    }

    private Map<String, GroupState> states() throws Exception {
        return cluster.admin.listGroups().valid().get().stream()
            .collect(Collectors.toMap(GroupListing::groupId, each -> each.groupState().orElse(GroupState.UNKNOWN)));
    }

    /** With the time, by the clock that the broker has too. */
    private static void ask(String what) throws Exception {
        System.out.println(what + " " + System.currentTimeMillis());
        System.in.read();
    }
}
