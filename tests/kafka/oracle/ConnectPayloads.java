import static org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeConnectProtocol.ALLOCATION_V1;
import static org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeConnectProtocol.ASSIGNMENT_V1;
import static org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeConnectProtocol.CONFIG_STATE_V1;
import static org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeConnectProtocol.serializeAssignment;
import static org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeConnectProtocol.serializeMetadata;

import com.fasterxml.jackson.databind.node.BinaryNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.connect.runtime.distributed.ConnectProtocol;
import org.apache.kafka.connect.runtime.distributed.ExtendedAssignment;
import org.apache.kafka.connect.runtime.distributed.ExtendedWorkerState;
import org.apache.kafka.connect.util.ConnectorTaskId;

/** What Connect's workers put into their subscriptions and assignments: version 0 eager, 1 compatible, 2 sessioned. */
final class ConnectPayloads {
    private static final Schema HEADER = ConnectProtocol.CONNECT_PROTOCOL_HEADER_SCHEMA;
    private final RandomValues values;

    ConnectPayloads(RandomValues values) {
        this.values = values;
    }

    byte[] workerState(short version, ObjectNode value) {
        String url = values.text();
        long offset = values.integer(64);
        ByteBuffer written = version == 0
            ? ConnectProtocol.serializeMetadata(new ConnectProtocol.WorkerState(url, offset))
            : serializeMetadata(new ExtendedWorkerState(url, offset, allocation(version)), version == 2);
        byte[] bytes = KafkaStructs.bytes(written);
        if (version == 0) KafkaStructs.print(bytes, value, HEADER, ConnectProtocol.CONFIG_STATE_V0);
        else printWithAllocation(bytes, value);
        return bytes;
    }

    /** The allocation is an assignment of its own, with its own header. */
    private static void printWithAllocation(byte[] bytes, ObjectNode value) {
        KafkaStructs.print(bytes, value, HEADER, CONFIG_STATE_V1, ALLOCATION_V1);
        if (value.get("allocation") instanceof BinaryNode allocation) {
            KafkaStructs.print(allocation.binaryValue(), value.putObject("allocation"), HEADER, ASSIGNMENT_V1);
        }
    }

    byte[] assignment(short version, ObjectNode value) {
        ByteBuffer written = version == 0
            ? ConnectProtocol.serializeAssignment(new ConnectProtocol.Assignment(
                error(), values.text(), values.text(), values.integer(64), connectors(), tasks()))
            : serializeAssignment(extended(version), version == 2);
        byte[] bytes = KafkaStructs.bytes(written);
        KafkaStructs.print(bytes, value, HEADER, version == 0 ? ConnectProtocol.ASSIGNMENT_V0 : ASSIGNMENT_V1);
        return bytes;
    }

    private ExtendedAssignment allocation(short version) {
        return values.oneIn(4) ? ExtendedAssignment.empty() : extended(version);
    }

    private ExtendedAssignment extended(short version) {
        return new ExtendedAssignment(version, error(), values.text(), values.text(), values.integer(64),
            connectors(), tasks(), connectors(), tasks(), (int) values.integer(32));
    }

    private short error() {
        return values.oneIn(2) ? ConnectProtocol.Assignment.CONFIG_MISMATCH : (short) values.integer(16);
    }

    private List<String> connectors() {
        List<String> drawn = new ArrayList<>();
        for (int n = values.count(false); n > 0; n--) drawn.add(values.text());
        return drawn;
    }

    private List<ConnectorTaskId> tasks() {
        List<ConnectorTaskId> drawn = new ArrayList<>();
        for (int n = values.count(false); n > 0; n--) {
            String connector = values.text();
            for (int tasks = values.count(false); tasks >= 0; tasks--) {
                drawn.add(new ConnectorTaskId(connector, (int) values.integer(32)));
            }
        }
        return drawn;
    }
}
