import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.GroupState;

/** Classic groups that a static member upgrades, as it comes back with the consumer protocol. */
final class Upgrades {
    private static final String[] UPGRADABLE = {"range"};

    /** No rebalance, and nothing is wrong. */
    static void atRest(Cluster cluster) throws Exception {
        String group = "upgraded-at-rest";
        cluster.topic("orders", 6);
        Member one = classic(cluster, group, "one");
        classic(cluster, group, "two").awaitPartitions(3).commit().close();
        modern(cluster, group, "two").awaitPartitions(3).commit().close();
        one.close();
    }

    /** KAFKA-21582: a member has joined, but not all have joined again. It gets nothing until the next epoch. */
    static void inRebalance(Cluster cluster) throws Exception {
        String group = "upgraded-in-rebalance";
        cluster.topic("orders", 6);
        Member one = classic(cluster, group, "one");
        Member two = classic(cluster, group, "two").awaitPartitions(3).commit();
        one.awaitPartitions(3);
        two.close();
        CountDownLatch isUpgraded = new CountDownLatch(1);
        Thread busy = new Thread(() -> waitOnItsThread(one, isUpgraded));
        busy.start();
        Member late = Member.classic(cluster, group, UPGRADABLE, Map.of(), "orders");
        Cluster.until("the group waits for a member", () -> cluster.admin.listGroups().all().get().stream()
            .anyMatch(each -> each.groupId().equals(group)
                && each.groupState().filter(GroupState.PREPARING_REBALANCE::equals).isPresent()));
        Member again = modern(cluster, group, "two").awaitPartitions(3);
        isUpgraded.countDown();
        busy.join();
        if (!late.owned().isEmpty()) {
            throw new IllegalStateException("the late member has " + late.owned());
        }
        late.close();
        again.close();
        one.close();
    }

    private static void waitOnItsThread(Member member, CountDownLatch until) {
        try {
            member.onItsThread(consumer -> {
                try {
                    until.await();
                } catch (InterruptedException interrupted) {
                    throw new IllegalStateException(interrupted);
                }
            });
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static Member classic(Cluster cluster, String group, String instance) {
        return Member.classic(cluster, group, UPGRADABLE, Map.of("group.instance.id", instance), "orders");
    }

    private static Member modern(Cluster cluster, String group, String instance) {
        return Member.modern(cluster, group, Map.of("group.instance.id", instance), "orders");
    }
}
