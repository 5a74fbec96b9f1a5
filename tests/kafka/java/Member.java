import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;

/** A consumer that polls in a thread of its own, as an application does. */
final class Member implements AutoCloseable {
    private final KafkaConsumer<String, String> consumer;
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile Set<TopicPartition> assigned = Set.of();
    private volatile boolean isLeaving;

    Member(Map<String, Object> settings, Consumer<KafkaConsumer<String, String>> subscribe) {
        consumer = new KafkaConsumer<>(settings);
        Thread thread = new Thread(() -> {
            try (consumer) {
                subscribe.accept(consumer);
                while (!isLeaving) {
                    consumer.poll(Duration.ofMillis(20));
                    assigned = Set.copyOf(consumer.assignment());
                    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                        task.run();
                    }
                }
            } catch (RuntimeException failure) {
                ended.completeExceptionally(failure);
            }
            ended.complete(null);
        });
        thread.setDaemon(true);
        thread.start();
    }

    /** Of a classic group; `assignors` are names of the client library's own, first choice first. */
    static Member classic(
            Cluster cluster, String group, String[] assignors, Map<String, Object> more, String... topics) {
        Map<String, Object> settings = new HashMap<>(more);
        // A dynamic member leaves when it is closed. Only a static one has to time out, and soon.
        settings.put("session.timeout.ms", more.containsKey("group.instance.id") ? 3_000 : 30_000);
        settings.put("heartbeat.interval.ms", 100);
        settings.put("partition.assignment.strategy", Arrays.stream(assignors).map(Member::assignorClass).toList());
        return new Member(cluster.consumerSettings(group, settings), consumer -> consumer.subscribe(Set.of(topics)));
    }

    /** Of a group of the consumer protocol. */
    static Member modern(Cluster cluster, String group, Map<String, Object> more, String... topics) {
        return new Member(modernSettings(cluster, group, more), consumer -> consumer.subscribe(Set.of(topics)));
    }

    static Map<String, Object> modernSettings(Cluster cluster, String group, Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.put("group.protocol", "consumer");
        return cluster.consumerSettings(group, settings);
    }

    private static String assignorClass(String name) {
        return "org.apache.kafka.clients.consumer." + switch (name) {
            case "range" -> "RangeAssignor";
            case "roundrobin" -> "RoundRobinAssignor";
            case "sticky" -> "StickyAssignor";
            case "cooperative-sticky" -> "CooperativeStickyAssignor";
            default -> throw new IllegalArgumentException(name);
        };
    }

    Set<TopicPartition> owned() {
        return assigned;
    }

    Member awaitPartitions(int number) throws Exception {
        Cluster.until(() -> "a member has " + number + " partitions; it has " + assigned, () -> {
            if (ended.isDone()) {
                ended.get();
            }
            return assigned.size() == number;
        });
        return this;
    }

    /** Commits where the member stands, on its own thread. */
    Member commit() throws Exception {
        Cluster.until("no rebalance keeps a member from committing", () -> {
            try {
                onItsThread(Member::commitPositions);
                return true;
            } catch (ExecutionException failure) {
                if (failure.getCause() instanceof RebalanceInProgressException) {
                    return false;
                }
                throw failure;
            }
        });
        return this;
    }

    private static void commitPositions(KafkaConsumer<String, String> consumer) {
        // Just after an assignment no position is known yet, and a commit would commit nothing.
        consumer.assignment().forEach(consumer::position);
        consumer.commitSync();
    }

    Member onItsThread(Consumer<KafkaConsumer<String, String>> action) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        tasks.add(() -> {
            try {
                action.accept(consumer);
                done.complete(null);
            } catch (RuntimeException failure) {
                done.completeExceptionally(failure);
            }
        });
        CompletableFuture.anyOf(done, ended).get();
        return this;
    }

    /** Leaves, as far as the protocol has a member leave: a static one only says that it is away, or nothing. */
    @Override
    public void close() throws Exception {
        isLeaving = true;
        ended.get();
    }
}
