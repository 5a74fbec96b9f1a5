import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/**
 * Gives a node that was formatted and never started topics with ids of our choice: {@code BootstrapTopics FOLDER LIST},
 * a line of the list being name, id and number of partitions. What a log says by topic ids then means something.
 */
final class BootstrapTopics {
    private static final byte TOPIC = 2;
    private static final short DIRECTORIES = 1;
    private static final short STATIC_QUORUM = 0;

    public static void main(String[] arguments) throws Exception {
        String folder = arguments[0];
        Path ownFile = Path.of(folder, "bootstrap.checkpoint");
        Path snapshot = Path.of(folder, "__cluster_metadata-0", "00000000000000000000-0000000000.checkpoint");
        boolean hasOwnFile = Files.exists(ownFile);
        Object place = hasOwnFile ? directory(folder) : snapshot;
        List<ApiMessageAndVersion> records = new ArrayList<>(formatted(place).records());
        for (String line : Files.readAllLines(Path.of(arguments[1]))) {
            String[] words = line.split(" ");
            addTopic(records, words[0], Uuid.fromString(words[1]), Integer.parseInt(words[2]));
        }
        BootstrapMetadata topics = BootstrapMetadata.fromRecords(records, "topics");
        Files.delete(hasOwnFile ? ownFile : snapshot);
        if (hasOwnFile) {
            called(place.getClass(), "writeBinaryFile").invoke(place, topics);
        } else {
            called(Formatter.class, "writeBoostrapSnapshot")
                .invoke(null, folder, topics, Optional.empty(), STATIC_QUORUM, "CONTROLLER");
        }
    }

    /** Up to 4.3 they stand in a file of their own, from 4.4 on in the first snapshot of the cluster's log. */
    private static BootstrapMetadata formatted(Object place) throws Exception {
        Object read = place instanceof Path
            ? called(BootstrapMetadata.class, "fromCheckpointFile").invoke(null, place)
            : called(place.getClass(), "read").invoke(place);
        return (BootstrapMetadata) read;
    }

    /** 4.4 has not this class any more; its arguments differ from release to release. */
    private static Object directory(String folder) throws Exception {
        Constructor<?> made =
            Class.forName("org.apache.kafka.metadata.bootstrap.BootstrapDirectory").getConstructors()[0];
        return made.getParameterCount() == 1 ? made.newInstance(folder) : made.newInstance(folder, Optional.empty());
    }

    private static Method called(Class<?> type, String name) {
        return Arrays.stream(type.getMethods()).filter(each -> each.getName().equals(name)).findFirst().orElseThrow();
    }

    private static void addTopic(List<ApiMessageAndVersion> records, String name, Uuid id, int partitions) {
        records.add(new ApiMessageAndVersion(new TopicRecord().setName(name).setTopicId(id), (short) 0));
        for (int i = 0; i < partitions; i++) {
            // Without a leader: the controller elects one when the broker comes.
            PartitionRecord partition = new PartitionRecord().setTopicId(id).setPartitionId(i)
                .setReplicas(List.of(1)).setIsr(List.of(1)).setLeader(-1).setLeaderEpoch(0).setPartitionEpoch(0)
                .setDirectories(List.of(Uuid.fromString("AAAAAAAAAAAAAAAAAAAAAA")));
            records.add(new ApiMessageAndVersion(partition, DIRECTORIES));
        }
        if (name.equals("__consumer_offsets")) {
            records.add(new ApiMessageAndVersion(new ConfigRecord().setResourceType(TOPIC).setResourceName(name)
                .setName("cleanup.policy").setValue("compact"), (short) 0));
        }
    }
}
