import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** What every scenario needs: the broker's address, an admin client, topics, clients' settings, patience. */
final class Cluster implements AutoCloseable {
    /** Long enough on a machine whose cores are all busy with other work. */
    static final Duration PATIENCE = Duration.ofSeconds(150);

    final String bootstrap;
    final Admin admin;

    Cluster(String bootstrap) {
        this.bootstrap = bootstrap;
        this.admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
    }

    @Override
    public void close() {
        admin.close();
    }

    /** A topic with a few records in each partition; one that is there already stays as it is. */
    void topic(String name, int partitions) throws Exception {
        try {
            settled(() -> admin.createTopics(Set.of(new NewTopic(name, partitions, (short) 1))).all());
        } catch (ExecutionException failure) {
            if (!(failure.getCause() instanceof TopicExistsException)) {
                throw failure;
            }
            return;
        }
        try (KafkaProducer<String, String> producer = producer(Map.of())) {
            for (int i = 0; i < 3 * partitions; i++) {
                producer.send(new ProducerRecord<>(name, i % partitions, "k" + i, "v" + i)).get();
            }
        }
    }

    void deleteTopic(String name) throws Exception {
        settled(() -> admin.deleteTopics(Set.of(name)).all());
    }

    void commitAsAdmin(String group, Map<TopicPartition, OffsetAndMetadata> offsets) throws Exception {
        settled(() -> admin.alterConsumerGroupOffsets(group, offsets).all());
    }

    void deleteOffsets(String group, TopicPartition... partitions) throws Exception {
        settled(() -> admin.deleteConsumerGroupOffsets(group, Set.of(partitions)).all());
    }

    void deleteGroup(String group) throws Exception {
        settled(() -> admin.deleteConsumerGroups(Set.of(group)).all());
    }

    Map<TopicPartition, OffsetAndMetadata> offsetsOf(String group) throws Exception {
        return admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
    }

    void configure(ConfigResource.Type kind, String name, Map<String, String> settings) throws Exception {
        List<AlterConfigOp> operations = settings.entrySet().stream()
            .map(entry -> new ConfigEntry(entry.getKey(), entry.getValue()))
            .map(entry -> new AlterConfigOp(entry, AlterConfigOp.OpType.SET))
            .toList();
        settled(() -> admin.incrementalAlterConfigs(Map.of(new ConfigResource(kind, name), operations)).all());
    }

    KafkaProducer<String, String> producer(Map<String, Object> settings) {
        Map<String, Object> all = new HashMap<>(settings);
        all.put("bootstrap.servers", bootstrap);
        return new KafkaProducer<>(all, new StringSerializer(), new StringSerializer());
    }

    Map<String, Object> consumerSettings(String group, Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(Map.of(
            "bootstrap.servers", bootstrap,
            "group.id", group,
            "auto.offset.reset", "earliest",
            "enable.auto.commit", false,
            "key.deserializer", StringDeserializer.class,
            "value.deserializer", StringDeserializer.class));
        settings.putAll(more);
        return settings;
    }

    Properties properties(Map<String, Object> settings) {
        Properties properties = new Properties();
        properties.putAll(settings);
        properties.put("bootstrap.servers", bootstrap);
        return properties;
    }

    /** Waits for an admin call, and calls again while the broker asks for that: a coordinator may be loading. */
    static <T> T settled(Callable<KafkaFuture<T>> call) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                return call.call().get();
            } catch (ExecutionException failure) {
                if (!(failure.getCause() instanceof RetriableException) || System.nanoTime() > deadline) {
                    throw failure;
                }
                Thread.sleep(50);
            }
        }
    }

    static void until(String what, Callable<Boolean> holds) throws Exception {
        until(() -> what, holds);
    }

    static void until(Supplier<String> what, Callable<Boolean> holds) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!holds.call()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("waited in vain until " + what.get());
            }
            Thread.sleep(20);
        }
    }
}
