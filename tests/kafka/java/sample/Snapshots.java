import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;

/** What the offsets log does not hold, a JSON line at a time: end offsets, topic ids, leaders, racks, settings. */
final class Snapshots implements AutoCloseable {
    private static final String OFFSETS_TOPIC = "__consumer_offsets";
    private static final List<String> SETTINGS = List.of(
        "offsets.retention.minutes", "offsets.retention.check.interval.ms", "offsets.topic.num.partitions",
        "group.initial.rebalance.delay.ms", "group.min.session.timeout.ms", "group.max.session.timeout.ms",
        "group.consumer.assignors", "group.consumer.migration.policy", "group.consumer.session.timeout.ms",
        "group.consumer.heartbeat.interval.ms", "group.share.session.timeout.ms", "group.share.heartbeat.interval.ms",
        "group.streams.session.timeout.ms", "transaction.max.timeout.ms");
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Cluster cluster;
    private final BufferedWriter lines;

    Snapshots(Cluster cluster, Path file) throws IOException {
        this.cluster = cluster;
        lines = Files.newBufferedWriter(file);
    }

    void take() throws Exception {
        Map<String, Object> snapshot = new LinkedHashMap<>();
        // Before anything is asked: no end offset is older than the time that the line gives it.
        snapshot.put("captured_at", System.currentTimeMillis());
        Map<String, TopicDescription> topics = topics();
        snapshot.put("topics", described(topics.values()));
        snapshot.put("brokers", brokers());
        snapshot.put("offsets_partitions", leaders(topics.get(OFFSETS_TOPIC)));
        snapshot.put("settings", settings());
        lines.write(JSON.writeValueAsString(snapshot));
        lines.newLine();
        lines.flush();
    }

    private Map<String, TopicDescription> topics() throws Exception {
        return Cluster.settled(() -> {
            var names = cluster.admin.listTopics(new ListTopicsOptions().listInternal(true)).names().get();
            return cluster.admin.describeTopics(names).allTopicNames();
        });
    }

    private List<Object> described(Collection<TopicDescription> topics) throws Exception {
        Map<TopicPartition, ListOffsetsResultInfo> starts = offsets(topics, OffsetSpec.earliest());
        Map<TopicPartition, ListOffsetsResultInfo> ends = offsets(topics, OffsetSpec.latest());
        Map<String, Object> lines = new TreeMap<>();
        for (TopicDescription topic : topics) {
            List<Object> partitions = new ArrayList<>();
            for (TopicPartitionInfo each : topic.partitions()) {
                TopicPartition at = new TopicPartition(topic.name(), each.partition());
                Map<String, Object> partition = new LinkedHashMap<>();
                partition.put("partition", each.partition());
                partition.put("log_start_offset", starts.get(at).offset());
                partition.put("log_end_offset", ends.get(at).offset());
                partition.put("leader_epoch", ends.get(at).leaderEpoch().orElse(-1));
                partition.put("racks", each.replicas().stream().map(Node::rack).toList());
                partitions.add(partition);
            }
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("topic", topic.name());
            line.put("topic_id", topic.topicId().toString());
            line.put("partitions", partitions);
            lines.put(topic.name(), line);
        }
        return List.copyOf(lines.values());
    }

    private Map<TopicPartition, ListOffsetsResultInfo> offsets(Collection<TopicDescription> topics, OffsetSpec spec)
            throws Exception {
        Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
        for (TopicDescription topic : topics) {
            topic.partitions().forEach(each -> wanted.put(new TopicPartition(topic.name(), each.partition()), spec));
        }
        return Cluster.settled(() -> cluster.admin.listOffsets(wanted).all());
    }

    private List<Object> brokers() throws Exception {
        List<Object> brokers = new ArrayList<>();
        for (Node node : cluster.admin.describeCluster().nodes().get()) {
            Map<String, Object> broker = new LinkedHashMap<>();
            broker.put("id", node.id());
            broker.put("host", node.host());
            broker.put("port", node.port());
            broker.put("rack", node.rack());
            brokers.add(broker);
        }
        return brokers;
    }

    private static List<Object> leaders(TopicDescription offsetsTopic) {
        List<Object> leaders = new ArrayList<>();
        if (offsetsTopic != null) {
            for (TopicPartitionInfo each : offsetsTopic.partitions()) {
                Map<String, Object> partition = new LinkedHashMap<>();
                partition.put("partition", each.partition());
                partition.put("leader", each.leader() == null ? null : each.leader().id());
                leaders.add(partition);
            }
        }
        return leaders;
    }

    private Map<String, Object> settings() throws Exception {
        ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, "1");
        var config = Cluster.settled(() -> cluster.admin.describeConfigs(List.of(broker)).values().get(broker));
        Map<String, Object> settings = new TreeMap<>();
        // An older broker does not have all of them.
        SETTINGS.stream().filter(name -> config.get(name) != null)
            .forEach(name -> settings.put(name, config.get(name).value()));
        return settings;
    }

    @Override
    public void close() throws IOException {
        lines.close();
    }
}
