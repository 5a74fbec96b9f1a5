import java.nio.file.Files;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;

/** A group at work until the program ends. Each method returns when the group has settled. */
final class Reading {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final int COMMIT_MS = 1_000;
    private static final int SELDOM_MS = 7_000;

    private final String group;
    private final CompletableFuture<Void> failure = new CompletableFuture<>();

    private Reading(String group) {
        this.group = group;
    }

    /** One step of a loop; it may throw whatever clients throw. */
    private interface Step {
        void take() throws Exception;
    }

    private Reading loop(Step step) {
        Thread thread = new Thread(() -> {
            try {
                while (true) {
                    step.take();
                }
            } catch (Exception thrown) {
                failure.completeExceptionally(thrown);
            }
        }, group);
        thread.setDaemon(true);
        thread.start();
        return this;
    }

    void assertWell() throws Exception {
        if (failure.isDone()) {
            failure.get();
        }
    }

    static void send(Cluster cluster, String topic) throws Exception {
        try (KafkaProducer<String, String> producer = cluster.producer(Map.of())) {
            producer.send(new ProducerRecord<>(topic, 0, null, "seldom")).get();
        }
    }

    static Reading classic(Cluster cluster, String group, String assignor, int partitions, String... topics)
            throws Exception {
        Map<String, Object> settings =
            Map.of("partition.assignment.strategy", "org.apache.kafka.clients.consumer." + assignor);
        return twoMembers(cluster, group, settings, partitions, topics);
    }

    static Reading modern(Cluster cluster, String group, int partitions, String... topics) throws Exception {
        return twoMembers(cluster, group, Map.of("group.protocol", "consumer"), partitions, topics);
    }

    private static Reading twoMembers(
            Cluster cluster, String group, Map<String, Object> more, int partitions, String... topics)
            throws Exception {
        Map<String, Object> settings = new HashMap<>(more);
        settings.put("enable.auto.commit", true);
        settings.put("auto.commit.interval.ms", COMMIT_MS);
        // The second one knocks before the first round is over: as two processes that start together.
        List<Member> members = IntStream.range(0, 2).mapToObj(each -> {
            Map<String, Object> own = cluster.consumerSettings(group, settings);
            own.put("client.id", group + "-" + each);
            return new Member(own, consumer -> consumer.subscribe(Set.of(topics)));
        }).toList();
        Cluster.until(group + " has settled", () ->
            members.stream().allMatch(member -> !member.owned().isEmpty())
                && members.stream().mapToInt(member -> member.owned().size()).sum() == partitions);
        return new Reading(group);
    }

    /** Commits every few seconds only. */
    static Reading seldom(Cluster cluster, String group, String topic) throws Exception {
        Map<String, Object> settings = Map.of("enable.auto.commit", true, "auto.commit.interval.ms", SELDOM_MS);
        Member member = new Member(cluster.consumerSettings(group, settings), each -> each.subscribe(Set.of(topic)));
        member.awaitPartitions(3);
        return new Reading(group);
    }

    /** Commits what it read, and nothing while nothing comes. */
    static Reading idle(Cluster cluster, String group, String topic) throws Exception {
        KafkaConsumer<String, String> consumer = new KafkaConsumer<>(cluster.consumerSettings(group, Map.of()));
        consumer.subscribe(Set.of(topic));
        Reading reading = new Reading(group).loop(() -> {
            if (!consumer.poll(POLL).isEmpty()) {
                consumer.commitSync();
            }
        });
        return reading.awaitCommits(cluster);
    }

    /** Without members: partitions are assigned by hand. */
    static Reading manual(Cluster cluster, String group, String topic) throws Exception {
        KafkaConsumer<String, String> consumer = new KafkaConsumer<>(cluster.consumerSettings(group, Map.of()));
        consumer.assign(IntStream.range(0, 3).mapToObj(each -> new TopicPartition(topic, each)).toList());
        Reading reading = new Reading(group).loop(() -> {
            consumer.poll(POLL);
            Thread.sleep(COMMIT_MS);
            consumer.commitSync();
        });
        return reading.awaitCommits(cluster);
    }

    /** Reads, writes and commits in one transaction after the other. */
    static Reading transactional(Cluster cluster, String group, String from, String to) throws Exception {
        KafkaConsumer<String, String> consumer = new KafkaConsumer<>(cluster.consumerSettings(group, Map.of()));
        consumer.subscribe(Set.of(from));
        KafkaProducer<String, String> producer = cluster.producer(Map.of("transactional.id", group));
        producer.initTransactions();
        Reading reading = new Reading(group).loop(() -> {
            var records = consumer.poll(POLL);
            if (!records.isEmpty()) {
                producer.beginTransaction();
                records.forEach(record -> producer.send(new ProducerRecord<>(to, record.value())));
                Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
                records.partitions().forEach(each -> offsets.put(each, new OffsetAndMetadata(consumer.position(each))));
                producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
                producer.commitTransaction();
            }
        });
        return reading.awaitCommits(cluster);
    }

    static Reading share(Cluster cluster, String group, String topic) {
        Map<String, Object> settings = cluster.consumerSettings(group, Map.of());
        settings.keySet().removeAll(Set.of("auto.offset.reset", "enable.auto.commit"));
        KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(settings);
        consumer.subscribe(Set.of(topic));
        return new Reading(group).loop(() -> consumer.poll(POLL));
    }

    static Reading streams(Cluster cluster, String group, String protocol, String guarantee) throws Exception {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("orders").to("copies");
        KafkaStreams streams = new KafkaStreams(builder.build(), cluster.properties(Map.of(
            "application.id", group,
            "group.protocol", protocol,
            "processing.guarantee", guarantee,
            "commit.interval.ms", COMMIT_MS,
            "auto.offset.reset", "earliest",
            "state.dir", Files.createTempDirectory(group).toString(),
            "default.key.serde", Serdes.StringSerde.class,
            "default.value.serde", Serdes.StringSerde.class)));
        Reading reading = new Reading(group);
        streams.setUncaughtExceptionHandler(thrown -> {
            reading.failure.completeExceptionally(thrown);
            return org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler
                .StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        streams.start();
        return reading.awaitCommits(cluster);
    }

    private Reading awaitCommits(Cluster cluster) throws Exception {
        Cluster.until(group + " has committed", () -> {
            assertWell();
            return !cluster.offsetsOf(group).isEmpty();
        });
        return this;
    }
}
