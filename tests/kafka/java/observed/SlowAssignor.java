import java.util.Map;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.Cluster;

/** The range assignor, but it takes its time: meanwhile the broker says CompletingRebalance. */
public final class SlowAssignor extends RangeAssignor {
    private static final long TAKES_MS = 700;

    @Override
    public GroupAssignment assign(Cluster metadata, GroupSubscription subscriptions) {
        Pause.of(TAKES_MS);
        return super.assign(metadata, subscriptions);
    }
}
