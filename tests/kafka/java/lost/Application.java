import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;

/** The only member of a group, whose name ends with the protocol. It reads all the time and commits often. */
final class Application {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final int COMMIT_MS = 300;
    private static final int SESSION_MS = 6_000;
    private static final int HEARTBEAT_MS = 1_000;

    private final Thread thread;
    private volatile boolean isLeaving;

    Application(Cluster cluster, String group, String topic) {
        String protocol = group.substring(group.lastIndexOf('-') + 1);
        Map<String, Object> settings = new HashMap<>(Map.of("client.id", group + "-1"));
        thread = new Thread(() -> {
            switch (protocol) {
                case "share" -> share(cluster.consumerSettings(group, settings), topic);
                case "streams" -> streams(cluster, group, settings, topic);
                default -> consume(cluster, group, protocol, settings, topic);
            }
        }, group);
        thread.setDaemon(true);
        thread.start();
    }

    /** By goodbye. */
    void leave() throws InterruptedException {
        isLeaving = true;
        thread.join();
    }

    private void consume(Cluster cluster, String group, String protocol, Map<String, Object> more, String topic) {
        more.put("group.protocol", protocol);
        more.put("enable.auto.commit", true);
        more.put("auto.commit.interval.ms", COMMIT_MS);
        if (protocol.equals("classic")) {
            more.put("session.timeout.ms", SESSION_MS);
            more.put("heartbeat.interval.ms", HEARTBEAT_MS);
        }
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(cluster.consumerSettings(group, more))) {
            consumer.subscribe(Set.of(topic));
            while (!isLeaving) {
                consumer.poll(POLL);
            }
        }
    }

    private void share(Map<String, Object> settings, String topic) {
        settings.keySet().removeAll(Set.of("auto.offset.reset", "enable.auto.commit"));
        try (KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(settings)) {
            consumer.subscribe(Set.of(topic));
            while (!isLeaving) {
                consumer.poll(POLL);
            }
        }
    }

    private static void streams(Cluster cluster, String group, Map<String, Object> settings, String topic) {
        settings.put("application.id", group);
        settings.put("group.protocol", "streams");
        settings.put("default.key.serde", Serdes.StringSerde.class);
        settings.put("default.value.serde", Serdes.StringSerde.class);
        settings.put("auto.offset.reset", "earliest");
        settings.put("commit.interval.ms", COMMIT_MS);
        try {
            settings.put("state.dir", Files.createTempDirectory(group).toString());
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(topic).foreach((key, value) -> { });
        // Without a hook: it runs until its process ends.
        new KafkaStreams(builder.build(), cluster.properties(settings)).start();
    }
}
