import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.TopicPartition;

/** A member that reads without a pause, commits often, and writes down what it reads and what its callbacks see. */
final class Reader {
    static final int SESSION_MS = 6_000;
    /** Of classic members: a third of the session timeout, as Kafka advises. */
    static final int HEARTBEAT_MS = SESSION_MS / 3;
    /** Whoever is not meant to time out does not, on a busy machine either. */
    static final int CALM_SESSION_MS = 45_000;
    private static final int CALM_HEARTBEAT_MS = 500;
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long POLLED_EVERY_MS = 100;
    private static final String ASSIGNORS = "org.apache.kafka.clients.consumer.";

    private final Diary diary;
    private final Part part;
    private final String client;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile boolean isClosing;
    private long polledMs;

    Reader(Cluster cluster, Diary diary, Part part, String client) {
        this.diary = diary;
        this.part = part;
        this.client = client;
        Map<String, Object> settings = settings(cluster);
        Thread thread = new Thread(() -> run(settings), client);
        thread.setDaemon(true);
        thread.start();
    }

    private Map<String, Object> settings(Cluster cluster) {
        Map<String, Object> settings = new HashMap<>(Map.of("client.id", client, "metadata.max.age.ms", 1_000));
        boolean isDoomed = !part.clients(Fate.STAYS).contains(client);
        if (!part.protocol().equals(Part.SHARE)) {
            settings.putAll(Map.of("enable.auto.commit", true, "auto.commit.interval.ms", 500));
        }
        if (part.isStatic()) {
            settings.put("group.instance.id", client);
        }
        if (part.family().equals("classic")) {
            settings.put("session.timeout.ms", isDoomed ? SESSION_MS : CALM_SESSION_MS);
            settings.put("heartbeat.interval.ms", isDoomed ? HEARTBEAT_MS : CALM_HEARTBEAT_MS);
            settings.put("partition.assignment.strategy",
                ASSIGNORS + (part.protocol().equals(Part.RANGE) ? "RangeAssignor" : "CooperativeStickyAssignor"));
        } else if (part.protocol().equals(Part.CONSUMER)) {
            settings.put("group.protocol", "consumer");
        }
        Map<String, Object> all = cluster.consumerSettings(part.group(), settings);
        if (part.protocol().equals(Part.SHARE)) {
            all.keySet().removeAll(List.of("auto.offset.reset", "enable.auto.commit"));
        }
        return all;
    }

    private void run(Map<String, Object> settings) {
        try {
            if (part.protocol().equals(Part.SHARE)) {
                share(settings);
            } else {
                consume(settings);
            }
        } catch (RuntimeException failure) {
            failure.printStackTrace();
            ended.completeExceptionally(failure);
        }
        ended.complete(null);
    }

    private void consume(Map<String, Object> settings) {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
            consumer.subscribe(Set.copyOf(part.topics()), new Callbacks());
            while (!isClosing) {
                note(consumer.poll(POLL));
            }
        }
    }

    private void share(Map<String, Object> settings) {
        try (KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(settings)) {
            consumer.subscribe(Set.copyOf(part.topics()));
            while (!isClosing) {
                note(consumer.poll(POLL));
            }
        }
    }

    private void note(ConsumerRecords<String, String> records) {
        if (!records.isEmpty()) {
            Map<TopicPartition, Long> last = new HashMap<>();
            records.forEach(each -> last.put(new TopicPartition(each.topic(), each.partition()), each.offset()));
            diary.read(part.group(), client, last);
        }
        long now = System.currentTimeMillis();
        if (now - polledMs >= POLLED_EVERY_MS) {
            polledMs = now;
            diary.polled(part.group(), client);
        }
    }

    void throwFailure() {
        if (ended.isCompletedExceptionally()) {
            ended.join();
        }
    }

    void close() {
        isClosing = true;
        ended.join();
    }

    private final class Callbacks implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            diary.callback(part.group(), client, "assigned", partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            diary.callback(part.group(), client, "revoked", partitions);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            diary.callback(part.group(), client, "lost", partitions);
        }
    }
}
