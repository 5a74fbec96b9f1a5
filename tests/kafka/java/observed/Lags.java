import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * How far groups are behind, as kafka-consumer-groups tells it, between two snapshots. The tool asks for ends a group at
 * a time: nobody writes meanwhile, so that all its answers and both snapshots are about the same ends. Members go on.
 */
final class Lags {
    private static final long EVERY_MS = 400;

    private final Cluster cluster;
    private final Story diary;
    private final Snapshots snapshots;
    private final Lock writing = new ReentrantLock(true);

    Lags(Cluster cluster, Story diary, Snapshots snapshots) {
        this.cluster = cluster;
        this.diary = diary;
        this.snapshots = snapshots;
    }

    /** Waits until it is in the log. */
    void write(KafkaProducer<String, String> producer, ProducerRecord<String, String> message)
            throws ExecutionException, InterruptedException {
        writing.lock();
        try {
            producer.send(message).get();
        } finally {
            writing.unlock();
        }
    }

    Void watch(BooleanSupplier isOver) throws Exception {
        while (!isOver.getAsBoolean()) {
            writing.lock();
            try {
                snapshots.take();
                diary.write(GroupTool.line("lag", List.of(
                    "--bootstrap-server", cluster.bootstrap, "--describe", "--all-groups", "--offsets")));
                snapshots.take();
            } finally {
                writing.unlock();
            }
            Thread.sleep(EVERY_MS);
        }
        return null;
    }
}
