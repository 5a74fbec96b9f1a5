import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;

/** Offsets that are committed inside a producer's transaction. */
final class Transactions {
    private static final TopicPartition AT = new TopicPartition("orders", 2);

    static void committedAndAborted(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        try (KafkaProducer<String, String> producer = begun(cluster, "outcomes", Map.of())) {
            send(producer, "transactional", 1);
            producer.commitTransaction();
            producer.beginTransaction();
            send(producer, "transactional", 2);
            producer.abortTransaction();
            producer.beginTransaction();
            send(producer, "transactional", 3);
            producer.commitTransaction();
        }
    }

    /** Two producers and a plain commit; the markers come in another order than the data. */
    static void interleaved(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        try (KafkaProducer<String, String> first = begun(cluster, "interleaved-1", Map.of());
                KafkaProducer<String, String> second = begun(cluster, "interleaved-2", Map.of())) {
            send(first, "interleaved", 1);
            send(second, "interleaved", 2);
            second.commitTransaction();
            first.commitTransaction();
            first.beginTransaction();
            send(first, "interleaved", 3);
            cluster.commitAsAdmin("interleaved", Map.of(AT, new OffsetAndMetadata(4)));
            first.commitTransaction();
        }
    }

    /** The offset is deleted while a transaction that commits it again is open. */
    static void deletedInBetween(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        cluster.commitAsAdmin("deleted-in-between", Map.of(AT, new OffsetAndMetadata(1)));
        try (KafkaProducer<String, String> producer = begun(cluster, "deleted-in-between", Map.of())) {
            send(producer, "deleted-in-between", 2);
            cluster.deleteOffsets("deleted-in-between", AT);
            producer.commitTransaction();
        }
    }

    /** Nobody ends it but the transaction coordinator. */
    static void timedOut(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        KafkaProducer<String, String> producer = begun(cluster, "timed-out", Map.of("transaction.timeout.ms", 1000));
        send(producer, "transaction-timed-out", 1);
        Cluster.until("the coordinator aborted", () ->
            cluster.admin.describeTransactions(Set.of("timed-out")).description("timed-out").get()
                .state().toString().equals("CompleteAbort"));
        producer.close(Duration.ZERO);
    }

    static void leftOpen(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        KafkaProducer<String, String> producer = begun(cluster, "left-open", Map.of("transaction.timeout.ms", 600_000));
        send(producer, "transaction-left-open", 1);
        // With patience it would abort.
        producer.close(Duration.ZERO);
    }

    /**
     * The topic is deleted and created again. From 4.4 on a producer that knows the topic itself sends its id, others
     * do not.
     */
    static void ofRenewedTopic(Cluster cluster) throws Exception {
        for (int life = 0; life < 2; life++) {
            if (life > 0) {
                cluster.deleteTopic("renewed");
                Cluster.until("the offsets of the deleted topic are gone", () -> cluster.offsetsOf("of-renewed").isEmpty());
            }
            cluster.topic("renewed", 3);
            for (boolean isKnown : new boolean[] {true, false, true}) {
                try (KafkaProducer<String, String> producer = begun(cluster, "of-renewed", Map.of())) {
                    if (isKnown) {
                        producer.partitionsFor("renewed");
                    }
                    commitAll(producer, life);
                    producer.commitTransaction();
                }
            }
            cluster.commitAsAdmin("of-renewed", Map.of(new TopicPartition("renewed", 2), new OffsetAndMetadata(2)));
        }
    }

    private static void commitAll(KafkaProducer<String, String> producer, long offset) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (int partition = 0; partition < 3; partition++) {
            offsets.put(new TopicPartition("renewed", partition), new OffsetAndMetadata(offset));
        }
        producer.sendOffsetsToTransaction(offsets, new ConsumerGroupMetadata("of-renewed"));
    }

    private static KafkaProducer<String, String> begun(Cluster cluster, String id, Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.put("transactional.id", id);
        KafkaProducer<String, String> producer = cluster.producer(settings);
        producer.initTransactions();
        producer.beginTransaction();
        return producer;
    }

    private static void send(KafkaProducer<String, String> producer, String group, long offset) {
        producer.sendOffsetsToTransaction(Map.of(AT, new OffsetAndMetadata(offset)), new ConsumerGroupMetadata(group));
    }
}
