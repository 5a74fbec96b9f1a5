import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;

/** An application of Kafka Streams: a task has its partition from when its processor begins to when it ends. */
final class ReadingStreams extends Reading {
    ReadingStreams(Cluster cluster, Diary diary, JsonNode order) {
        super(cluster, diary, order);
    }

    @Override
    void run() throws IOException {
        Map<String, Object> settings = fetching();
        settings.putAll(Map.of(
            "application.id", group,
            "group.protocol", STREAMS,
            "state.dir", Files.createTempDirectory(client).toString(),
            "default.key.serde", Serdes.StringSerde.class,
            "default.value.serde", Serdes.StringSerde.class,
            "commit.interval.ms", order.get("commit_ms").asInt(),
            "poll.ms", 100,
            "auto.offset.reset", "earliest"));
        Topology topology = new Topology();
        topology.addSource("from", topics().toArray(new String[0]));
        topology.addProcessor("reads", Reads::new, "from");
        KafkaStreams streams = new KafkaStreams(topology, cluster.properties(settings));
        diary.callback(group, client, "started", Set.of());
        streams.start();
        while (goesOn()) {
            sleep(100);
        }
        diary.callback(group, client, "leaving", Set.of());
        streams.close(new KafkaStreams.CloseOptions().leaveGroup(true).timeout(Duration.ofSeconds(20)));
        diary.callback(group, client, "closed", Set.of());
    }

    private final class Reads implements Processor<String, String, Void, Void> {
        private ProcessorContext<Void, Void> context;
        private TopicPartition at;

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            this.context = context;
            at = new TopicPartition(topics().iterator().next(), context.taskId().partition());
            diary.callback(group, client, "assigned", Set.of(at));
        }

        @Override
        public void process(Record<String, String> record) {
            context.recordMetadata().ifPresent(each -> diary.read(group, client, Map.of(at, each.offset())));
        }

        @Override
        public void close() {
            diary.callback(group, client, "revoked", Set.of(at));
        }
    }
}
