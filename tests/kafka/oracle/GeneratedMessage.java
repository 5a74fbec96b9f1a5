import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BinaryNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.ShortNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;

/** Fills, writes and prints Kafka's generated message classes, led by the schema that each carries for each version. */
final class GeneratedMessage {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final Map<String, Method> METHODS = new HashMap<>();

    final Message message;
    final short version;
    int unknownTags;

    private GeneratedMessage(Message message, short version) {
        this.message = message;
        this.version = version;
    }

    static GeneratedMessage random(Class<?> type, short version, RandomValues values)
        throws ReflectiveOperationException {
        GeneratedMessage drawn = new GeneratedMessage((Message) type.getDeclaredConstructor().newInstance(), version);
        drawn.fill(drawn.message, drawn.schema(), values);
        return drawn;
    }

    byte[] bytes() {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        return buffer.array();
    }

    /** Kafka's own words where it has them; our walk by getters, which serves the rest, must say the same. */
    JsonNode json() throws ReflectiveOperationException {
        JsonNode ours = print(message, schema());
        Class<?> converter;
        try {
            converter = Class.forName(message.getClass().getName() + "JsonConverter");
        } catch (ClassNotFoundException e) {
            return ours;
        }
        Method write = converter.getMethod("write", message.getClass(), short.class);
        JsonNode kafkas = (JsonNode) write.invoke(null, message, version);
        if (!kafkas.equals(ours)) throw new IllegalStateException("Kafka prints " + kafkas + ", the getters " + ours);
        return kafkas;
    }

    private Schema schema() throws ReflectiveOperationException {
        return ((Schema[]) message.getClass().getField("SCHEMAS").get(null))[version];
    }

    private void fill(Message target, Schema schema, RandomValues values) throws ReflectiveOperationException {
        for (BoundField bound : schema.fields()) {
            if (bound.def.type instanceof TaggedFields tagged) {
                for (Field field : taggedFields(tagged)) {
                    // Up to 4.0 the schema of a structure does not tell that it may be null: the one tagged may.
                    boolean isNullable = field.type.isNullable() || field.type instanceof Schema;
                    if (values.oneIn(2)) set(target, field, isNullable, values);
                }
                List<RawTaggedField> unknown = values.unknownTags();
                target.unknownTaggedFields().addAll(unknown);
                unknownTags += unknown.size();
            } else {
                set(target, bound.def, bound.def.type.isNullable(), values);
            }
        }
    }

    private void set(Message target, Field field, boolean isNullable, RandomValues values)
        throws ReflectiveOperationException {
        Method getter = method(target.getClass(), camelCase(field.name));
        Object value = isNullable && values.oneIn(4) ? null : value(field.type, getter, values);
        if (value instanceof byte[] bytes && getter.getReturnType() == ByteBuffer.class) value = ByteBuffer.wrap(bytes);
        String setter = "set" + Character.toUpperCase(getter.getName().charAt(0)) + getter.getName().substring(1);
        target.getClass().getMethod(setter, getter.getReturnType()).invoke(target, value);
    }

    private Object value(Type type, Method getter, RandomValues values) throws ReflectiveOperationException {
        if (type instanceof Schema schema) return struct(getter.getReturnType(), schema, values);
        if (!type.isArray()) return scalar(type, values);
        Type elementType = type.arrayElementType().orElseThrow();
        @SuppressWarnings("unchecked")
        Collection<Object> elements = getter.getReturnType() == List.class
            ? new ArrayList<>() : (Collection<Object>) getter.getReturnType().getDeclaredConstructor().newInstance();
        int count = values.count(elementType == Type.INT32 || elementType == Type.INT16);
        for (int i = 0; i < count; i++) {
            if (elementType instanceof Schema schema) elements.add(struct(elementClass(getter), schema, values));
            else elements.add(scalar(elementType, values));
        }
        return elements;
    }

    private Message struct(Class<?> type, Schema schema, RandomValues values) throws ReflectiveOperationException {
        Message struct = (Message) type.getDeclaredConstructor().newInstance();
        fill(struct, schema, values);
        return struct;
    }

    private static Class<?> elementClass(Method getter) {
        java.lang.reflect.Type declared = getter.getReturnType() == List.class
            ? getter.getGenericReturnType() : getter.getReturnType().getGenericSuperclass();
        return (Class<?>) ((ParameterizedType) declared).getActualTypeArguments()[0];
    }

    private static Object scalar(Type type, RandomValues values) {
        if (type == Type.INT8) return (byte) values.integer(8);
        if (type == Type.INT16) return (short) values.integer(16);
        if (type == Type.UINT16) return values.unsigned16();
        if (type == Type.INT32) return (int) values.integer(32);
        if (type == Type.INT64) return values.integer(64);
        if (type == Type.UUID) return values.uuid();
        if (type.toString().endsWith("STRING")) return values.text();
        if (type.toString().endsWith("BYTES")) return values.bytes();
        throw new IllegalArgumentException("a field of type " + type + " is new here");
    }

    private static ObjectNode print(Message source, Schema schema) throws ReflectiveOperationException {
        ObjectNode printed = new ObjectNode(JSON);
        for (BoundField bound : schema.fields()) {
            if (!(bound.def.type instanceof TaggedFields tagged)) {
                printed.set(camelCase(bound.def.name), print(get(source, bound.def), bound.def.type));
                continue;
            }
            Message untouched = (Message) source.getClass().getDeclaredConstructor().newInstance();
            for (Field field : taggedFields(tagged)) {
                Object value = get(source, field);
                // A tagged field that has its default is not written.
                boolean isDefault = Objects.equals(value, get(untouched, field));
                if (!isDefault) printed.set(camelCase(field.name), print(value, field.type));
            }
        }
        return printed;
    }

    private static JsonNode print(Object value, Type type) throws ReflectiveOperationException {
        if (value == null) return NullNode.instance;
        if (value instanceof Message struct) return print(struct, (Schema) type);
        if (value instanceof Collection<?> elements) {
            ArrayNode printed = new ArrayNode(JSON);
            for (Object element : elements) printed.add(print(element, type.arrayElementType().orElseThrow()));
            return printed;
        }
        if (value instanceof Byte number) return new ShortNode(number);
        if (value instanceof Short number) return new ShortNode(number);
        if (value instanceof Integer number) return new IntNode(number);
        if (value instanceof Long number) return new LongNode(number);
        if (value instanceof Uuid uuid) return new TextNode(uuid.toString());
        if (value instanceof String text) return new TextNode(text);
        if (value instanceof ByteBuffer buffer) return new BinaryNode(buffer.array());
        return new BinaryNode((byte[]) value);
    }

    /** The getter of the same name came with 4.0. */
    @SuppressWarnings("unchecked")
    private static Collection<Field> taggedFields(TaggedFields tagged) throws ReflectiveOperationException {
        java.lang.reflect.Field fields = TaggedFields.class.getDeclaredField("fields");
        fields.setAccessible(true);
        return ((Map<Integer, Field>) fields.get(tagged)).values();
    }

    private static Object get(Message source, Field field) throws ReflectiveOperationException {
        return method(source.getClass(), camelCase(field.name)).invoke(source);
    }

    private static Method method(Class<?> type, String name) throws ReflectiveOperationException {
        String key = type.getName() + '.' + name;
        Method found = METHODS.get(key);
        if (found == null) METHODS.put(key, found = type.getMethod(name));
        return found;
    }

    private static String camelCase(String snakeCase) {
        StringBuilder built = new StringBuilder();
        for (String word : snakeCase.split("_")) {
            built.append(built.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        return built.toString();
    }
}
