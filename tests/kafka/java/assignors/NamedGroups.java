import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.common.GroupState;

/**
 * Groups on a broker whose {@code uniform} is {@code NamedUniform}: {@code NamedGroups BOOTSTRAP SNAPSHOTS}. Each gets
 * three members, one after the other, and loses one; then the broker is to be stopped.
 */
final class NamedGroups {
    private static final String FEW = "few";
    private static final String MANY = "many";
    private static final Map<String, Integer> TOPICS = Map.of(FEW, 6, MANY, 8);
    private static final Map<String, Object> UNIFORM = Map.of("group.remote.assignor", "uniform");
    private static final Map<String, Object> RANGE = Map.of("group.remote.assignor", "range");

    private final Cluster cluster;
    private final String group;
    private final List<Member> members = new ArrayList<>();

    private NamedGroups(Cluster cluster, String group) {
        this.cluster = cluster;
        this.group = group;
    }

    public static void main(String[] arguments) {
        int code = 1;
        try (Cluster cluster = new Cluster(arguments[0]);
                Snapshots snapshots = new Snapshots(cluster, Path.of(arguments[1]))) {
            cluster.topic(FEW, TOPICS.get(FEW));
            cluster.topic(MANY, TOPICS.get(MANY));
            snapshots.take();
            CompletableFuture.allOf(
                lived(cluster, "turns-asked", UNIFORM, FEW),
                lived(cluster, "turns-also-asked", UNIFORM, FEW),
                lived(cluster, "turns-default", Map.of(), FEW),
                lived(cluster, "swapped-asked", UNIFORM, MANY),
                lived(cluster, "swapped-default", Map.of(), MANY),
                lived(cluster, "normal-few", RANGE, FEW),
                lived(cluster, "normal-many", RANGE, MANY)).join();
            snapshots.take();
            code = 0;
        } catch (Exception failure) {
            failure.printStackTrace();
        }
        // Without hooks: whoever is a member stays one.
        Runtime.getRuntime().halt(code);
    }

    private static CompletableFuture<Void> lived(Cluster cluster, String group, Map<String, Object> more, String topic) {
        return CompletableFuture.runAsync(() -> {
            try {
                new NamedGroups(cluster, group).live(more, topic);
            } catch (Exception failure) {
                throw new IllegalStateException(group, failure);
            }
        }, task -> new Thread(task).start());
    }

    private void live(Map<String, Object> more, String topic) throws Exception {
        for (int i = 0; i < 3; i++) {
            members.add(Member.modern(cluster, group, more, topic));
            awaitAll(TOPICS.get(topic));
        }
        members.remove(0).close();
        awaitAll(TOPICS.get(topic));
    }

    private void awaitAll(int partitions) throws Exception {
        Cluster.until(group + " has assigned everything", () -> {
            if (members.stream().mapToInt(each -> each.owned().size()).sum() != partitions) {
                return false;
            }
            ConsumerGroupDescription now = cluster.admin.describeConsumerGroups(List.of(group)).all().get().get(group);
            return now.groupState() == GroupState.STABLE && now.members().size() == members.size();
        });
    }
}
