import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.config.ConfigResource;

/** Share groups: every member may be given every partition (4.3.1; from 4.0 on). */
final class ShareGroups {
    static void rebalanced(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        cluster.topic("payments", 3);
        readFromTheStart(cluster, "shared");
        try (ShareMember first = new ShareMember(cluster, "shared", "orders").awaitRecords(1);
                ShareMember second = new ShareMember(cluster, "shared", "orders", "payments").awaitRecords(1)) {
            first.awaitRecords(2);
        }
    }

    static void deleted(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        readFromTheStart(cluster, "shared-deleted");
        new ShareMember(cluster, "shared-deleted", "orders").awaitRecords(1).close();
        Cluster.settled(() -> cluster.admin.deleteShareGroups(Set.of("shared-deleted")).all());
    }

    private static void readFromTheStart(Cluster cluster, String group) throws Exception {
        cluster.configure(ConfigResource.Type.GROUP, group, Map.of("share.auto.offset.reset", "earliest"));
    }

    private static final class ShareMember implements AutoCloseable {
        private final CompletableFuture<Void> ended = new CompletableFuture<>();
        private volatile int records;
        private volatile boolean isLeaving;

        ShareMember(Cluster cluster, String group, String... topics) {
            Map<String, Object> settings = cluster.consumerSettings(group, Map.of("client.rack", "rack-s"));
            settings.keySet().removeAll(List.of("auto.offset.reset", "enable.auto.commit"));
            Thread thread = new Thread(() -> {
                try (KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(settings)) {
                    consumer.subscribe(Set.of(topics));
                    while (!isLeaving) {
                        records += consumer.poll(Duration.ofMillis(20)).count();
                    }
                } catch (RuntimeException failure) {
                    ended.completeExceptionally(failure);
                }
                ended.complete(null);
            });
            thread.setDaemon(true);
            thread.start();
        }

        ShareMember awaitRecords(int number) throws Exception {
            Cluster.until(() -> "a share member has " + number + " records, not " + records, () -> records >= number);
            return this;
        }

        @Override
        public void close() throws Exception {
            isLeaving = true;
            ended.get();
        }
    }
}
