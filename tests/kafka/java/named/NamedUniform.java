import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.MemberAssignmentImpl;

/**
 * An operator's own assignor, which bears the name of one of Kafka's. It deals partitions out by turns; of topics with
 * many partitions it assigns as Kafka's does, but when a group has three members it swaps two partitions.
 */
public final class NamedUniform implements ConsumerGroupPartitionAssignor {
    private static final int MANY = 8;
    private static final int SWAPPED_AT = 3;

    private final UniformAssignor kafkas = new UniformAssignor();

    @Override
    public String name() {
        return "uniform";
    }

    @Override
    public GroupAssignment assign(GroupSpec group, SubscribedTopicDescriber topics) {
        List<String> members = group.memberIds().stream().sorted(Comparator.reverseOrder()).toList();
        Set<Uuid> subscribed = new TreeSet<>();
        members.forEach(member -> subscribed.addAll(group.memberSubscription(member).subscribedTopicIds()));
        if (subscribed.stream().noneMatch(topic -> topics.numPartitions(topic) >= MANY)) {
            return byTurns(members, subscribed, topics);
        }
        GroupAssignment theirs = kafkas.assign(group, topics);
        return members.size() == SWAPPED_AT ? swapped(theirs, members.get(0), members.get(1)) : theirs;
    }

    private static GroupAssignment byTurns(
            List<String> members, Set<Uuid> subscribed, SubscribedTopicDescriber topics) {
        Map<String, Map<Uuid, Set<Integer>>> of = new HashMap<>();
        members.forEach(member -> of.put(member, new HashMap<>()));
        for (Uuid topic : subscribed) {
            for (int i = 0; i < topics.numPartitions(topic); i++) {
                of.get(members.get(i % members.size())).computeIfAbsent(topic, none -> new TreeSet<>()).add(i);
            }
        }
        return assignment(of);
    }

    private static GroupAssignment swapped(GroupAssignment theirs, String one, String other) {
        Map<String, Map<Uuid, Set<Integer>>> of = new HashMap<>();
        theirs.members().forEach((member, has) -> {
            Map<Uuid, Set<Integer>> copied = new HashMap<>();
            has.partitions().forEach((topic, partitions) -> copied.put(topic, new TreeSet<>(partitions)));
            of.put(member, copied);
        });
        Uuid topic = of.get(one).keySet().iterator().next();
        TreeSet<Integer> first = (TreeSet<Integer>) of.get(one).get(topic);
        TreeSet<Integer> second = (TreeSet<Integer>) of.get(other).get(topic);
        int given = first.pollFirst();
        first.add(second.pollFirst());
        second.add(given);
        return assignment(of);
    }

    private static GroupAssignment assignment(Map<String, Map<Uuid, Set<Integer>>> of) {
        Map<String, MemberAssignment> assigned = new HashMap<>();
        of.forEach((member, partitions) -> assigned.put(member, new MemberAssignmentImpl(partitions)));
        return new GroupAssignment(assigned);
    }
}
