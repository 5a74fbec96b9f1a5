import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URL;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.jar.JarFile;
import org.apache.kafka.common.protocol.ApiMessage;

/**
 * Writes `COUNT` random values of each record type and version that the release on the classpath has classes for, and
 * some tombstones.
 *
 * Arguments: SEED COUNT [CLASSPATH of each later release]…. One JSON line a record: its bytes in hex, and what Kafka says
 * that they are. Bytes that a later release would take for something else are drawn again, since no reader can tell
 * who wrote them.
 */
public final class RecordOracle {
    private static final String PACKAGE = "org/apache/kafka/coordinator/group/generated/";
    private static final int VALUES_PER_TOMBSTONE = 10;

    private final RandomValues values;
    private final List<NewerRelease> newer = new ArrayList<>();
    private final OutputStream out;
    private final ObjectMapper mapper = new ObjectMapper();

    private RecordOracle(long seed, OutputStream out) {
        this.values = new RandomValues(seed);
        this.out = out;
    }

    public static void main(String[] arguments) throws Exception {
        try (OutputStream out = new BufferedOutputStream(System.out, 1 << 20)) {
            RecordOracle oracle = new RecordOracle(Long.parseLong(arguments[0]), out);
            for (int i = 2; i < arguments.length; i++) oracle.newer.add(new NewerRelease(arguments[i]));
            for (String name : keyClasses()) oracle.writeType(name, Integer.parseInt(arguments[1]));
        }
    }

    private static List<String> keyClasses() throws IOException, ClassNotFoundException {
        Class<?> any = Class.forName(PACKAGE.replace('/', '.') + "GroupMetadataKey");
        URL jar = any.getProtectionDomain().getCodeSource().getLocation();
        try (JarFile file = new JarFile(jar.getPath())) {
            return file.stream().map(entry -> entry.getName())
                .filter(name -> name.startsWith(PACKAGE) && name.endsWith("Key.class"))
                .map(name -> name.substring(0, name.length() - ".class".length()).replace('/', '.')).sorted().toList();
        }
    }

    private void writeType(String keyName, int count) throws ReflectiveOperationException, IOException {
        Class<?> keyClass = Class.forName(keyName);
        ApiMessage key = (ApiMessage) keyClass.getDeclaredConstructor().newInstance();
        Class<?> valueClass = Class.forName(keyName.substring(0, keyName.length() - "Key".length()) + "Value");
        ApiMessage value = (ApiMessage) valueClass.getDeclaredConstructor().newInstance();
        if (key.apiKey() >= 0) {
            // From 4.1 on a record type is an api key, and keys have version 0.
            writeVersions(keyClass, key.apiKey(), (short) 0, valueClass, value.highestSupportedVersion(), count);
            return;
        }
        // Up to 4.0 the type was the key's version. Type 0 had the value class of type 1, in version 0 alone.
        for (short type = key.lowestSupportedVersion(); type <= key.highestSupportedVersion(); type++) {
            writeVersions(keyClass, type, type, valueClass, type == 0 ? 0 : value.highestSupportedVersion(), count);
        }
    }

    private void writeVersions(
        Class<?> keyClass, short type, short keyVersion, Class<?> valueClass, int lastVersion, int count
    ) throws ReflectiveOperationException, IOException {
        for (short version = 0; version <= lastVersion; version++) {
            for (int i = 0; i < count; i++) writeRecord(keyClass, type, keyVersion, valueClass, version);
        }
        int tombstones = count / VALUES_PER_TOMBSTONE;
        for (int i = 0; i < tombstones; i++) writeRecord(keyClass, type, keyVersion, null, (short) -1);
    }

    private void writeRecord(Class<?> keyClass, short type, short keyVersion, Class<?> valueClass, short version)
        throws ReflectiveOperationException, IOException {
        values.startMessage();
        GeneratedMessage key = GeneratedMessage.random(keyClass, keyVersion, values);
        ObjectNode line = new ObjectNode(JsonNodeFactory.instance);
        line.put("record_type", type).put("key_bytes", prefixed(type, key.bytes())).set("key", key.json());
        if (valueClass != null) {
            GeneratedMessage value;
            do {
                value = GeneratedMessage.random(valueClass, version, values);
            } while (isReadOtherwise(valueClass, value));
            line.put("value_version", version).put("value_bytes", prefixed(version, value.bytes()));
            line.set("value", value.json());
            line.put("unknown_tags", value.unknownTags);
        }
        out.write(mapper.writeValueAsBytes(line));
        out.write('\n');
    }

    private boolean isReadOtherwise(Class<?> type, GeneratedMessage value) throws ReflectiveOperationException {
        if (newer.isEmpty()) return false;
        byte[] bytes = value.bytes();
        String json = value.json().toString();
        for (NewerRelease release : newer) {
            if (release.readsOtherwise(type.getName(), value.version, bytes, json)) return true;
        }
        return false;
    }

    private static String prefixed(short prefix, byte[] bytes) {
        return HexFormat.of().formatHex(ByteBuffer.allocate(2 + bytes.length).putShort(prefix).put(bytes).array());
    }
}
