import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.ClassicGroupDescription;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.ShareGroupDescription;
import org.apache.kafka.clients.admin.StreamsGroupDescription;
import org.apache.kafka.clients.admin.StreamsGroupMemberAssignment.TaskIds;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;

/** Groups and offsets as admin clients and members see them, in the words of the story. */
final class Seen {
    private Seen() {
    }

    /** The group at rest: these are its members, and each of `partitions` partitions has its owner. */
    static Map<String, Object> settled(Cluster cluster, String group, int partitions, Member... members)
            throws Exception {
        AtomicReference<Map<String, Object>> seen = new AtomicReference<>();
        Cluster.until(() -> group + " of " + members.length + " members has settled", () -> {
            Thread.sleep(100);
            Map<String, Integer> epochs = epochs(members);
            int epoch = epochs.values().iterator().next();
            if (epoch <= 0 || new HashSet<>(epochs.values()).size() > 1) {
                return false;
            }
            ConsumerGroupDescription said = consumerGroup(cluster, group);
            seen.set(described(said, epoch));
            return said.groupState() == GroupState.STABLE
                && ids(said).equals(epochs.keySet())
                && owned(said) == partitions
                && epochs.equals(epochs(members));
        });
        return seen.get();
    }

    static Map<String, Object> consumer(Cluster cluster, String group) throws Exception {
        return described(consumerGroup(cluster, group), null);
    }

    /** Without any member: the name of an assignor is then gone too. */
    static void awaitEmpty(Cluster cluster, String group) throws Exception {
        Cluster.until(group + " is empty", () -> consumerGroup(cluster, group).groupState() == GroupState.EMPTY);
    }

    private static ConsumerGroupDescription consumerGroup(Cluster cluster, String group) throws Exception {
        return Cluster.settled(() -> cluster.admin.describeConsumerGroups(List.of(group)).describedGroups().get(group));
    }

    /** Member ids and generations, or member epochs, as the members themselves know them. */
    private static Map<String, Integer> epochs(Member... members) throws Exception {
        Map<String, Integer> epochs = new HashMap<>();
        for (Member member : members) {
            member.onItsThread(consumer ->
                epochs.put(consumer.groupMetadata().memberId(), consumer.groupMetadata().generationId()));
        }
        return epochs;
    }

    private static HashSet<String> ids(ConsumerGroupDescription group) {
        return new HashSet<>(group.members().stream().map(MemberDescription::consumerId).toList());
    }

    private static int owned(ConsumerGroupDescription group) {
        return group.members().stream().mapToInt(member -> member.assignment().topicPartitions().size()).sum();
    }

    private static Map<String, Object> described(ConsumerGroupDescription group, Integer generation) {
        boolean isClassic = group.type() == GroupType.CLASSIC;
        Map<String, Object> seen = seen(group.type().toString(), group.groupState());
        seen.put("assignor", group.partitionAssignor());
        if (isClassic) {
            seen.put("generation", generation);
        } else {
            seen.put("group_epoch", group.groupEpoch().orElse(null));
            seen.put("target_epoch", group.targetAssignmentEpoch().orElse(null));
        }
        List<Object> members = new ArrayList<>();
        for (MemberDescription each : group.members()) {
            Map<String, Object> member = member(each.consumerId(), each.clientId(), each.host());
            each.groupInstanceId().ifPresent(id -> member.put("group_instance_id", id));
            if (!isClassic) {
                each.memberEpoch().ifPresent(epoch -> member.put("member_epoch", epoch));
                each.upgraded().ifPresent(is -> member.put("is_upgraded", is));
            }
            member.put("partitions", byTopic(each.assignment().topicPartitions()));
            members.add(member);
        }
        seen.put("members", members);
        return seen;
    }

    /** Connect's workers: their assignments are bytes to an admin client. */
    static Map<String, Object> classic(Cluster cluster, String group) throws Exception {
        ClassicGroupDescription said = cluster.admin.describeClassicGroups(List.of(group)).all().get().get(group);
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("time", Story.now());
        seen.put("group_type", "Classic");
        seen.put("state", said.state().toString());
        seen.put("protocol_type", said.protocol());
        seen.put("assignor", said.protocolData());
        seen.put("members", said.members().stream()
            .map(each -> member(each.consumerId(), each.clientId(), each.host())).toList());
        return seen;
    }

    static Map<String, Object> share(Cluster cluster, String group) throws Exception {
        ShareGroupDescription said = cluster.admin.describeShareGroups(List.of(group)).all().get().get(group);
        Map<String, Object> seen = seen("Share", said.groupState());
        seen.put("group_epoch", said.groupEpoch());
        seen.put("target_epoch", said.targetAssignmentEpoch());
        seen.put("members", said.members().stream().map(each -> {
            Map<String, Object> member = member(each.consumerId(), each.clientId(), each.host());
            member.put("member_epoch", each.memberEpoch());
            member.put("partitions", byTopic(each.assignment().topicPartitions()));
            return member;
        }).toList());
        return seen;
    }

    static Map<String, Object> streams(Cluster cluster, String group) throws Exception {
        StreamsGroupDescription said = cluster.admin.describeStreamsGroups(List.of(group)).all().get().get(group);
        Map<String, Object> seen = seen("Streams", said.groupState());
        seen.put("group_epoch", said.groupEpoch());
        seen.put("target_epoch", said.targetAssignmentEpoch());
        seen.put("members", said.members().stream().map(each -> {
            Map<String, Object> member = member(each.memberId(), each.clientId(), each.clientHost());
            member.put("member_epoch", each.memberEpoch());
            member.put("active_tasks", tasks(each.assignment().activeTasks()));
            member.put("standby_tasks", tasks(each.assignment().standbyTasks()));
            return member;
        }).toList());
        return seen;
    }

    private static Map<String, Object> seen(String type, GroupState state) {
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("time", Story.now());
        seen.put("group_type", type);
        seen.put("state", state.toString());
        return seen;
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

    static Map<String, Object> byTopic(Collection<TopicPartition> partitions) {
        Map<String, Object> byTopic = new TreeMap<>();
        for (TopicPartition each : partitions) {
            TreeSet<?> numbers = new TreeSet<>(partitions.stream()
                .filter(other -> other.topic().equals(each.topic())).map(TopicPartition::partition).toList());
            byTopic.put(each.topic(), numbers);
        }
        return byTopic;
    }

    static Map<String, Integer> leaderEpochs(Cluster cluster, String topic) throws Exception {
        var partitions = Cluster.settled(() ->
            cluster.admin.describeTopics(List.of(topic)).topicNameValues().get(topic)).partitions();
        Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
        partitions.forEach(each -> wanted.put(new TopicPartition(topic, each.partition()), OffsetSpec.latest()));
        Map<String, Integer> epochs = new TreeMap<>();
        Cluster.settled(() -> cluster.admin.listOffsets(wanted).all())
            .forEach((at, end) -> epochs.put("" + at.partition(), end.leaderEpoch().orElse(-1)));
        return epochs;
    }

    /** What is committed, as {@code {"orders": {"0": 12}}}. */
    static Map<String, Map<String, Long>> committed(Cluster cluster, String group) throws Exception {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        cluster.offsetsOf(group).forEach((at, committed) -> {
            if (committed != null) {
                offsets.put(at, committed.offset());
            }
        });
        return offsets(offsets);
    }

    static Map<String, Map<String, Long>> offsets(Map<TopicPartition, Long> offsets) {
        Map<String, Map<String, Long>> byTopic = new TreeMap<>();
        offsets.forEach((at, offset) ->
            byTopic.computeIfAbsent(at.topic(), topic -> new TreeMap<>()).put("" + at.partition(), offset));
        return byTopic;
    }
}
