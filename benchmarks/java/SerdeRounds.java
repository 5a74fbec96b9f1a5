import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;
import org.apache.kafka.coordinator.group.generated.OffsetCommitKey;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;

/**
 * Kafka's own deserialisers over the records of segment files, one thread, everything in memory. It times one round
 * for each line on standard input, so that its rounds can take turns with those of another program:
 *   commits   offset commits into columns: texts into one buffer, numbers into arrays, as any program must do that
 *             hands rows on
 *   mix       every record, and the consumer protocol's payloads of classic members; results are dropped
 * Each answer is a JSON line. Arguments: segment files.
 */
public final class SerdeRounds {
    private static final int BATCH = 16_384;

    private final GroupCoordinatorRecordSerde serde = new GroupCoordinatorRecordSerde();
    private final List<byte[]> keys = new ArrayList<>();
    private final List<byte[]> values = new ArrayList<>();
    private final List<byte[]> commitKeys = new ArrayList<>();
    private final List<byte[]> commitValues = new ArrayList<>();
    // Printed at the end, so that no work can be left out as unused.
    private long sink;

    public static void main(String[] files) throws IOException {
        SerdeRounds rounds = new SerdeRounds();
        for (String file : files) {
            rounds.load(new File(file));
        }
        // The records of all rounds move out of the way of the collector once.
        System.gc();
        System.out.printf("{\"mix\": %d, \"commits\": %d}%n", rounds.keys.size(), rounds.commitKeys.size());
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String command = commands.readLine(); command != null; command = commands.readLine()) {
            rounds.answer(command);
        }
    }

    private void load(File file) throws IOException {
        try (FileRecords segment = FileRecords.open(file, false)) {
            for (RecordBatch batch : segment.batches()) {
                if (batch.isControlBatch()) {
                    continue;
                }
                for (Record record : batch) {
                    add(bytes(record.key()), record.hasValue() ? bytes(record.value()) : null);
                }
            }
        }
    }

    private void add(byte[] key, byte[] value) {
        keys.add(key);
        values.add(value);
        if (value != null && key[0] == 0 && key[1] == 1) {
            commitKeys.add(key);
            commitValues.add(value);
        }
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] copy = new byte[buffer.remaining()];
        buffer.get(copy);
        return copy;
    }

    private void answer(String command) {
        long start = System.nanoTime();
        int records = command.equals("commits") ? commits() : mix();
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.printf(Locale.ROOT, "{\"records\": %d, \"seconds\": %.6f, \"sink\": %d}%n", records, seconds, sink & 1);
        System.out.flush();
    }

    private int commits() {
        Columns columns = new Columns();
        for (int i = 0; i < commitKeys.size(); i++) {
            CoordinatorRecord record = read(commitKeys.get(i), commitValues.get(i));
            columns.put(i % BATCH, (OffsetCommitKey) record.key(), (OffsetCommitValue) record.value().message());
        }
        sink += columns.sum();
        return commitKeys.size();
    }

    private int mix() {
        long sum = 0;
        for (int i = 0; i < keys.size(); i++) {
            CoordinatorRecord record = read(keys.get(i), values.get(i));
            ApiMessage value = record.value() == null ? null : record.value().message();
            if (value instanceof OffsetCommitValue) {
                OffsetCommitValue commit = (OffsetCommitValue) value;
                sum += commit.offset() + commit.metadata().length();
            } else if (value instanceof GroupMetadataValue) {
                sum += payloads((GroupMetadataValue) value);
            } else {
                sum += System.identityHashCode(record.key().getClass());
            }
        }
        sink += sum;
        return keys.size();
    }

    private static long payloads(GroupMetadataValue group) {
        long sum = 0;
        for (GroupMetadataValue.MemberMetadata member : group.members()) {
            sum += ConsumerProtocol.deserializeConsumerProtocolSubscription(ByteBuffer.wrap(member.subscription()))
                .topics().size();
            sum += ConsumerProtocol.deserializeConsumerProtocolAssignment(ByteBuffer.wrap(member.assignment()))
                .assignedPartitions().size();
        }
        return sum;
    }

    private CoordinatorRecord read(byte[] key, byte[] value) {
        return serde.deserialize(ByteBuffer.wrap(key), value == null ? null : ByteBuffer.wrap(value));
    }

    /** A batch of commits by column; its buffers are used again for the next batch. */
    private static final class Columns {
        private byte[] text = new byte[1 << 20];
        private int used;
        private final int[][] ints = new int[5][BATCH];
        private final long[][] longs = new long[4][BATCH];

        void put(int row, OffsetCommitKey key, OffsetCommitValue value) {
            if (row == 0) {
                used = 0;
            }
            ints[0][row] = append(key.group());
            ints[1][row] = append(key.topic());
            ints[2][row] = append(value.metadata());
            ints[3][row] = key.partition();
            ints[4][row] = value.leaderEpoch();
            longs[0][row] = value.offset();
            longs[1][row] = value.commitTimestamp();
            longs[2][row] = value.topicId().getMostSignificantBits();
            longs[3][row] = value.topicId().getLeastSignificantBits();
        }

        private int append(String string) {
            byte[] bytes = string.getBytes(StandardCharsets.UTF_8);
            if (used + bytes.length > text.length) {
                text = Arrays.copyOf(text, 2 * (used + bytes.length));
            }
            System.arraycopy(bytes, 0, text, used, bytes.length);
            used += bytes.length;
            return used;
        }

        long sum() {
            return ints[0][0] + longs[0][0] + text[0];
        }
    }
}
