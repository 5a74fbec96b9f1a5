import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.clients.consumer.internals.SubscriptionState;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.LogContext;

/** Scenarios that fail, each leaving a file behind. */
final class Faults {
    /** The first time only, by what a consumer throws whose partition was taken away meanwhile. */
    static void once(Cluster cluster, String marker) throws Exception {
        if (isFirst(marker)) {
            cluster.topic("orders", 1);
            thrownElsewhere();
        }
    }

    static void always(Cluster cluster, String marker) throws Exception {
        isFirst(marker);
        thrownElsewhere();
    }

    /** The same words, but it is the scenario that says them. */
    static void ours(Cluster cluster, String marker) throws Exception {
        isFirst(marker);
        throw new IllegalStateException("No current assignment for partition orders-0");
    }

    /** In a thread of its own, as a member's. */
    private static void thrownElsewhere() throws Exception {
        SubscriptionState state = new SubscriptionState(new LogContext(), OffsetResetStrategy.NONE);
        CompletableFuture.runAsync(() -> state.position(new TopicPartition("orders", 0))).get();
    }

    private static boolean isFirst(String marker) throws Exception {
        Path path = Path.of(marker);
        boolean isFirst = !Files.exists(path);
        Files.writeString(path, isFirst ? "1" : Files.readString(path) + "1");
        return isFirst;
    }
}
