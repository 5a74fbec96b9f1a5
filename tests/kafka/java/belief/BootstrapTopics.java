import java.lang.reflect.Constructor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.metadata.bootstrap.BootstrapDirectory;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/**
 * Gives a node that was formatted and never started topics with ids of our choice: {@code BootstrapTopics FOLDER LIST},
 * a line of the list being name, id and number of partitions. What a log says by topic ids then means something.
 */
final class BootstrapTopics {
    private static final byte TOPIC = 2;
    private static final short DIRECTORIES = 1;

    public static void main(String[] arguments) throws Exception {
        BootstrapDirectory directory = directory(arguments[0]);
        BootstrapMetadata formatted = directory.read();
        List<ApiMessageAndVersion> records = new ArrayList<>(formatted.records());
        for (String line : Files.readAllLines(Path.of(arguments[1]))) {
            String[] words = line.split(" ");
            addTopic(records, words[0], Uuid.fromString(words[1]), Integer.parseInt(words[2]));
        }
        Files.delete(Path.of(arguments[0], "bootstrap.checkpoint"));
        directory.writeBinaryFile(BootstrapMetadata.fromRecords(records, "topics"));
    }

    /** Its arguments differ from release to release. */
    private static BootstrapDirectory directory(String folder) throws Exception {
        Constructor<?> made = BootstrapDirectory.class.getConstructors()[0];
        Object directory =
            made.getParameterCount() == 1 ? made.newInstance(folder) : made.newInstance(folder, Optional.empty());
        return (BootstrapDirectory) directory;
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
