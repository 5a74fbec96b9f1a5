import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/** Lets the cleaner go over the offsets topic, which needs closed segments, and these need new records behind them. */
final class Compaction {
    private static final String TOPIC = "__consumer_offsets";
    private static final TopicPartition AT = new TopicPartition("orders", 0);
    private static final int LOG_OVERHEAD = 12;
    private static final int HEADER = 61;
    private static final int ATTRIBUTES = 21;
    private static final int DELETE_HORIZON = 27;
    private static final int RECORD_COUNT = 57;
    private static final int IS_CONTROL = 1 << 5;
    private static final int HAS_DELETE_HORIZON = 1 << 6;
    private static final long DAY_MS = 86_400_000;

    /** Until the log has markers of which nothing but the batch's header is left, and tombstones on their way out. */
    static void awaited(Cluster cluster, String logDir) throws Exception {
        cluster.topic("orders", 6);
        Map<String, String> hasty =
            Map.of("segment.ms", "100", "min.cleanable.dirty.ratio", "0", "delete.retention.ms", "0");
        cluster.configure(ConfigResource.Type.TOPIC, TOPIC, hasty);
        awaitWhileCommitting(cluster, logDir, "emptied markers", header ->
            (header.getShort(ATTRIBUTES) & IS_CONTROL) != 0 && header.getInt(RECORD_COUNT) == 0);
        // Those that the cleaner meets from now on stay: in their first pass they get a horizon in the future.
        cluster.configure(ConfigResource.Type.TOPIC, TOPIC, Map.of("delete.retention.ms", String.valueOf(DAY_MS)));
        long tomorrow = System.currentTimeMillis() + DAY_MS;
        awaitWhileCommitting(cluster, logDir, "lasting tombstones", header ->
            (header.getShort(ATTRIBUTES) & HAS_DELETE_HORIZON) != 0 && header.getLong(DELETE_HORIZON) >= tomorrow);
    }

    private static void awaitWhileCommitting(Cluster cluster, String logDir, String what, Predicate<ByteBuffer> isMet)
            throws Exception {
        int[] round = {0};
        Cluster.until("the cleaner left " + what, () -> {
            commitEverywhere(cluster, round[0]);
            // Another group each time: a later commit under the same key would take the tombstone away.
            String group = what + " " + round[0]++;
            cluster.commitAsAdmin(group, Map.of(AT, new OffsetAndMetadata(1)));
            cluster.deleteOffsets(group, AT);
            return headers(logDir).stream().anyMatch(isMet);
        });
    }

    private static void commitEverywhere(Cluster cluster, int offset) throws Exception {
        // Enough groups to meet every partition.
        for (int i = 0; i < 16; i++) {
            cluster.commitAsAdmin("churned-" + i, Map.of(AT, new OffsetAndMetadata(offset)));
        }
    }

    private static List<ByteBuffer> headers(String logDir) throws IOException {
        List<ByteBuffer> headers = new ArrayList<>();
        try (DirectoryStream<Path> partitions = Files.newDirectoryStream(Path.of(logDir), TOPIC + "-*")) {
            for (Path partition : partitions) {
                try (Stream<Path> files = Files.list(partition)) {
                    for (Path segment : files.filter(file -> file.toString().endsWith(".log")).toList()) {
                        headers.addAll(headersIn(segment));
                    }
                }
            }
        }
        return headers;
    }

    private static List<ByteBuffer> headersIn(Path segment) throws IOException {
        List<ByteBuffer> headers = new ArrayList<>();
        try {
            ByteBuffer log = ByteBuffer.wrap(Files.readAllBytes(segment));
            for (int at = 0; log.capacity() - at >= HEADER; at += LOG_OVERHEAD + log.getInt(at + 8)) {
                headers.add(log.slice(at, HEADER));
            }
        } catch (NoSuchFileException gone) {
            // The cleaner has just replaced it.
        }
        return headers;
    }
}
