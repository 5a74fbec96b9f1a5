import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/**
 * Plays the sample's story on a fresh broker: {@code SampleStory BOOTSTRAP FOLDER}. Into the folder go what happened
 * (story.jsonl), snapshots.jsonl, and what the broker says at the end (answers.json). It asks on its standard output to
 * have the broker restarted, goes on with a line on its standard input, and ends when that is closed: members that are
 * there at the end must not leave before the broker stops.
 */
final class SampleStory {
    private static final String OFFSETS_TOPIC = "__consumer_offsets";
    private static final int SNAPSHOT_EVERY_SECONDS = 10;
    private static final int CALM_SECONDS = 4;
    private static final String SEGMENT_MS = "40000";

    private final Cluster cluster;
    private final Stage stage;
    private final Snapshots snapshots;
    private final ExecutorService pool = Executors.newCachedThreadPool();

    private interface Act {
        void play(Stage stage) throws Exception;
    }

    private SampleStory(Cluster cluster, Story story, Snapshots snapshots) {
        this.cluster = cluster;
        this.stage = new Stage(cluster, story);
        this.snapshots = snapshots;
    }

    public static void main(String[] arguments) {
        Path folder = Path.of(arguments[1]);
        int code = 1;
        try (Cluster cluster = new Cluster(arguments[0]);
                Story story = new Story(folder.resolve("story.jsonl"));
                Snapshots snapshots = new Snapshots(cluster, folder.resolve("snapshots.jsonl"))) {
            new SampleStory(cluster, story, snapshots).play(folder.resolve("answers.json").toString());
            code = 0;
        } catch (Exception failure) {
            failure.printStackTrace();
        }
        // Without hooks: nobody says goodbye.
        Runtime.getRuntime().halt(code);
    }

    private void play(String answers) throws Exception {
        prepare();
        Traffic traffic = new Traffic(stage);
        List<Future<?>> background = List.of(started(OffsetActs::standingStill), started(OffsetActs::standalone));
        phase("classic groups",
            stage -> ClassicActs.assignor(stage, "range"),
            stage -> ClassicActs.assignor(stage, "roundrobin"),
            stage -> ClassicActs.assignor(stage, "sticky"),
            stage -> ClassicActs.assignor(stage, "cooperative-sticky"),
            ClassicActs::staticMembers,
            ClassicActs::killed);
        phase("upgrade and storm",
            ClassicActs::rollingUpgrade, ClassicActs::storm, ModernActs::uniform, ModernActs::range);
        restart();
        phase("newer protocols",
            ModernActs::converted, ModernActs::regex, TransactionActs::committedAndAborted, OffsetActs::expired,
            // One after the other: what starts many threads would starve the rest.
            stage -> inTurn(ModernActs::staticMembers, ModernActs::share, ModernActs::streams, ModernActs::connect));
        phase("administration",
            OffsetActs::resetToEarliest, OffsetActs::resetByShift, OffsetActs::offsetsDeleted,
            OffsetActs::groupDeleted, OffsetActs::annotated, TopicActs::partitionsAdded, TopicActs::topicDeleted,
            TopicActs::topicRecreated, TransactionActs::leftOpen);
        stage.isOver = true;
        traffic.awaitEnd();
        await(background);
        // Until everything read is committed: what comes then repeats it.
        stage.pause(5);
        snapshots.take();
        Story.Event end = stage.story.begin("end-state", "end_state");
        Answers.write(cluster, answers);
        end.end("the replay of the log gives the broker's own answer about topics, groups and offsets");
        say("over");
    }

    private void prepare() throws Exception {
        Map.of("orders", 6, "payments", 4, "clicks", 3, "inventory", 4, "shipments", 4, "enriched", 2,
                "legacy-orders", 3, "staging", 2)
            .forEach((topic, partitions) -> {
                try {
                    cluster.topic(topic, partitions);
                } catch (Exception failure) {
                    throw new IllegalStateException(failure);
                }
            });
        // A log that does not start at 0.
        Cluster.settled(() -> cluster.admin.deleteRecords(
            Map.of(new TopicPartition("inventory", 0), RecordsToDelete.beforeOffset(2))).all());
        // Makes the broker create the offsets topic, and writes nothing there.
        Cluster.until("the offsets topic is there", () -> cluster.offsetsOf("nobody").isEmpty());
        cluster.configure(ConfigResource.Type.TOPIC, OFFSETS_TOPIC, Map.of("segment.ms", SEGMENT_MS));
        snapshots.take();
    }

    /** Its acts at the same time, with a snapshot before, now and then, and after. */
    private void phase(String name, Act... acts) throws Exception {
        Story.Event event = stage.story.begin("phase: " + name, "phase");
        snapshots.take();
        List<Future<?>> started = new ArrayList<>();
        for (Act act : acts) {
            started.add(started(act));
        }
        await(started);
        stage.pause(CALM_SECONDS);
        snapshots.take();
        event.end("a snapshot at its beginning and one at its end");
    }

    private void inTurn(Act... acts) throws Exception {
        for (Act act : acts) {
            act.play(stage);
            stage.pause(2);
        }
    }

    private Future<?> started(Act act) {
        return pool.submit(() -> {
            act.play(stage);
            return null;
        });
    }

    private void await(List<Future<?>> acts) throws Exception {
        long next = System.nanoTime() + TimeUnit.SECONDS.toNanos(SNAPSHOT_EVERY_SECONDS);
        for (Future<?> act : acts) {
            while (!isDone(act)) {
                if (System.nanoTime() > next) {
                    snapshots.take();
                    next = System.nanoTime() + TimeUnit.SECONDS.toNanos(SNAPSHOT_EVERY_SECONDS);
                }
            }
        }
    }

    private static boolean isDone(Future<?> act) throws InterruptedException, ExecutionException {
        try {
            act.get(200, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException goesOn) {
            return false;
        }
    }

    private void restart() throws Exception {
        Story.Event event = stage.story.begin("broker-restart", "broker_restart");
        snapshots.take();
        event.with("leader_epochs_before", Seen.leaderEpochs(cluster, OFFSETS_TOPIC));
        say("restart");
        event.with("leader_epochs_after", Seen.leaderEpochs(cluster, OFFSETS_TOPIC));
        snapshots.take();
        event.end("from then on records of a higher leader epoch, in which the groups' generations continue");
    }

    /** Returns when whoever started this has done it. */
    private static void say(String what) throws Exception {
        System.out.println("@" + what);
        System.in.read();
    }
}
