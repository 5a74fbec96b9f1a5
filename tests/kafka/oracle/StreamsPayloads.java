import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.internals.generated.SubscriptionInfoData;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.internals.assignment.AssignmentInfo;
import org.apache.kafka.streams.processor.internals.assignment.SubscriptionInfo;
import org.apache.kafka.streams.state.HostInfo;

/** User data of classic Kafka Streams groups. */
final class StreamsPayloads {
    static final int NEWEST = SubscriptionInfoData.HIGHEST_SUPPORTED_VERSION;
    private final RandomValues values;

    StreamsPayloads(RandomValues values) {
        this.values = values;
    }

    byte[] subscription(int version, ObjectNode value) throws ReflectiveOperationException {
        GeneratedMessage drawn = GeneratedMessage.random(SubscriptionInfoData.class, (short) version, values);
        SubscriptionInfoData data = ((SubscriptionInfoData) drawn.message).setVersion(version);
        // Streams refuses a client that writes what it cannot read.
        if (version >= 3) data.setLatestSupportedVersion(Math.max(version, data.latestSupportedVersion()));
        byte[] bytes = drawn.bytes();
        if (!SubscriptionInfo.decode(ByteBuffer.wrap(bytes)).encode().equals(ByteBuffer.wrap(bytes))) {
            throw new IllegalStateException("Kafka Streams would write otherwise: " + data);
        }
        value.setAll((ObjectNode) drawn.json());
        return bytes;
    }

    byte[] assignment(int version, ObjectNode value) {
        int understood = (int) values.integer(32), error = (int) values.integer(32);
        AssignmentInfo drawn = new AssignmentInfo(
            version, understood, tasks(version), standby(version), hosts(), hosts(), error);
        drawn.setNextRebalanceTime(values.oneIn(3) ? Long.MAX_VALUE : values.integer(64));
        byte[] bytes = KafkaStructs.bytes(drawn.encode());
        print(AssignmentInfo.decode(ByteBuffer.wrap(bytes)), value);
        return bytes;
    }

    private List<TaskId> tasks(int version) {
        List<TaskId> drawn = new ArrayList<>();
        for (int n = values.count(false); n > 0; n--) drawn.add(task(version));
        return drawn;
    }

    /** Named topologies came with version 10; an empty name is no name. */
    private TaskId task(int version) {
        String name = version >= 10 && values.oneIn(2) ? values.text() : "";
        return new TaskId((int) values.integer(32), (int) values.integer(32), name.isEmpty() ? null : name);
    }

    private Map<TaskId, Set<TopicPartition>> standby(int version) {
        Map<TaskId, Set<TopicPartition>> drawn = new HashMap<>();
        for (int n = values.count(false); n > 0; n--) drawn.put(task(version), partitions());
        return drawn;
    }

    private Map<HostInfo, Set<TopicPartition>> hosts() {
        Map<HostInfo, Set<TopicPartition>> drawn = new HashMap<>();
        for (int n = values.count(false); n > 0; n--) {
            drawn.put(new HostInfo(values.text(), (int) values.integer(32)), partitions());
        }
        return drawn;
    }

    private Set<TopicPartition> partitions() {
        Set<TopicPartition> drawn = new HashSet<>();
        for (int n = values.count(false); n > 0; n--) {
            String topic = values.text();
            for (int same = values.random.nextInt(3); same >= 0; same--) {
                drawn.add(new TopicPartition(topic, (int) values.integer(32)));
            }
        }
        return drawn;
    }

    /** Only what the version holds: the getters give defaults for the rest. */
    private static void print(AssignmentInfo info, ObjectNode into) {
        int version = info.version();
        into.put("version", version);
        if (version >= 3) into.put("commonlySupportedVersion", info.commonlySupportedVersion());
        ArrayNode active = into.putArray("activeTasks");
        for (TaskId task : info.activeTasks()) print(task, version, active.addObject());
        ArrayNode standby = into.putArray("standbyTasks");
        info.standbyTasks().forEach((task, partitions) -> print(partitions, print(task, version, standby.addObject())));
        if (version >= 2) print(info.partitionsByHost(), into.putArray("partitionsByHost"));
        if (version >= 6) print(info.standbyPartitionByHost(), into.putArray("standbyPartitionsByHost"));
        if (version >= 4) into.put("errCode", info.errCode());
        if (version >= 7) into.put("nextRebalanceMs", info.nextRebalanceMs());
    }

    private static ObjectNode print(TaskId task, int version, ObjectNode into) {
        into.put("subtopology", task.subtopology()).put("partition", task.partition());
        return version < 10 ? into : into.put("namedTopology", task.topologyName());
    }

    private static void print(Map<HostInfo, Set<TopicPartition>> hosts, ArrayNode into) {
        hosts.forEach((host, partitions) -> {
            print(partitions, into.addObject().put("host", host.host()).put("port", host.port()));
        });
    }

    private static void print(Set<TopicPartition> partitions, ObjectNode into) {
        ArrayNode printed = into.putArray("topicPartitions");
        for (TopicPartition partition : partitions) {
            printed.addObject().put("topic", partition.topic()).put("partition", partition.partition());
        }
    }
}
