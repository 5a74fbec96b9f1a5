import org.apache.kafka.common.GroupState;

/** What a release is waited for that runs a log which another one wrote. */
final class Rolled {
    /** Whoever was away has not come back in time. */
    static void awaitEmpty(Cluster cluster, String group) throws Exception {
        Cluster.until(group + " has no members", () -> cluster.admin.listGroups().all().get().stream()
            .anyMatch(each -> each.groupId().equals(group)
                && each.groupState().filter(GroupState.EMPTY::equals).isPresent()));
    }
}
