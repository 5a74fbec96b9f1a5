import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.TopicPartition;

/** A member on a thread of its own that reads without a pause and writes down its polls and what its callbacks see. */
abstract class Reading {
    static final String STREAMS = "streams";
    private static final String SHARE = "share";
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long POLLED_EVERY_MS = 100;
    private static final String ASSIGNORS = "org.apache.kafka.clients.consumer.";
    private static final Map<String, String> ASSIGNOR_OF = Map.of(
        "range", ASSIGNORS + "RangeAssignor", "cooperative-sticky", ASSIGNORS + "CooperativeStickyAssignor");

    final Cluster cluster;
    final Diary diary;
    final JsonNode order;
    final String group;
    final String client;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final AtomicLong standMs = new AtomicLong();
    private volatile boolean isClosing;
    private long polledMs;

    Reading(Cluster cluster, Diary diary, JsonNode order) {
        this.cluster = cluster;
        this.diary = diary;
        this.order = order;
        this.group = order.get("group").asText();
        this.client = order.get("client").asText();
    }

    static Reading of(Cluster cluster, Diary diary, JsonNode order) {
        Reading reading = switch (order.get("protocol").asText()) {
            case STREAMS -> new ReadingStreams(cluster, diary, order);
            case SHARE -> new Sharing(cluster, diary, order);
            default -> new Consuming(cluster, diary, order);
        };
        Thread thread = new Thread(reading::runToTheEnd, reading.client);
        thread.setDaemon(true);
        thread.start();
        return reading;
    }

    abstract void run() throws Exception;

    private void runToTheEnd() {
        try {
            run();
            ended.complete(null);
        } catch (Exception failure) {
            diary.callback(group, client, "failed", Set.of());
            failure.printStackTrace();
            ended.completeExceptionally(failure);
        }
    }

    void close() {
        isClosing = true;
        ended.join();
    }

    /** Between two polls: whoever reads does nothing, and what it has read before was read before. */
    void standStill(long ms) {
        standMs.set(ms);
    }

    boolean goesOn() {
        long ms = standMs.getAndSet(0);
        if (ms > 0) {
            diary.callback(group, client, "standing", Set.of());
            sleep(ms);
            diary.callback(group, client, "woke", Set.of());
        }
        return !isClosing;
    }

    static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException failure) {
            throw new IllegalStateException(failure);
        }
    }

    Set<String> topics() {
        Set<String> topics = new HashSet<>();
        order.get("topics").forEach(topic -> topics.add(topic.asText()));
        return topics;
    }

    void note(ConsumerRecords<?, ?> records) {
        long now = System.currentTimeMillis();
        if (!records.isEmpty()) {
            Map<TopicPartition, Long> last = new HashMap<>();
            records.forEach(each -> last.put(new TopicPartition(each.topic(), each.partition()), each.offset()));
            diary.read(group, client, last);
            polledMs = now;
        } else if (now - polledMs >= POLLED_EVERY_MS) {
            diary.polled(group, client);
            polledMs = now;
        }
    }

    Map<String, Object> fetching() {
        // Few fetches: every one returns what a tenth of a second brought.
        return new HashMap<>(Map.of("client.id", client, "metadata.max.age.ms", 1_000,
            "fetch.min.bytes", 1 << 20, "fetch.max.wait.ms", 100));
    }

    private static final class Sharing extends Reading {
        Sharing(Cluster cluster, Diary diary, JsonNode order) {
            super(cluster, diary, order);
        }

        @Override
        void run() {
            Map<String, Object> settings = cluster.consumerSettings(group, fetching());
            settings.keySet().removeAll(List.of("auto.offset.reset", "enable.auto.commit"));
            try (KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(settings)) {
                diary.callback(group, client, "started", Set.of());
                consumer.subscribe(topics());
                while (goesOn()) {
                    note(consumer.poll(POLL));
                }
                diary.callback(group, client, "closing", Set.of());
            }
            diary.callback(group, client, "closed", Set.of());
        }
    }

    private static final class Consuming extends Reading implements ConsumerRebalanceListener {
        Consuming(Cluster cluster, Diary diary, JsonNode order) {
            super(cluster, diary, order);
        }

        private Map<String, Object> settings() {
            Map<String, Object> settings = fetching();
            int commitMs = order.get("commit_ms").asInt();
            settings.put("enable.auto.commit", commitMs > 0);
            if (commitMs > 0) {
                settings.put("auto.commit.interval.ms", commitMs);
            }
            settings.put("max.poll.interval.ms", order.get("max_poll_ms").asInt());
            if (order.get("is_static").asBoolean()) {
                settings.put("group.instance.id", client);
            }
            String protocol = order.get("protocol").asText();
            if (ASSIGNOR_OF.containsKey(protocol)) {
                settings.put("session.timeout.ms", order.get("session_ms").asInt());
                settings.put("heartbeat.interval.ms", order.get("heartbeat_ms").asInt());
                settings.put("partition.assignment.strategy", ASSIGNOR_OF.get(protocol));
            } else if (protocol.equals("consumer")) {
                settings.put("group.protocol", "consumer");
            }
            return cluster.consumerSettings(group, settings);
        }

        @Override
        void run() {
            try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings())) {
                diary.callback(group, client, "started", Set.of());
                if (order.get("protocol").asText().equals("manual")) {
                    List<TopicPartition> all = new ArrayList<>();
                    topics().forEach(topic -> IntStream.range(0, consumer.partitionsFor(topic).size())
                        .forEach(partition -> all.add(new TopicPartition(topic, partition))));
                    consumer.assign(all);
                } else {
                    consumer.subscribe(topics(), this);
                }
                while (goesOn()) {
                    note(consumer.poll(POLL));
                }
                diary.callback(group, client, "closing", consumer.assignment());
            }
            diary.callback(group, client, "closed", Set.of());
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            diary.callback(group, client, "assigned", partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            diary.callback(group, client, "revoked", partitions);
            if (!partitions.isEmpty()) {
                sleep(order.get("slow_ms").asLong());
            }
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            diary.callback(group, client, "lost", partitions);
        }
    }
}
