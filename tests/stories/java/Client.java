import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;

/**
 * An application that reads, works and commits: by the client's own timer, by itself after it worked, or in
 * transactions. It can be slow, and it can be stuck at a message of one partition while it goes on with the others.
 */
final class Client {
    private static final Duration POLL = Duration.ofMillis(100);

    private final KafkaConsumer<String, String> consumer;
    private final KafkaProducer<String, String> producer;
    private final String output;
    private final boolean commitsItself;
    private final long commitMs;
    private final Map<TopicPartition, OffsetAndMetadata> worked = new HashMap<>();
    private final Set<TopicPartition> stuck = ConcurrentHashMap.newKeySet();
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final CompletableFuture<Void> hanging = new CompletableFuture<>();
    private volatile Set<TopicPartition> owned = Set.of();
    private volatile boolean isLeaving;
    private volatile boolean isToHang;
    /** Messages a second that it can work off; 0: any number. */
    private volatile double pace;
    private volatile long longestPauseMs;
    private long committedMs = System.currentTimeMillis();
    private long polledMs = System.currentTimeMillis();

    /** `output` is the topic of its transactions; without one it has none. */
    Client(Cluster cluster, String name, Map<String, Object> settings, Set<String> topics, long commitMs,
            String output) {
        this.commitMs = commitMs;
        this.output = output;
        producer = output == null ? null : cluster.producer(Map.of(
            "transactional.id", name, "transaction.timeout.ms", 600_000));
        commitsItself = !Boolean.TRUE.equals(settings.get("enable.auto.commit"));
        consumer = new KafkaConsumer<>(settings);
        Thread thread = new Thread(() -> run(topics), name);
        thread.setDaemon(true);
        thread.start();
    }

    private void run(Set<String> topics) {
        try (consumer) {
            if (producer != null) {
                producer.initTransactions();
            }
            consumer.subscribe(topics, new Callbacks());
            while (!isLeaving) {
                work(consumer.poll(POLL));
                owned = Set.copyOf(consumer.assignment());
                consumer.pause(owned.stream().filter(stuck::contains).toList());
                for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                    task.run();
                }
                long now = System.currentTimeMillis();
                if (now - committedMs >= commitMs) {
                    commit();
                    committedMs = now;
                }
                longestPauseMs = owned.isEmpty() ? longestPauseMs : Math.max(longestPauseMs, now - polledMs);
                polledMs = now;
            }
            commit();
        } catch (Exception failure) {
            failure.printStackTrace();
            ended.completeExceptionally(failure);
        }
        ended.complete(null);
    }

    private void work(ConsumerRecords<String, String> records) throws InterruptedException {
        for (ConsumerRecord<String, String> each : records) {
            worked.put(new TopicPartition(each.topic(), each.partition()), new OffsetAndMetadata(each.offset() + 1));
        }
        if (pace > 0) {
            Thread.sleep((long) (records.count() * 1_000 / pace));
        }
    }

    private void commit() {
        if (!commitsItself || worked.isEmpty()) {
            return;
        }
        if (producer != null) {
            commitInTransaction();
        } else {
            commitNow(Map.copyOf(worked));
        }
    }

    private void commitInTransaction() {
        producer.beginTransaction();
        producer.send(new ProducerRecord<>(output, "worked"));
        producer.sendOffsetsToTransaction(Map.copyOf(worked), consumer.groupMetadata());
        if (isToHang) {
            hanging.complete(null);
            // Whoever is stuck here says nothing more.
            new CompletableFuture<Void>().join();
        }
        producer.commitTransaction();
        worked.clear();
    }

    private void commitNow(Map<TopicPartition, OffsetAndMetadata> offsets) {
        try {
            consumer.commitSync(offsets);
            worked.keySet().removeAll(offsets.keySet());
        } catch (RebalanceInProgressException | CommitFailedException rebalancing) {
            // As applications do: the next commit has them too.
            worked.keySet().retainAll(consumer.assignment());
        }
    }

    Set<TopicPartition> owned() {
        throwFailure();
        return owned;
    }

    void throwFailure() {
        if (ended.isCompletedExceptionally()) {
            ended.join();
        }
    }

    /** The longest time that it did not poll: above what the story gave it, the machine was too busy. */
    long longestPauseMs() {
        throwFailure();
        return longestPauseMs;
    }

    void pace(double messagesPerSecond) {
        pace = messagesPerSecond;
    }

    void stuckAt(TopicPartition at) {
        stuck.add(at);
    }

    /** Goes back in all that it owns, to the beginning or so many messages, and commits that. */
    void goBack(Long messages) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        tasks.add(() -> {
            Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
            for (TopicPartition at : consumer.assignment()) {
                long target = messages == null ? 0 : Math.max(0, consumer.position(at) - messages);
                consumer.seek(at, target);
                offsets.put(at, new OffsetAndMetadata(target));
            }
            worked.clear();
            consumer.commitSync(offsets);
            done.complete(null);
        });
        CompletableFuture.anyOf(done, ended).get();
    }

    /** Its next transaction never ends. */
    void hang() throws Exception {
        isToHang = true;
        CompletableFuture.anyOf(hanging, ended).get();
    }

    void leave() {
        isLeaving = true;
        ended.join();
    }

    private final class Callbacks implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            if (commitsItself && producer == null) {
                commitNow(worked.entrySet().stream().filter(each -> partitions.contains(each.getKey()))
                    .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
            }
            worked.keySet().removeAll(new HashSet<>(partitions));
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            worked.keySet().removeAll(new HashSet<>(partitions));
        }
    }
}
