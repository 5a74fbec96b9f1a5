import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.GroupType;

/**
 * Plays and looks at the groups all the while: {@code Observations BOOTSTRAP FILE SNAPSHOTS play,play… play,play… …}.
 * Plays of one word run at the same time. It ends without a goodbye: who is a member then is one in the log.
 */
final class Observations {
    private static final long LOOK_EVERY_MS = 200;

    private final Cluster cluster;
    private final Script script;
    private final Lags lags;
    private final ExecutorService pool = Executors.newCachedThreadPool();
    private volatile boolean isOver;

    private Observations(Cluster cluster, Story diary, Snapshots snapshots) {
        this.cluster = cluster;
        script = new Script(cluster, diary);
        lags = new Lags(cluster, diary, snapshots);
    }

    public static void main(String[] arguments) {
        int code = 1;
        try (Cluster cluster = new Cluster(arguments[0]);
                Story diary = new Story(Path.of(arguments[1]));
                Snapshots snapshots = new Snapshots(cluster, Path.of(arguments[2]))) {
            new Observations(cluster, diary, snapshots).play(List.of(arguments).subList(3, arguments.length));
            code = 0;
        } catch (Exception failure) {
            failure.printStackTrace();
        }
        Runtime.getRuntime().halt(code);
    }

    private void play(List<String> phases) throws Exception {
        Map.of("orders", 6, "payments", 3, "clicks", 2, "region-north", 2, "region-south", 2).forEach((topic, number) -> {
            try {
                cluster.topic(topic, number);
            } catch (Exception failure) {
                throw new IllegalStateException(failure);
            }
        });
        Cluster.until("the offsets topic is there", () -> cluster.offsetsOf("nobody").isEmpty());
        List<Future<?>> background = List.of(
            pool.submit(this::traffic), pool.submit(this::looks), pool.submit(() -> lags.watch(() -> isOver)));
        for (String phase : phases) {
            List<Future<?>> plays = new ArrayList<>();
            for (String play : phase.split(",")) {
                plays.add(pool.submit(() -> Plays.class.getDeclaredMethod(play, Script.class).invoke(null, script)));
            }
            for (Future<?> play : plays) {
                play.get();
            }
            tool();
        }
        isOver = true;
        for (Future<?> each : background) {
            each.get();
        }
        topics();
    }

    private void topics() throws Exception {
        var names = cluster.admin.listTopics(new ListTopicsOptions().listInternal(true)).names().get();
        for (TopicDescription topic : cluster.admin.describeTopics(names).allTopicNames().get().values()) {
            script.diary.write(Map.of("kind", "topic", "topic", topic.name(), "topic_id", topic.topicId().toString(),
                "num_partitions", topic.partitions().size()));
        }
    }

    /** So that committed offsets move. */
    private Void traffic() throws Exception {
        try (KafkaProducer<String, String> producer = cluster.producer(Map.of())) {
            for (int i = 0; !isOver; i++) {
                lags.write(producer, new ProducerRecord<>("orders", i % 6, null, "v" + i));
                lags.write(producer, new ProducerRecord<>("payments", i % 3, null, "v" + i));
                Thread.sleep(30);
            }
        }
        return null;
    }

    /** Somebody looks at each group, all at the same time. */
    private Void looks() throws Exception {
        Look look = new Look(cluster);
        Set<String> watched = new HashSet<>();
        List<Future<?>> watches = new ArrayList<>();
        while (!isOver) {
            look.groups().forEach((group, type) -> {
                if (watched.add(group)) {
                    watches.add(pool.submit(() -> watch(look, group, type)));
                }
            });
            Thread.sleep(LOOK_EVERY_MS);
        }
        for (Future<?> watch : watches) {
            watch.get();
        }
        return null;
    }

    /** Until the end, or until it is gone: a look more says so. */
    private Void watch(Look look, String group, GroupType type) throws Exception {
        for (int gone = 0; !isOver && gone < 2; Thread.sleep(LOOK_EVERY_MS)) {
            Map<String, Object> seen = look.at(group, type);
            gone += seen.get("state") == null ? 1 : 0;
            script.diary.write(seen);
        }
        return null;
    }

    /** As kafka-consumer-groups prints it. */
    private void tool() throws Exception {
        for (String what : List.of("--offsets", "--members", "--state")) {
            List<String> words = new ArrayList<>(
                List.of("--bootstrap-server", cluster.bootstrap, "--describe", "--all-groups", what));
            if (!what.equals("--offsets")) {
                words.add("--verbose");
            }
            script.diary.write(GroupTool.line("tool", words));
        }
    }
}
