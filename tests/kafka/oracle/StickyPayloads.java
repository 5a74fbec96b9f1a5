import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Struct;

/** User data as the sticky assignors write it into their next subscription. */
final class StickyPayloads {
    private final RandomValues values;

    StickyPayloads(RandomValues values) {
        this.values = values;
    }

    byte[] newest(ObjectNode value) throws ReflectiveOperationException {
        StickyAssignor assignor = new StickyAssignor();
        List<TopicPartition> owned = new ArrayList<>();
        int topics = values.count(false);
        for (int i = 0; i < topics; i++) {
            String topic = values.text();
            for (int n = values.count(true); n > 0; n--) owned.add(new TopicPartition(topic, (int) values.integer(32)));
        }
        assignor.onAssignment(new Assignment(owned), group());
        byte[] bytes = KafkaStructs.bytes(assignor.subscriptionUserData(Set.of()));
        KafkaStructs.print(bytes, value, KafkaStructs.schema(StickyAssignor.class, "STICKY_ASSIGNOR_USER_DATA_V1"));
        return bytes;
    }

    /** The clients of today only read this one. */
    byte[] oldest(ObjectNode value) throws ReflectiveOperationException {
        Schema schema = KafkaStructs.schema(StickyAssignor.class, "STICKY_ASSIGNOR_USER_DATA_V0");
        Schema perTopic = KafkaStructs.schema(StickyAssignor.class, "TOPIC_ASSIGNMENT");
        Object[] topics = new Object[values.count(false)];
        for (int i = 0; i < topics.length; i++) {
            Object[] partitions = new Object[values.count(true)];
            for (int n = 0; n < partitions.length; n++) partitions[n] = (int) values.integer(32);
            topics[i] = new Struct(perTopic).set("topic", values.text()).set("partitions", partitions);
        }
        Struct struct = new Struct(schema).set("previous_assignment", topics);
        ByteBuffer buffer = ByteBuffer.allocate(schema.sizeOf(struct));
        schema.write(buffer, struct);
        KafkaStructs.print(buffer.array(), value, schema);
        return buffer.array();
    }

    byte[] cooperative(ObjectNode value) throws ReflectiveOperationException {
        CooperativeStickyAssignor assignor = new CooperativeStickyAssignor();
        if (!values.oneIn(10)) assignor.onAssignment(new Assignment(List.of()), group());
        byte[] bytes = KafkaStructs.bytes(assignor.subscriptionUserData(Set.of()));
        Class<?> owner = CooperativeStickyAssignor.class;
        KafkaStructs.print(bytes, value, KafkaStructs.schema(owner, "COOPERATIVE_STICKY_ASSIGNOR_USER_DATA_V0"));
        return bytes;
    }

    private ConsumerGroupMetadata group() {
        return new ConsumerGroupMetadata("group", (int) values.integer(32), "member", Optional.empty());
    }
}
