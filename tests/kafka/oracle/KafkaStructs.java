import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BinaryNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Struct;

/** Reads bytes by a schema that a client wrote by hand, and prints what was read, in the order of the bytes. */
final class KafkaStructs {
    private KafkaStructs() {}

    /** A schema that its class keeps to itself. */
    static Schema schema(Class<?> owner, String name) throws ReflectiveOperationException {
        java.lang.reflect.Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return (Schema) field.get(null);
    }

    static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    /** Prints what the schemas read one after the other, which must be every byte. */
    static void print(byte[] bytes, ObjectNode into, Schema... schemas) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        for (Schema schema : schemas) print((Struct) schema.read(buffer), into);
        if (buffer.hasRemaining()) throw new IllegalStateException(buffer.remaining() + " bytes are left unread");
    }

    private static void print(Struct struct, ObjectNode into) {
        for (BoundField field : struct.schema().fields()) {
            Object value = struct.get(field);
            if (value instanceof Object[] elements) {
                ArrayNode array = into.putArray(field.def.name);
                for (Object element : elements) {
                    if (element instanceof Struct nested) print(nested, array.addObject());
                    else array.add((Integer) element);
                }
            } else if (value instanceof ByteBuffer embedded) {
                into.set(field.def.name, new BinaryNode(bytes(embedded)));
            } else {
                into.putPOJO(field.def.name, value);
            }
        }
    }
}
