import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestPartition;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestTopic;
import org.apache.kafka.common.message.OffsetCommitResponseData;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.RequestUtils;

/** What no current Java client sends, though brokers accept it: old request versions, negative offsets. */
final class RawRequests {
    /** The newest request that can say how long the offset is to be kept. */
    static final short LAST_WITH_RETENTION = 4;
    static final long BROKERS_RETENTION = -1;

    private RawRequests() {
    }

    static void commit(Cluster cluster, short version, String group, TopicPartition at, long offset, long retentionMs)
            throws Exception {
        OffsetCommitRequestData request = new OffsetCommitRequestData()
            .setGroupId(group)
            .setTopics(List.of(new OffsetCommitRequestTopic()
                .setName(at.topic())
                .setPartitions(List.of(new OffsetCommitRequestPartition()
                    .setPartitionIndex(at.partition())
                    .setCommittedOffset(offset)
                    .setCommittedMetadata("by request v" + version)))));
        if (version <= LAST_WITH_RETENTION) {
            request.setRetentionTimeMs(retentionMs);
        }
        Cluster.until("the raw commit is accepted", () -> {
            Errors error = send(cluster, version, request);
            if (error != Errors.NONE && !(error.exception() instanceof RetriableException)) {
                throw error.exception();
            }
            return error == Errors.NONE;
        });
    }

    private static Errors send(Cluster cluster, short version, OffsetCommitRequestData request) throws Exception {
        ByteBufferAccessor answer = send(cluster, ApiKeys.OFFSET_COMMIT, version, request);
        OffsetCommitResponseData data = new OffsetCommitResponseData(answer, version);
        return Errors.forCode(data.topics().get(0).partitions().get(0).errorCode());
    }

    /** The answer's bytes behind its header. */
    static ByteBufferAccessor send(Cluster cluster, ApiKeys api, short version, ApiMessage request) throws Exception {
        String[] address = cluster.bootstrap.split(":");
        RequestHeader header = new RequestHeader(api, version, "raw", 1);
        ByteBuffer bytes = RequestUtils.serialize(header.data(), header.headerVersion(), request, version);
        try (Socket socket = new Socket(address[0], Integer.parseInt(address[1]))) {
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            out.writeInt(bytes.remaining());
            out.write(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining());
            out.flush();
            DataInputStream in = new DataInputStream(socket.getInputStream());
            ByteBuffer answer = ByteBuffer.wrap(in.readNBytes(in.readInt()));
            boolean hasTaggedFields = api.responseHeaderVersion(version) >= 1;
            answer.position(hasTaggedFields ? Integer.BYTES + 1 : Integer.BYTES);
            return new ByteBufferAccessor(answer);
        }
    }
}
