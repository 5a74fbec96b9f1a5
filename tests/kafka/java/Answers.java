import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.ListGroupsRequestData;
import org.apache.kafka.common.message.ListGroupsResponseData;
import org.apache.kafka.common.message.ListGroupsResponseData.ListedGroup;
import org.apache.kafka.common.protocol.ApiKeys;

/** What the broker itself says about topics, groups and offsets, as JSON: the outside truth for a replay of its log. */
final class Answers {
    private static final short WITH_GROUP_TYPE = 5;

    static void write(Cluster cluster, String file) throws Exception {
        Map<String, Object> answers = new LinkedHashMap<>();
        List<ListedGroup> groups = groups(cluster);
        answers.put("topics", topics(cluster));
        answers.put("groups", groups.stream().map(Answers::described).toList());
        Map<String, Object> offsets = new TreeMap<>();
        for (ListedGroup group : groups) {
            offsets.put(group.groupId(), offsets(cluster, group.groupId()));
        }
        answers.put("offsets", offsets);
        new ObjectMapper().writerWithDefaultPrettyPrinter().writeValue(new File(file), answers);
    }

    private static List<Object> topics(Cluster cluster) throws Exception {
        var names = cluster.admin.listTopics(new ListTopicsOptions().listInternal(true)).names().get();
        Map<String, TopicDescription> topics = new TreeMap<>(cluster.admin.describeTopics(names).allTopicNames().get());
        List<Object> described = new ArrayList<>();
        for (TopicDescription topic : topics.values()) {
            described.add(Map.of("topic", topic.name(), "topic_id", topic.topicId().toString(),
                "num_partitions", topic.partitions().size()));
        }
        return described;
    }

    private static List<ListedGroup> groups(Cluster cluster) throws Exception {
        List<ListedGroup> groups = new ArrayList<>();
        // An empty list is also what a broker says whose coordinator still loads, with an error beside it.
        Cluster.until("all groups are listed", () -> {
            var bytes = RawRequests.send(cluster, ApiKeys.LIST_GROUPS, WITH_GROUP_TYPE, new ListGroupsRequestData());
            var answer = new ListGroupsResponseData(bytes, WITH_GROUP_TYPE);
            groups.addAll(answer.errorCode() == 0 ? answer.groups() : List.of());
            return answer.errorCode() == 0;
        });
        return groups;
    }

    private static Map<String, Object> described(ListedGroup group) {
        return Map.of("group", group.groupId(), "protocol_type", group.protocolType(), "state", group.groupState(),
            "type", group.groupType());
    }

    private static List<Object> offsets(Cluster cluster, String group) throws Exception {
        List<Object> answered = new ArrayList<>();
        for (Map.Entry<TopicPartition, OffsetAndMetadata> entry : cluster.offsetsOf(group).entrySet()) {
            OffsetAndMetadata committed = entry.getValue();
            if (committed != null) {
                answered.add(Map.of("topic", entry.getKey().topic(), "partition", entry.getKey().partition(),
                    "offset", committed.offset(), "leader_epoch", committed.leaderEpoch().orElse(-1),
                    "metadata", committed.metadata()));
            }
        }
        return answered;
    }
}
