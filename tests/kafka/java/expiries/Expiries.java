import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicPartition;

/**
 * Offsets of every kind that the sweep treats in its own way: {@code Expiries BOOTSTRAP}, on a broker that keeps offsets
 * for a minute. It prints a line when all are committed; it ends some seconds after the last ones have expired.
 */
final class Expiries {
    /** So that it differs by several sweeps from when the offset was committed. */
    private static final long BEFORE_LEAVING_MS = 8_000;
    private static final long MORE_SWEEPS_MS = 8_000;
    private static final long OWN_RETENTION_MS = 35_000;
    private static final TopicPartition READ = new TopicPartition("orders", 0);
    private static final TopicPartition ALSO_READ = new TopicPartition("orders", 1);
    private static final TopicPartition LEFT = new TopicPartition("payments", 0);

    private final Cluster cluster;

    private Expiries(Cluster cluster) {
        this.cluster = cluster;
    }

    public static void main(String[] arguments) {
        int code = 1;
        try (Cluster cluster = new Cluster(arguments[0])) {
            new Expiries(cluster).play();
            code = 0;
        } catch (Exception failure) {
            failure.printStackTrace();
        }
        // Without hooks: members stay members, and the open transaction stays open.
        Runtime.getRuntime().halt(code);
    }

    private void play() throws Exception {
        cluster.topic("orders", 2);
        cluster.topic("payments", 1);
        Member leaving = classic("emptied");
        leaving.awaitPartitions(2).commit();
        Member modernLeaving = Member.modern(cluster, "modern-emptied", Map.of(), "orders");
        modernLeaving.awaitPartitions(2).commit();
        commit("simple", READ);
        commit("stable", LEFT, READ);
        ownTime("stable", ALSO_READ);
        commit("modern", LEFT, READ);
        // They commit nothing themselves: what was committed before stays as it is.
        Member stable = classic("stable");
        Member modern = Member.modern(cluster, "modern", Map.of(), "orders");
        stable.awaitPartitions(2);
        modern.awaitPartitions(2);
        commit("pending", READ, ALSO_READ);
        KafkaProducer<String, String> producer = pending("pending", ALSO_READ);
        ownTime("own-time", READ);
        commit("own-time", LEFT);
        Thread.sleep(BEFORE_LEAVING_MS);
        leaving.close();
        modernLeaving.close();
        for (String group : Set.of("emptied", "modern-emptied")) {
            Cluster.until(group + " is empty", () -> stateOf(group) == GroupState.EMPTY);
        }
        System.out.println("@committed");
        Cluster.until("the offsets of the emptied group expired", () -> cluster.offsetsOf("emptied").isEmpty());
        Thread.sleep(MORE_SWEEPS_MS);
        if (!stable.owned().equals(Set.of(READ, ALSO_READ)) || !modern.owned().equals(stable.owned())) {
            throw new IllegalStateException("members lost their partitions meanwhile");
        }
        System.out.println("@expired");
    }

    private GroupState stateOf(String group) throws Exception {
        return cluster.admin.describeConsumerGroups(Set.of(group)).describedGroups().get(group).get().groupState();
    }

    private Member classic(String group) {
        return Member.classic(cluster, group, new String[] {"range"}, Map.of(), "orders");
    }

    private void commit(String group, TopicPartition... partitions) throws Exception {
        for (TopicPartition partition : partitions) {
            cluster.commitAsAdmin(group, Map.of(partition, new OffsetAndMetadata(1)));
        }
    }

    private void ownTime(String group, TopicPartition at) throws Exception {
        RawRequests.commit(cluster, RawRequests.LAST_WITH_RETENTION, group, at, 2, OWN_RETENTION_MS);
    }

    private KafkaProducer<String, String> pending(String group, TopicPartition at) {
        KafkaProducer<String, String> producer =
            cluster.producer(Map.of("transactional.id", group, "transaction.timeout.ms", 600_000));
        producer.initTransactions();
        producer.beginTransaction();
        producer.sendOffsetsToTransaction(Map.of(at, new OffsetAndMetadata(2)), new ConsumerGroupMetadata(group));
        return producer;
    }
}
