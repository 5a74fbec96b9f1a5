import java.nio.file.Files;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.Stores;

/** Applications of Kafka Streams, over the classic protocol and over that of streams groups. */
final class StreamsGroups {
    static void classic(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        Map<String, Object> settings = Map.of(
            "processing.guarantee", "exactly_once_v2",
            "num.standby.replicas", 1,
            "client.tag.zone", "z1",
            "rack.aware.assignment.tags", "zone");
        try (Application first = new Application(cluster, "streams-classic", settings).awaitTasks();
                Application second = new Application(cluster, "streams-classic", settings).awaitTasks()) {
            first.awaitCommits();
        }
    }

    static void modern(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        cluster.configure(ConfigResource.Type.GROUP, "streams-modern", Map.of("streams.num.standby.replicas", "1"));
        Map<String, Object> settings = Map.of("group.protocol", "streams", "application.server", "localhost:65535",
            "client.tag.zone", "z1");
        try (Application first = new Application(cluster, "streams-modern", settings).awaitTasks();
                Application second = new Application(cluster, "streams-modern", settings).awaitTasks()) {
            first.awaitCommits();
        }
    }

    static void modernDeleted(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        Application only = new Application(cluster, "streams-deleted", Map.of("group.protocol", "streams"));
        only.awaitTasks().awaitCommits().close();
        Cluster.settled(() -> cluster.admin.deleteStreamsGroups(Set.of("streams-deleted")).all());
    }

    /** Static members (from 4.4 on): one goes away and comes back under another member id, another one for good. */
    static void staticMembers(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        Application first = instance(cluster, "one").awaitTasks();
        Application second = instance(cluster, "two").awaitTasks();
        second.awaitCommits().goAway();
        instance(cluster, "two").awaitTasks().close();
        first.goAway();
    }

    private static Application instance(Cluster cluster, String id) throws Exception {
        Map<String, Object> settings = Map.of("group.protocol", "streams", "group.instance.id", id);
        return new Application(cluster, "streams-static", settings);
    }

    /** Two subtopologies, with a repartition topic between them and a store with a changelog. */
    private static Topology counts() {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("orders", Consumed.with(Serdes.String(), Serdes.String()))
            .groupBy((key, value) -> value, Grouped.with("by-value", Serdes.String(), Serdes.String()))
            .count(Materialized.as(Stores.inMemoryKeyValueStore("counts")));
        return builder.build();
    }

    private static final class Application implements AutoCloseable {
        private final Cluster cluster;
        private final String id;
        private final KafkaStreams streams;

        Application(Cluster cluster, String id, Map<String, Object> more) throws Exception {
            this.cluster = cluster;
            this.id = id;
            Map<String, Object> settings = new HashMap<>(more);
            settings.put("application.id", id);
            settings.put("state.dir", Files.createTempDirectory(id).toString());
            settings.put("default.key.serde", Serdes.StringSerde.class);
            settings.put("default.value.serde", Serdes.StringSerde.class);
            settings.put("commit.interval.ms", 100);
            settings.put("auto.offset.reset", "earliest");
            settings.put("session.timeout.ms", 3000);
            settings.put("heartbeat.interval.ms", 100);
            if (more.containsKey("group.protocol")) {
                // The broker sets them for a streams group.
                settings.keySet().removeAll(List.of("session.timeout.ms", "heartbeat.interval.ms"));
            }
            streams = new KafkaStreams(counts(), cluster.properties(settings));
            streams.start();
        }

        Application awaitTasks() throws Exception {
            Cluster.until(() -> id + " runs tasks; it is " + streams.state(), () ->
                streams.state() == KafkaStreams.State.RUNNING
                    && streams.metadataForLocalThreads().stream().anyMatch(thread -> !thread.activeTasks().isEmpty()));
            return this;
        }

        Application awaitCommits() throws Exception {
            Cluster.until(id + " committed", () -> !cluster.offsetsOf(id).isEmpty());
            return this;
        }

        /** A static member may come back; another one is waited for until its session ends. */
        void goAway() {
            streams.close(Duration.ofSeconds(20));
        }

        @Override
        public void close() {
            streams.close(new KafkaStreams.CloseOptions().leaveGroup(true).timeout(Duration.ofSeconds(20)));
        }
    }
}
