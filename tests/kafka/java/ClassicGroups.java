import java.util.Map;

/** Groups whose members assign partitions themselves. */
final class ClassicGroups {
    /** A second member comes, the first goes: generations with added, kept and revoked partitions, then none. */
    static void rebalanced(Cluster cluster, String assignor) throws Exception {
        cluster.topic("orders", 6);
        cluster.topic("payments", 3);
        String group = "classic-" + assignor;
        String[] assignors = {assignor};
        Member first = Member.classic(cluster, group, assignors, Map.of("client.id", "first"), "orders", "payments");
        first.awaitPartitions(9).commit();
        Map<String, Object> named = Map.of("client.id", "second", "client.rack", "rack-b");
        Member second = Member.classic(cluster, group, assignors, named, "orders");
        Cluster.until("the second member owns its share", () -> !second.owned().isEmpty());
        second.commit();
        first.close();
        second.awaitPartitions(6).commit().close();
    }

    /** The same instance comes back under a new member id: no rebalance, one more value of the same generation. */
    static void staticMembers(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        Member first = instance(cluster, "one");
        Member second = instance(cluster, "two");
        first.awaitPartitions(3);
        second.awaitPartitions(3).commit().close();
        instance(cluster, "two").awaitPartitions(3).close();
        first.close();
    }

    private static Member instance(Cluster cluster, String id) {
        Map<String, Object> named = Map.of("group.instance.id", id);
        return Member.classic(cluster, "classic-static", new String[] {"range"}, named, "orders");
    }

    static void deleted(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        Member only = Member.classic(cluster, "classic-deleted", new String[] {"range"}, Map.of(), "orders");
        only.awaitPartitions(6).commit().close();
        cluster.deleteGroup("classic-deleted");
    }
}
