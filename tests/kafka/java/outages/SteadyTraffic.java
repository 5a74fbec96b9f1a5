import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** One record to each partition of each busy topic, over and over, so that a gap in reading shows. */
final class SteadyTraffic {
    private static final long EVERY_MS = 50;

    private final Map<String, Integer> partitions;
    private final KafkaProducer<String, String> producer;
    private final Thread thread = new Thread(this::run, "traffic");
    private volatile boolean isOver;

    SteadyTraffic(Cluster cluster, Map<String, Integer> partitions) {
        this.partitions = partitions;
        producer = cluster.producer(Map.of("client.id", "traffic", "metadata.max.age.ms", 1_000));
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try (producer) {
            for (int tick = 0; !isOver; tick++) {
                for (Map.Entry<String, Integer> topic : partitions.entrySet()) {
                    for (int partition = 0; partition < topic.getValue(); partition++) {
                        producer.send(new ProducerRecord<>(topic.getKey(), partition, null, "at " + tick));
                    }
                }
                Thread.sleep(EVERY_MS);
            }
        } catch (InterruptedException failure) {
            throw new IllegalStateException(failure);
        }
    }

    void end() throws InterruptedException {
        isOver = true;
        thread.join();
    }
}
