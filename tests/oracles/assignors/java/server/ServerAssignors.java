import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/** What the coordinator's assignor answers, by the classes on the classpath, from 3.9 on. */
public final class ServerAssignors {
    private static final Constructor<?> GROUP_SPEC = newestConstructor();

    private ServerAssignors() { }

    public static void main(String[] args) throws Exception {
        Specs.answerAll(ServerAssignors::answer);
    }

    private static Map<String, List<Object>> answer(JsonNode spec) throws Exception {
        Map<String, Uuid> ids = new HashMap<>();
        Map<Uuid, JsonNode> topics = new HashMap<>();
        Map<String, Uuid> known = new HashMap<>();
        for (JsonNode topic : spec.get("topics")) {
            Uuid id = Uuid.fromString(topic.get("topic_id").asText());
            ids.put(topic.get("name").asText(), id);
            topics.put(id, topic);
            if (topic.get("partitions").asInt() > 0) known.put(topic.get("name").asText(), id);
        }
        Topics metadata = new Topics(known);
        // A default map filled in the order of the members, as the coordinator fills it from its own.
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        for (JsonNode member : spec.get("members")) {
            Map<Uuid, Set<Integer>> target = target(member, ids);
            String memberId = member.get("member_id").asText();
            target.forEach((id, partitions) -> partitions.forEach(
                each -> owners.computeIfAbsent(id, key -> new HashMap<>()).put(each, memberId)));
            members.put(memberId, new MemberSubscriptionAndAssignmentImpl(
                Optional.ofNullable(Specs.text(member, "rack_id")),
                Optional.ofNullable(Specs.text(member, "group_instance_id")),
                metadata.ids(new HashSet<>(Specs.texts(member, "subscribed_topics"))), new Assignment(target)));
        }
        GroupAssignment answer = assigned(spec, groupSpec(spec, members, owners, ids), describer(topics));
        Map<String, List<Object>> lists = new HashMap<>();
        answer.members().forEach((member, assignment) -> {
            List<Object> pairs = new ArrayList<>();
            assignment.partitions().forEach((id, partitions) -> partitions.forEach(
                each -> pairs.add(List.of(topics.get(id).get("name").asText(), each))));
            lists.put(member, pairs);
        });
        return lists;
    }

    /** The previous target as the coordinator makes it of a record: a default map, and a set copied from each list. */
    private static Map<Uuid, Set<Integer>> target(JsonNode member, Map<String, Uuid> ids) {
        Map<Uuid, Set<Integer>> target = new HashMap<>();
        Specs.partitions(member, "target").forEach(
            (topic, partitions) -> target.put(ids.get(topic), new HashSet<>(partitions)));
        return target;
    }

    private static GroupAssignment assigned(JsonNode spec, GroupSpecImpl group, SubscribedTopicDescriber topics) {
        // The share assignor has an interface of its own beside that of the others.
        if (spec.get("assignor").asText().equals("simple")) return new SimpleAssignor().assign(group, topics);
        PartitionAssignor assignor = switch (spec.get("assignor").asText()) {
            case "uniform" -> new UniformAssignor();
            case "range" -> new RangeAssignor();
            default -> throw new IllegalArgumentException("no such assignor: " + spec.get("assignor"));
        };
        return assignor.assign(group, topics);
    }

    private static GroupSpecImpl groupSpec(
        JsonNode spec, Map<String, MemberSubscriptionAndAssignmentImpl> members,
        Map<Uuid, Map<Integer, String>> owners, Map<String, Uuid> ids) throws Exception {
        if (GROUP_SPEC.getParameterCount() == 3) {
            return (GroupSpecImpl) GROUP_SPEC.newInstance(members, subscriptionType(spec), owners);
        }
        Map<Uuid, Set<Integer>> assignable = new HashMap<>();
        Specs.partitions(spec, "assignable").forEach(
            (topic, partitions) -> assignable.put(ids.get(topic), new HashSet<>(partitions)));
        return (GroupSpecImpl) GROUP_SPEC.newInstance(members, subscriptionType(spec), owners,
            spec.hasNonNull("assignable") ? Optional.of(assignable) : Optional.empty());
    }

    /** As the coordinator counts it: names that it does not know count too. */
    private static SubscriptionType subscriptionType(JsonNode spec) {
        Set<Set<String>> distinct = new HashSet<>();
        spec.get("members").forEach(member -> distinct.add(new HashSet<>(Specs.texts(member, "subscribed_topics"))));
        return distinct.size() == 1 ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
    }

    private static SubscribedTopicDescriber describer(Map<Uuid, JsonNode> topics) {
        return new SubscribedTopicDescriber() {
            @Override
            public int numPartitions(Uuid id) {
                JsonNode topic = topics.get(id);
                return topic == null || topic.get("partitions").asInt() == 0 ? -1 : topic.get("partitions").asInt();
            }

            @Override
            public Set<String> racksForPartition(Uuid id, int partition) {
                return Set.of();
            }
        };
    }

    /** 4.1 brought the share partitions that may be assigned. */
    private static Constructor<?> newestConstructor() {
        Constructor<?> newest = null;
        for (Constructor<?> each : GroupSpecImpl.class.getConstructors()) {
            if (newest == null || each.getParameterCount() > newest.getParameterCount()) newest = each;
        }
        return newest;
    }
}
