import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.message.ConsumerProtocolAssignment;
import org.apache.kafka.common.message.ConsumerProtocolSubscription;

/**
 * Writes `COUNT` random payloads of each protocol, part and version that clients put into members of classic groups.
 *
 * Arguments: SEED COUNT. One JSON line a payload: its bytes in hex, and what Kafka's clients say that they are.
 */
public final class PayloadOracle {
    private static final short NEWEST_CONSUMER_PROTOCOL = 3;

    interface Draw {
        /** The bytes of a payload, and their meaning put into `value`. */
        byte[] draw(ObjectNode value) throws ReflectiveOperationException;
    }

    private final RandomValues values;
    private final int count;
    private final OutputStream out;
    private final ObjectMapper mapper = new ObjectMapper();

    private PayloadOracle(long seed, int count, OutputStream out) {
        this.values = new RandomValues(seed);
        this.count = count;
        this.out = out;
    }

    public static void main(String[] arguments) throws Exception {
        try (OutputStream out = new BufferedOutputStream(System.out, 1 << 20)) {
            new PayloadOracle(Long.parseLong(arguments[0]), Integer.parseInt(arguments[1]), out).write();
        }
    }

    private void write() throws ReflectiveOperationException, IOException {
        for (int version = 0; version <= NEWEST_CONSUMER_PROTOCOL + 1; version++) {
            short written = (short) version;
            String form = version > NEWEST_CONSUMER_PROTOCOL ? "above" : "" + version;
            Draw subscription = value -> consumer(ConsumerProtocolSubscription.class, written, value);
            Draw assignment = value -> consumer(ConsumerProtocolAssignment.class, written, value);
            write("consumer", "range", "subscription", form, subscription);
            write("consumer", "range", "assignment", form, assignment);
        }
        StickyPayloads sticky = new StickyPayloads(values);
        writeUserData("sticky", "subscription", "V1", sticky::newest);
        writeUserData("sticky", "subscription", "V0", sticky::oldest);
        writeUserData("cooperative-sticky", "subscription", "V0", sticky::cooperative);
        StreamsPayloads streams = new StreamsPayloads(values);
        for (int version = 1; version <= StreamsPayloads.NEWEST; version++) {
            int written = version;
            writeUserData("stream", "subscription", "" + version, value -> streams.subscription(written, value));
            writeUserData("stream", "assignment", "" + version, value -> streams.assignment(written, value));
        }
        ConnectPayloads connect = new ConnectPayloads(values);
        String[] protocols = {"default", "compatible", "sessioned"};
        for (short version = 0; version < protocols.length; version++) {
            short written = version;
            String protocol = protocols[version], form = "" + version;
            write("connect", protocol, "subscription", form, value -> connect.workerState(written, value));
            write("connect", protocol, "assignment", form, value -> connect.assignment(written, value));
        }
    }

    private byte[] consumer(Class<?> type, short version, ObjectNode value) throws ReflectiveOperationException {
        boolean isAbove = version > NEWEST_CONSUMER_PROTOCOL;
        GeneratedMessage drawn = GeneratedMessage.random(type, isAbove ? NEWEST_CONSUMER_PROTOCOL : version, values);
        short later = values.oneIn(3) ? Short.MAX_VALUE : (short) (version + values.random.nextInt(300));
        short written = isAbove ? later : version;
        value.put("version", written).setAll((ObjectNode) drawn.json());
        // Later versions may only append, so a reader of version 3 leaves what follows alone.
        byte[] tail = isAbove ? values.bytes() : new byte[0];
        byte[] bytes = drawn.bytes();
        return ByteBuffer.allocate(2 + bytes.length + tail.length).putShort(written).put(bytes).put(tail).array();
    }

    private void writeUserData(String protocol, String part, String form, Draw draw)
        throws ReflectiveOperationException, IOException {
        write("user_data", protocol, part, form, draw);
    }

    private void write(String protocolType, String protocol, String part, String form, Draw draw)
        throws ReflectiveOperationException, IOException {
        for (int i = 0; i < count; i++) {
            values.startMessage();
            ObjectNode line = new ObjectNode(JsonNodeFactory.instance);
            line.put("protocol_type", protocolType).put("protocol", protocol).put("part", part).put("form", form);
            ObjectNode value = new ObjectNode(JsonNodeFactory.instance);
            line.put("bytes", HexFormat.of().formatHex(draw.draw(value))).set("value", value);
            out.write(mapper.writeValueAsBytes(line));
            out.write('\n');
        }
    }
}
