import java.util.Map;
import java.util.Set;

/** Groups of the consumer protocol, whose assignments the coordinator makes, and their conversions. */
final class ConsumerGroups {
    private static final String[] UPGRADABLE = {"range", "cooperative-sticky"};

    static void rebalanced(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        cluster.topic("payments", 3);
        Member first = Member.modern(cluster, "modern", Map.of("client.rack", "rack-a"), "orders");
        first.awaitPartitions(6).commit();
        Member second = Member.modern(cluster, "modern", Map.of("group.remote.assignor", "range"), "orders");
        second.awaitPartitions(3).commit();
        first.awaitPartitions(3).onItsThread(consumer -> consumer.subscribe(Set.of("orders", "payments")));
        first.awaitPartitions(6).commit().close();
        second.awaitPartitions(6).commit().close();
    }

    /** Away and back under another member id, with its partitions kept for it. */
    static void staticMembers(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        Member first = Member.modern(cluster, "modern-static", Map.of("group.instance.id", "one"), "orders");
        first.awaitPartitions(6);
        Member second = Member.modern(cluster, "modern-static", Map.of("group.instance.id", "two"), "orders");
        second.awaitPartitions(3).commit().close();
        Member again = Member.modern(cluster, "modern-static", Map.of("group.instance.id", "two"), "orders");
        again.awaitPartitions(3).close();
        first.close();
    }

    /** A classic group is upgraded by its first member of the new protocol and downgraded when the last one leaves. */
    static void convertedOnline(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        Member classic = Member.classic(cluster, "converted-online", UPGRADABLE, Map.of(), "orders");
        classic.awaitPartitions(6).commit();
        Member modern = Member.modern(cluster, "converted-online", Map.of(), "orders");
        modern.awaitPartitions(3).commit();
        classic.awaitPartitions(3).commit();
        modern.close();
        classic.awaitPartitions(6).commit().close();
    }

    static void convertedOffline(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        String group = "converted-offline";
        Member.classic(cluster, group, UPGRADABLE, Map.of(), "orders").awaitPartitions(6).commit().close();
        Member.modern(cluster, group, Map.of(), "orders").awaitPartitions(6).commit().close();
        Member.classic(cluster, group, UPGRADABLE, Map.of(), "orders").awaitPartitions(6).commit().close();
    }

    static void deleted(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        Member.modern(cluster, "modern-deleted", Map.of(), "orders").awaitPartitions(6).commit().close();
        cluster.deleteGroup("modern-deleted");
    }
}
