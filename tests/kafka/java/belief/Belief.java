import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Utils;

/** What a broker that has just loaded a log believes of its groups: {@code Belief BOOTSTRAP FILE PARTITIONS}. */
final class Belief {
    public static void main(String[] arguments) throws Exception {
        int code = 1;
        try (Cluster cluster = new Cluster(arguments[0]); Story story = new Story(Path.of(arguments[1]))) {
            awaitLoaded(cluster, Integer.parseInt(arguments[2]));
            Look look = new Look(cluster);
            for (Map.Entry<String, GroupType> group : look.groups().entrySet()) {
                story.write(look.at(group.getKey(), group.getValue()));
            }
            code = 0;
        } catch (Exception failure) {
            failure.printStackTrace();
        }
        System.exit(code);
    }

    /** A list of groups would pass over partitions without a leader: each must answer for a group that nobody has. */
    private static void awaitLoaded(Cluster cluster, int partitions) throws Exception {
        Map<TopicPartition, OffsetSpec> all = new HashMap<>();
        for (int i = 0; i < partitions; i++) {
            all.put(new TopicPartition("__consumer_offsets", i), OffsetSpec.latest());
        }
        Cluster.settled(() -> cluster.admin.listOffsets(all).all());
        for (int i = 0; i < partitions; i++) {
            cluster.offsetsOf(nobodyIn(i, partitions));
        }
    }

    private static String nobodyIn(int partition, int partitions) {
        int number = 0;
        while (Utils.abs(("nobody-" + number).hashCode()) % partitions != partition) {
            number++;
        }
        return "nobody-" + number;
    }
}
