import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;

/**
 * Transactions of several producers, plain commits and deletions of the same few offsets, in an order by chance:
 * {@code Interleaved BOOTSTRAP FILE SEED STEPS [TOPIC]}. Into the file go the offsets that the broker shows in the end.
 * With a topic, each group commits an offset of it first: a coordinator that took over shows itself by a record.
 */
final class Interleaved {
    private static final int GROUPS = 6;
    private static final int PARTITIONS = 3;
    private static final int PRODUCERS = 4;
    /** So few that two commits may be of the same one. */
    private static final int OFFSETS = 4;

    private final Cluster cluster;
    private final Random random;
    private final List<KafkaProducer<String, String>> producers = new ArrayList<>();
    private final TreeSet<Integer> open = new TreeSet<>();

    private Interleaved(Cluster cluster, long seed) {
        this.cluster = cluster;
        random = new Random(seed);
    }

    public static void main(String[] arguments) {
        int code = 1;
        try (Cluster cluster = new Cluster(arguments[0]); Story story = new Story(Path.of(arguments[1]))) {
            Interleaved played = new Interleaved(cluster, Long.parseLong(arguments[2]));
            if (arguments.length > 4) {
                played.touch(arguments[4]);
            }
            played.play(Integer.parseInt(arguments[3]));
            played.write(story);
            code = 0;
        } catch (Exception failure) {
            failure.printStackTrace();
        }
        Runtime.getRuntime().halt(code);
    }

    private void touch(String topic) throws Exception {
        cluster.topic(topic, 1);
        for (int i = 0; i < GROUPS; i++) {
            cluster.commitAsAdmin("interleaved-" + i, Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(0)));
        }
    }

    private void play(int steps) throws Exception {
        cluster.topic("orders", PARTITIONS);
        for (int i = 0; i < PRODUCERS; i++) {
            producers.add(cluster.producer(Map.of("transactional.id", "interleaved-" + i)));
            producers.get(i).initTransactions();
        }
        for (int i = 0; i < steps; i++) {
            step();
        }
        while (!open.isEmpty()) {
            end(List.copyOf(open).get(random.nextInt(open.size())), true);
        }
    }

    private void step() throws Exception {
        int producer = random.nextInt(PRODUCERS);
        switch (random.nextInt(8)) {
            case 0, 1, 2, 3 -> send(producer);
            case 4, 5 -> end(producer, random.nextInt(5) > 0);
            case 6 -> cluster.commitAsAdmin(group(), Map.of(partition(), offset()));
            default -> delete();
        }
    }

    private void send(int producer) {
        if (open.add(producer)) {
            producers.get(producer).beginTransaction();
        }
        producers.get(producer).sendOffsetsToTransaction(
            Map.of(partition(), offset()), new ConsumerGroupMetadata(group()));
    }

    private void end(int producer, boolean isCommitted) {
        if (open.remove(producer)) {
            if (isCommitted) {
                producers.get(producer).commitTransaction();
            } else {
                producers.get(producer).abortTransaction();
            }
        }
    }

    /** Only what is there: 3.7 answers nothing about what is not. */
    private void delete() throws Exception {
        String group = group();
        TopicPartition partition = partition();
        if (cluster.offsetsOf(group).get(partition) != null) {
            cluster.deleteOffsets(group, partition);
        }
    }

    private String group() {
        return "interleaved-" + random.nextInt(GROUPS);
    }

    private TopicPartition partition() {
        return new TopicPartition("orders", random.nextInt(PARTITIONS));
    }

    private OffsetAndMetadata offset() {
        return new OffsetAndMetadata(random.nextInt(OFFSETS));
    }

    /** Once every marker is written. */
    private void write(Story story) throws Exception {
        for (int i = 0; i < PRODUCERS; i++) {
            String id = "interleaved-" + i;
            Cluster.until(id + " has no transaction under way", () -> {
                String state = cluster.admin.describeTransactions(List.of(id)).description(id).get().state().toString();
                return List.of("Empty", "CompleteCommit", "CompleteAbort").contains(state);
            });
        }
        for (int i = 0; i < GROUPS; i++) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("group", "interleaved-" + i);
            Map<String, Long> offsets = new LinkedHashMap<>();
            cluster.offsetsOf("interleaved-" + i).forEach((at, committed) -> {
                if (committed != null) {
                    offsets.put(at.toString(), committed.offset());
                }
            });
            line.put("offsets", offsets);
            story.write(line);
        }
    }
}
