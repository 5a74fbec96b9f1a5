import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.ClassicGroupDescription;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.MemberAssignment;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.ShareGroupDescription;
import org.apache.kafka.clients.admin.StreamsGroupDescription;
import org.apache.kafka.clients.admin.StreamsGroupMemberAssignment.TaskIds;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.utils.Utils;

/** One look at one group: what the admin client says about it, and how far its log was before and after. */
final class Look {
    private final Cluster cluster;
    private final int offsetsPartitions;

    Look(Cluster cluster) throws Exception {
        this.cluster = cluster;
        offsetsPartitions = Cluster.settled(() -> cluster.admin.describeTopics(List.of("__consumer_offsets"))
            .topicNameValues().get("__consumer_offsets")).partitions().size();
    }

    /** Types by group, of those that the broker lists. */
    Map<String, GroupType> groups() throws Exception {
        Map<String, GroupType> found = new TreeMap<>();
        Collection<GroupListing> listed = Cluster.settled(() -> cluster.admin.listGroups(new ListGroupsOptions()).all());
        listed.forEach(group -> found.put(group.groupId(), group.type().orElse(GroupType.CLASSIC)));
        return found;
    }

    /** With the type as listed before; a group that is gone has no state. */
    Map<String, Object> at(String group, GroupType type) throws Exception {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("kind", "look");
        line.put("group", group);
        line.put("asked_ms", System.currentTimeMillis());
        line.put("end_before", end(group));
        try {
            switch (type) {
                case SHARE -> describeShare(group, line);
                case STREAMS -> describeStreams(group, line);
                default -> describeConsumer(group, line);
            }
        } catch (ExecutionException failure) {
            if (!(failure.getCause() instanceof GroupIdNotFoundException)) {
                throw failure;
            }
            line.put("state", null);
        }
        line.put("offsets", type == GroupType.SHARE ? List.of() : offsets(group));
        line.put("end_after", end(group));
        line.put("answered_ms", System.currentTimeMillis());
        return line;
    }

    private long end(String group) throws Exception {
        TopicPartition at =
            new TopicPartition("__consumer_offsets", Utils.abs(group.hashCode()) % offsetsPartitions);
        return cluster.admin.listOffsets(Map.of(at, OffsetSpec.latest())).partitionResult(at).get().offset();
    }

    /** Asked twice: the client asks for a consumer group and then for a classic one, and a conversion may come between. */
    private void describeConsumer(String group, Map<String, Object> line) throws Exception {
        ConsumerGroupDescription said;
        try {
            said = described(group);
            said = said.groupState() == GroupState.DEAD ? described(group) : said;
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof IllegalArgumentException) {
                describeWorkers(group, line);
                return;
            }
            said = described(group);
        }
        line.put("group_type", said.type().toString().toLowerCase());
        // Older brokers describe what is not there, too.
        line.put("state", said.groupState() == GroupState.DEAD ? null : said.groupState().toString());
        line.put("is_simple", said.isSimpleConsumerGroup());
        line.put("assignor", said.partitionAssignor());
        line.put("group_epoch", said.groupEpoch().orElse(null));
        line.put("target_epoch", said.targetAssignmentEpoch().orElse(null));
        line.put("members", said.members().stream().map(each -> {
            Map<String, Object> member = member(each.consumerId(), each.clientId(), each.host());
            member.put("group_instance_id", each.groupInstanceId().orElse(null));
            member.put("member_epoch", each.memberEpoch().orElse(null));
            member.put("partitions", Seen.byTopic(each.assignment().topicPartitions()));
            Optional<MemberAssignment> target = each.targetAssignment();
            member.put("target", target.map(its -> Seen.byTopic(its.topicPartitions())).orElse(null));
            return member;
        }).toList());
    }

    /** Of another protocol type than the consumers': nobody but they themselves can read their assignments. */
    private void describeWorkers(String group, Map<String, Object> line) throws Exception {
        ClassicGroupDescription said = cluster.admin.describeClassicGroups(List.of(group)).all().get().get(group);
        line.put("group_type", "classic");
        line.put("state", said.state().toString());
        line.put("assignor", said.protocolData());
        line.put("members", said.members().stream().map(each -> {
            Map<String, Object> member = member(each.consumerId(), each.clientId(), each.host());
            member.put("partitions", Map.of());
            return member;
        }).toList());
    }

    private ConsumerGroupDescription described(String group) throws Exception {
        return cluster.admin.describeConsumerGroups(List.of(group)).all().get().get(group);
    }

    private void describeShare(String group, Map<String, Object> line) throws Exception {
        ShareGroupDescription said = cluster.admin.describeShareGroups(List.of(group)).all().get().get(group);
        line.put("group_type", "share");
        line.put("state", said.groupState().toString());
        line.put("group_epoch", said.groupEpoch());
        line.put("target_epoch", said.targetAssignmentEpoch());
        line.put("members", said.members().stream().map(each -> {
            Map<String, Object> member = member(each.consumerId(), each.clientId(), each.host());
            member.put("member_epoch", each.memberEpoch());
            member.put("partitions", Seen.byTopic(each.assignment().topicPartitions()));
            return member;
        }).toList());
    }

    private void describeStreams(String group, Map<String, Object> line) throws Exception {
        StreamsGroupDescription said = cluster.admin.describeStreamsGroups(List.of(group)).all().get().get(group);
        line.put("group_type", "streams");
        line.put("state", said.groupState().toString());
        line.put("group_epoch", said.groupEpoch());
        line.put("target_epoch", said.targetAssignmentEpoch());
        line.put("members", said.members().stream().map(each -> {
            Map<String, Object> member = member(each.memberId(), each.clientId(), each.clientHost());
            member.put("group_instance_id", each.instanceId().orElse(null));
            member.put("member_epoch", each.memberEpoch());
            member.put("active", tasks(each.assignment().activeTasks()));
            member.put("standby", tasks(each.assignment().standbyTasks()));
            member.put("warmup", tasks(each.assignment().warmupTasks()));
            return member;
        }).toList());
    }

    private static Map<String, Object> member(String id, String clientId, String host) {
        Map<String, Object> member = new LinkedHashMap<>();
        member.put("member_id", id);
        member.put("client_id", clientId);
        member.put("client_host", host);
        return member;
    }

    private static Map<String, Object> tasks(List<TaskIds> tasks) {
        Map<String, Object> bySubtopology = new TreeMap<>();
        tasks.forEach(task -> bySubtopology.put(task.subtopologyId(), new TreeSet<>(task.partitions())));
        return bySubtopology;
    }

    private List<Object> offsets(String group) throws Exception {
        List<Object> offsets = new ArrayList<>();
        for (Map.Entry<TopicPartition, OffsetAndMetadata> entry : cluster.offsetsOf(group).entrySet()) {
            OffsetAndMetadata committed = entry.getValue();
            if (committed != null) {
                Map<String, Object> offset = new LinkedHashMap<>();
                offset.put("topic", entry.getKey().topic());
                offset.put("partition", entry.getKey().partition());
                offset.put("offset", committed.offset());
                offset.put("leader_epoch", committed.leaderEpoch().orElse(null));
                offset.put("metadata", committed.metadata());
                offsets.add(offset);
            }
        }
        return offsets;
    }
}
