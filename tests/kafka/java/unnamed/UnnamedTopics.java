import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.TopicPartition;

/**
 * Groups whose targets name topics by id alone: {@code UnnamedTopics BOOTSTRAP FOLDER}. One has topics of different
 * sizes and one has two of the same size; of a share group one topic grows and another one is created.
 */
final class UnnamedTopics {
    private static final String SHARE_GROUP = "sharing";

    private final Cluster cluster;

    private UnnamedTopics(Cluster cluster) {
        this.cluster = cluster;
    }

    public static void main(String[] arguments) {
        int code = 1;
        try (Cluster cluster = new Cluster(arguments[0]);
                Snapshots snapshots = new Snapshots(cluster, Path.of(arguments[1], "snapshots.jsonl"))) {
            new UnnamedTopics(cluster).play(snapshots);
            code = 0;
        } catch (Exception failure) {
            failure.printStackTrace();
        }
        // Without hooks: members stay members.
        Runtime.getRuntime().halt(code);
    }

    private void play(Snapshots snapshots) throws Exception {
        cluster.topic("growing", 2);
        share("growing", "later");
        cluster.topic("narrow", 3);
        cluster.topic("wide", 6);
        cluster.topic("left", 2);
        cluster.topic("right", 2);
        Member unequal = Member.modern(cluster, "unequal", Map.of(), "wide", "narrow").awaitPartitions(9);
        Member equal = Member.modern(cluster, "equal", Map.of(), "left", "right").awaitPartitions(4);
        snapshots.take();
        unequal.commit();
        equal.commit();
        Cluster.until("all is committed", () -> cluster.offsetsOf("unequal").size() == 9
            && cluster.offsetsOf("equal").size() == 4);
        snapshots.take();
        awaitShared(Map.of("growing", 2));
        Cluster.settled(() -> cluster.admin.createPartitions(Map.of("growing", NewPartitions.increaseTo(5))).all());
        awaitShared(Map.of("growing", 5));
        cluster.topic("later", 3);
        awaitShared(Map.of("growing", 5, "later", 3));
    }

    private void share(String... topics) {
        Map<String, Object> settings = cluster.consumerSettings(SHARE_GROUP, Map.of());
        settings.keySet().removeAll(List.of("auto.offset.reset", "enable.auto.commit"));
        Thread thread = new Thread(() -> {
            try (KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(settings)) {
                consumer.subscribe(Set.of(topics));
                while (true) {
                    consumer.poll(Duration.ofMillis(20));
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void awaitShared(Map<String, Integer> topics) throws Exception {
        Set<String> wanted = new TreeSet<>();
        topics.forEach((topic, number) -> {
            for (int partition = 0; partition < number; partition++) {
                wanted.add(new TopicPartition(topic, partition).toString());
            }
        });
        Cluster.until("the share group has " + wanted, () -> shared().equals(wanted));
    }

    private Set<String> shared() throws Exception {
        return cluster.admin.describeShareGroups(List.of(SHARE_GROUP)).all().get().get(SHARE_GROUP).members().stream()
            .flatMap(member -> member.assignment().topicPartitions().stream()).map(TopicPartition::toString)
            .collect(Collectors.toCollection(TreeSet::new));
    }
}
