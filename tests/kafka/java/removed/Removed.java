import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicPartition;

/**
 * Offsets that are removed in all ways but expiry: {@code Removed BOOTSTRAP}. It prints a line when all are committed,
 * waits for one, removes them and prints another line; after one more it ends.
 */
final class Removed {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final TopicPartition SECOND = new TopicPartition("orders", 1);
    private static final TopicPartition DOOMED = new TopicPartition("doomed", 0);

    public static void main(String[] arguments) {
        int code = 1;
        try (Cluster cluster = new Cluster(arguments[0])) {
            play(cluster);
            code = 0;
        } catch (Exception failure) {
            failure.printStackTrace();
        }
        // Without hooks: members stay members.
        Runtime.getRuntime().halt(code);
    }

    private static void play(Cluster cluster) throws Exception {
        cluster.topic("orders", 2);
        cluster.topic("payments", 1);
        cluster.topic("doomed", 1);
        Map<TopicPartition, OffsetAndMetadata> both =
            Map.of(FIRST, new OffsetAndMetadata(1), SECOND, new OffsetAndMetadata(1));
        for (String group : List.of("simple", "classic", "consumer", "whole", "of-doomed")) {
            cluster.commitAsAdmin(group, both);
        }
        cluster.commitAsAdmin("of-doomed", Map.of(DOOMED, new OffsetAndMetadata(1)));
        Member left = Member.classic(cluster, "left", new String[] {"range"}, Map.of(), "orders");
        left.awaitPartitions(2).commit().close();
        // They read another topic: the broker refuses to delete offsets of one that a member subscribes to.
        Member.classic(cluster, "classic", new String[] {"range"}, Map.of(), "payments").awaitPartitions(1);
        Member.modern(cluster, "consumer", Map.of(), "payments").awaitPartitions(1);
        Cluster.until("left is empty", () -> stateOf(cluster, "left") == GroupState.EMPTY);
        said("@committed");
        cluster.deleteOffsets("left", FIRST);
        cluster.deleteOffsets("classic", FIRST);
        cluster.deleteOffsets("simple", FIRST, SECOND);
        cluster.deleteOffsets("consumer", FIRST, SECOND);
        cluster.deleteGroup("whole");
        cluster.deleteTopic("doomed");
        Cluster.until("the offsets of the deleted topic are gone", () ->
            !cluster.offsetsOf("of-doomed").containsKey(DOOMED));
        said("@removed");
    }

    private static GroupState stateOf(Cluster cluster, String group) throws Exception {
        return cluster.admin.describeConsumerGroups(Set.of(group)).describedGroups().get(group).get().groupState();
    }

    private static void said(String line) throws Exception {
        System.out.println(line);
        System.in.read();
    }
}
