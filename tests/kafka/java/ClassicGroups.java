import java.util.Map;

/** Groups whose members assign partitions themselves. */
final class ClassicGroups {
    /** A second member comes, the first goes: generations with added, kept and revoked partitions, then an empty one. */
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
        String[] assignors = {"range"};
        Member first = Member.classic(cluster, "classic-static", assignors, Map.of("group.instance.id", "one"), "orders");
        Member second = Member.classic(cluster, "classic-static", assignors, Map.of("group.instance.id", "two"), "orders");
        first.awaitPartitions(3);
        second.awaitPartitions(3).commit().close();
        Member again = Member.classic(cluster, "classic-static", assignors, Map.of("group.instance.id", "two"), "orders");
        again.awaitPartitions(3).close();
        first.close();
    }

    static void deleted(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        Member only = Member.classic(cluster, "classic-deleted", new String[] {"range"}, Map.of(), "orders");
        only.awaitPartitions(6).commit().close();
        cluster.deleteGroup("classic-deleted");
    }
}
