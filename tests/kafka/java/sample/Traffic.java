import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Goes on writing to the data topics, to some more than to others. */
final class Traffic {
    private static final int EVERY_MS = 200;
    private static final Map<String, Integer> RECORDS_EACH_TIME =
        new TreeMap<>(Map.of("orders", 8, "payments", 4, "clicks", 6, "inventory", 3, "shipments", 3));
    private static final int KEYS = 500;

    private final Stage stage;
    private final Thread thread;

    Traffic(Stage stage) {
        this.stage = stage;
        this.thread = new Thread(this::run);
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        // Always the same keys: which partitions are busy is no accident of a run.
        Random random = new Random(1);
        try (KafkaProducer<String, String> producer =
                stage.cluster.producer(Map.of("client.id", "traffic", "metadata.max.age.ms", 2_000))) {
            for (int tick = 0; !stage.isOver; tick++) {
                for (Map.Entry<String, Integer> each : RECORDS_EACH_TIME.entrySet()) {
                    for (int i = 0; i < each.getValue(); i++) {
                        String key = each.getKey() + random.nextInt(KEYS);
                        producer.send(new ProducerRecord<>(each.getKey(), key, "at " + tick));
                    }
                }
                Thread.sleep(EVERY_MS);
            }
        } catch (InterruptedException failure) {
            throw new IllegalStateException(failure);
        }
    }

    void awaitEnd() throws InterruptedException {
        thread.join();
    }
}
