import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Writes to each partition as many messages a second as it was told last. */
final class Rates {
    private static final long EVERY_MS = 100;

    private final Map<String, double[]> rates = new ConcurrentHashMap<>();
    private final KafkaProducer<String, String> producer;

    Rates(Cluster cluster) {
        producer = cluster.producer(Map.of("client.id", "traffic", "metadata.max.age.ms", 1_000));
        Thread thread = new Thread(this::run, "traffic");
        thread.setDaemon(true);
        thread.start();
    }

    /** None: nothing is written any more. */
    void set(String topic, double[] perPartition) {
        rates.put(topic, perPartition);
        if (perPartition.length == 0) {
            producer.flush();
        }
    }

    private void run() {
        long begun = System.nanoTime();
        double before = 0;
        try {
            while (true) {
                Thread.sleep(EVERY_MS);
                double now = (System.nanoTime() - begun) / 1e9;
                for (Map.Entry<String, double[]> topic : rates.entrySet()) {
                    for (int partition = 0; partition < topic.getValue().length; partition++) {
                        double rate = topic.getValue()[partition];
                        for (long due = (long) (now * rate) - (long) (before * rate); due > 0; due--) {
                            producer.send(new ProducerRecord<>(topic.getKey(), partition, null, "at " + now));
                        }
                    }
                }
                before = now;
            }
        } catch (Exception failure) {
            // Without traffic no story holds.
            failure.printStackTrace();
            Runtime.getRuntime().halt(3);
        }
    }
}
