import java.util.Map;
import org.apache.kafka.common.config.ConfigResource;

/** From 4.4 on, another assignor is a new group epoch by itself. */
final class OtherAssignors {
    /** A static member comes back and asks for another assignor, with the same subscription. */
    static void returned(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        // Else each new epoch waits a second for its target, and the member does not.
        cluster.configure(ConfigResource.Type.GROUP, "modern-other-assignor",
            Map.of("consumer.assignment.interval.ms", "0"));
        member(cluster, "uniform").awaitPartitions(6).commit().close();
        member(cluster, "range").awaitPartitions(6).commit().close();
    }

    private static Member member(Cluster cluster, String assignor) {
        Map<String, Object> settings = Map.of("group.instance.id", "only", "group.remote.assignor", assignor);
        return Member.modern(cluster, "modern-other-assignor", settings, "orders");
    }
}
