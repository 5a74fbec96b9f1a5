import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** A consumer that writes down what its callbacks see, and that is slow when asked to be: then a rebalance lasts. */
final class Player implements AutoCloseable {
    private final Story diary;
    private final String group;
    private final String clientId;
    private final KafkaConsumer<String, String> consumer;
    private final BlockingQueue<Consumer<KafkaConsumer<String, String>>> tasks = new LinkedBlockingQueue<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile Set<TopicPartition> owned = Set.of();
    private volatile boolean isLeaving;
    volatile long pollMs;
    volatile long revokeMs;

    Player(Story diary, Map<String, Object> settings,
            BiConsumer<KafkaConsumer<String, String>, ConsumerRebalanceListener> subscribe) {
        this.diary = diary;
        group = settings.get("group.id").toString();
        clientId = settings.get("client.id").toString();
        consumer = new KafkaConsumer<>(settings);
        Thread thread = new Thread(() -> run(subscribe));
        thread.setDaemon(true);
        thread.start();
    }

    private void run(BiConsumer<KafkaConsumer<String, String>, ConsumerRebalanceListener> subscribe) {
        try (consumer) {
            subscribe.accept(consumer, new Callbacks());
            while (!isLeaving) {
                consumer.poll(Duration.ofMillis(20));
                owned = Set.copyOf(consumer.assignment());
                Pause.of(pollMs);
                for (var task = tasks.poll(); task != null; task = tasks.poll()) {
                    task.accept(consumer);
                }
            }
        } catch (RuntimeException failure) {
            failure.printStackTrace();
            ended.completeExceptionally(failure);
        }
        ended.complete(null);
    }

    int owned() {
        if (ended.isCompletedExceptionally()) {
            ended.join();
        }
        return owned.size();
    }

    void later(Consumer<KafkaConsumer<String, String>> task) {
        tasks.add(task);
    }

    @Override
    public void close() {
        isLeaving = true;
        ended.join();
    }

    private final class Callbacks implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            tell("assigned", partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            tell("revoked", partitions);
            Pause.of(revokeMs);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            tell("lost", partitions);
        }

        private void tell(String callback, Collection<TopicPartition> partitions) {
            ConsumerGroupMetadata metadata = consumer.groupMetadata();
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("kind", "callback");
            line.put("at_ms", System.currentTimeMillis());
            line.put("group", group);
            line.put("client_id", clientId);
            line.put("callback", callback);
            line.put("member_id", metadata.memberId());
            line.put("generation", metadata.generationId());
            line.put("partitions", Seen.byTopic(partitions));
            line.put("owned", Seen.byTopic(consumer.assignment()));
            Script.write(diary, line);
        }
    }
}
