import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ShareGroupDescription;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.RetriableException;

/** What the broker says a group's members hold now. */
record Held(GroupState state, List<Set<TopicPartition>> ofMembers) {
    static Held by(Cluster cluster, Part part) throws Exception {
        try {
            return part.protocol().equals(Part.SHARE) ? share(cluster, part.group()) : consumer(cluster, part.group());
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof GroupIdNotFoundException
                    || failure.getCause() instanceof RetriableException) {
                return new Held(GroupState.UNKNOWN, List.of());
            }
            throw failure;
        }
    }

    private static Held consumer(Cluster cluster, String group) throws Exception {
        ConsumerGroupDescription said = cluster.admin.describeConsumerGroups(List.of(group)).all().get().get(group);
        return new Held(said.groupState(),
            said.members().stream().map(each -> each.assignment().topicPartitions()).toList());
    }

    private static Held share(Cluster cluster, String group) throws Exception {
        ShareGroupDescription said = cluster.admin.describeShareGroups(List.of(group)).all().get().get(group);
        return new Held(said.groupState(),
            said.members().stream().map(each -> each.assignment().topicPartitions()).toList());
    }

    /** Every member that should be there now has partitions, and together they have all. */
    boolean isAllOf(Part part, boolean isAtTheEnd) {
        Set<TopicPartition> all = new HashSet<>();
        ofMembers.forEach(all::addAll);
        return state == GroupState.STABLE && ofMembers.size() == part.members(isAtTheEnd)
            && part.isAll(all.size(), isAtTheEnd) && ofMembers.stream().noneMatch(Set::isEmpty);
    }
}
