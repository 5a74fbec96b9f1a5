import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/** Offsets that are committed with the records made from what was read, in one transaction. */
final class TransactionActs {
    private static final TopicPartition AT = new TopicPartition("orders", 2);
    /** Which of the transactions, in order, commit. */
    private static final boolean[] COMMITS = {true, true, false, true, true};
    private static final int LONGER_THAN_THE_STORY_MS = 600_000;

    static void committedAndAborted(Stage stage) throws Exception {
        Story.Event event = stage.story.begin("transactions", "transactions");
        List<Object> transactions = new ArrayList<>();
        try (KafkaProducer<String, String> producer = producer(stage, "enricher")) {
            for (int i = 0; i < COMMITS.length; i++) {
                long offset = 10L * (i + 1);
                Map<String, Object> transaction = begun(stage, producer, "enricher", "transactional", offset);
                stage.pause(2);
                if (COMMITS[i]) {
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
                transaction.put("outcome", COMMITS[i] ? "committed" : "aborted");
                transaction.put("to_time", Story.now());
                transactions.add(transaction);
            }
        }
        event.with("group", "transactional").with("topic", AT.topic()).with("partition", AT.partition())
            .with("transactions", transactions)
            .with("offsets_after", Seen.committed(stage.cluster, "transactional"))
            .end("after each commit the marker of its producer: COMMIT, or ABORT for the one that was aborted");
    }

    static void leftOpen(Stage stage) throws Exception {
        stage.cluster.commitAsAdmin("transaction-left-open", Map.of(AT, new OffsetAndMetadata(5)));
        stage.pause(1);
        Story.Event event = stage.story.begin("transaction-left-open", "transaction_open");
        KafkaProducer<String, String> producer = producer(stage, "hanging");
        Map<String, Object> transaction = begun(stage, producer, "hanging", "transaction-left-open", 50);
        // With patience it would abort.
        producer.close(Duration.ZERO);
        event.with("group", "transaction-left-open").with("topic", AT.topic()).with("partition", AT.partition())
            .with("transaction", transaction)
            .with("offsets_after", Seen.committed(stage.cluster, "transaction-left-open"))
            .end("a transactional commit without a marker of its producer: the plain commit before it is still valid");
    }

    private static KafkaProducer<String, String> producer(Stage stage, String id) {
        KafkaProducer<String, String> producer = stage.cluster.producer(
            Map.of("transactional.id", id, "transaction.timeout.ms", LONGER_THAN_THE_STORY_MS));
        producer.initTransactions();
        return producer;
    }

    private static Map<String, Object> begun(
            Stage stage, KafkaProducer<String, String> producer, String id, String group, long offset)
            throws Exception {
        Map<String, Object> transaction = new LinkedHashMap<>();
        transaction.put("from_time", Story.now());
        producer.beginTransaction();
        producer.send(new ProducerRecord<>("enriched", "k" + offset, "v" + offset)).get();
        producer.sendOffsetsToTransaction(Map.of(AT, new OffsetAndMetadata(offset)), new ConsumerGroupMetadata(group));
        TransactionDescription said =
            Cluster.settled(() -> stage.cluster.admin.describeTransactions(Set.of(id)).description(id));
        transaction.put("transactional_id", id);
        transaction.put("producer_id", said.producerId());
        transaction.put("producer_epoch", said.producerEpoch());
        transaction.put("offset", offset);
        return transaction;
    }
}
