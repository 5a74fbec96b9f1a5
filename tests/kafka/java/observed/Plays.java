import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.common.TopicPartition;

/** What happens to the groups. Whoever does not leave is there until the end. */
final class Plays {
    private static final List<String> SLOW_RANGE = List.of("SlowAssignor");
    private static final List<String> RANGE = List.of("org.apache.kafka.clients.consumer.RangeAssignor");
    private static final List<String> COOPERATIVE =
        List.of("org.apache.kafka.clients.consumer.CooperativeStickyAssignor");
    private static final long SLOW_MS = 900;

    private Plays() {
    }

    /** Every member gives up everything; the leader's assignor is slow, and now and then a member to join. */
    static void eager(Script script) throws Exception {
        String group = "seen-eager";
        Player[] players = new Player[3];
        script.act(group, "group_created", "eager-1", () -> {
            players[0] = script.classic(group, "eager-1", SLOW_RANGE, Map.of(), "orders", "payments");
            script.settled(group, 9, players[0]);
        });
        script.act(group, "member_joined", "eager-2", () -> {
            players[1] = script.classic(group, "eager-2", SLOW_RANGE, Map.of(), "orders", "payments");
            script.settled(group, 9, players[0], players[1]);
        });
        players[0].pollMs = SLOW_MS;
        script.act(group, "member_joined", "eager-3", () -> {
            players[2] = script.classic(group, "eager-3", SLOW_RANGE, Map.of("client.rack", "rack-b"), "orders");
            script.settled(group, 9, players);
        });
        players[0].pollMs = 0;
        script.act(group, "member_left", "eager-2", () -> {
            players[1].close();
            script.settled(group, 9, players[0], players[2]);
        });
        script.act(group, "subscription_changed", "eager-3", () -> {
            players[2].later(consumer -> consumer.subscribe(Set.of("orders", "payments", "clicks")));
            script.settled(group, 11, players[0], players[2]);
        });
    }

    static void cooperative(Script script) throws Exception {
        String group = "seen-cooperative";
        Player[] players = new Player[3];
        script.act(group, "group_created", "cooperative-1", () -> {
            players[0] = script.classic(group, "cooperative-1", COOPERATIVE, Map.of(), "orders");
            script.settled(group, 6, players[0]);
        });
        players[0].revokeMs = SLOW_MS;
        script.act(group, "member_joined", "cooperative-2", () -> {
            players[1] = script.classic(group, "cooperative-2", COOPERATIVE, Map.of(), "orders");
            script.settled(group, 6, players[0], players[1]);
        });
        script.act(group, "member_joined", "cooperative-3", () -> {
            players[2] = script.classic(group, "cooperative-3", COOPERATIVE, Map.of(), "orders");
            script.settled(group, 6, players);
        });
        script.act(group, "member_left", "cooperative-2", () -> {
            players[1].close();
            script.settled(group, 6, players[0], players[2]);
        });
    }

    /** An instance comes back without a rebalance; then everybody leaves for good, one after the other. */
    static void staticClassic(Script script) throws Exception {
        String group = "seen-static";
        Player stays = instance(script, group, "static-1");
        Player bounced = instance(script, group, "static-2");
        script.settled(group, 6, stays, bounced);
        Thread.sleep(600);
        bounced.close();
        Thread.sleep(600);
        Player again = instance(script, group, "static-2");
        script.settled(group, 6, stays, again);
    }

    private static Player instance(Script script, String group, String id) {
        return script.classic(group, id, RANGE, Map.of("group.instance.id", id), "orders");
    }

    static void emptiedAndDeleted(Script script) throws Exception {
        String group = "seen-deleted";
        Player[] only = new Player[1];
        script.act(group, "group_created", "deleted-1", () -> {
            only[0] = script.classic(group, "deleted-1", RANGE, Map.of(), "clicks");
            script.settled(group, 2, only);
        });
        script.act(group, "group_emptied", "deleted-1", () -> only[0].close());
        script.cluster.deleteGroup(group);
        Thread.sleep(500);
    }

    /** Offsets of groups without members: set, set back, deleted one by one and with the group. */
    static void simple(Script script) throws Exception {
        TopicPartition first = new TopicPartition("orders", 0);
        TopicPartition second = new TopicPartition("clicks", 1);
        for (int offset = 5; offset >= 0; offset--) {
            script.cluster.commitAsAdmin("seen-simple", Map.of(
                first, new OffsetAndMetadata(offset, "at " + offset), second, new OffsetAndMetadata(9)));
            script.cluster.commitAsAdmin("seen-simple-deleted", Map.of(first, new OffsetAndMetadata(offset)));
            Thread.sleep(700);
        }
        script.cluster.deleteOffsets("seen-simple", second);
        script.cluster.deleteGroup("seen-simple-deleted");
        Thread.sleep(500);
    }

    /** One group whose offsets come by transactions: the aborted one and the open one are not seen. */
    static void transactions(Script script) throws Exception {
        TopicPartition at = new TopicPartition("orders", 2);
        Map<String, Object> settings = Map.of("transactional.id", "seen", "transaction.timeout.ms", 600_000);
        KafkaProducer<String, String> producer = script.cluster.producer(settings);
        producer.initTransactions();
        for (int offset = 1; offset <= 6; offset++) {
            producer.beginTransaction();
            producer.sendOffsetsToTransaction(Map.of(at, new OffsetAndMetadata(offset)),
                new ConsumerGroupMetadata("seen-transactions"));
            Thread.sleep(500);
            if (offset == 3) {
                producer.abortTransaction();
            } else if (offset < 6) {
                producer.commitTransaction();
            }
            Thread.sleep(400);
        }
        // The last stays open: whoever closes the producer would abort it.
    }

    /** The coordinator assigns; a member that is slow to give up keeps the others waiting. */
    static void consumer(Script script) throws Exception {
        String group = "seen-consumer";
        Player[] players = new Player[3];
        script.act(group, "group_created", "consumer-1", () -> {
            players[0] = script.modern(group, "consumer-1", Map.of("client.rack", "rack-b"), "orders", "payments");
            script.settled(group, 9, players[0]);
        });
        players[0].revokeMs = 2 * SLOW_MS;
        script.act(group, "member_joined", "consumer-2", () -> {
            players[1] = script.modern(group, "consumer-2", Map.of(), "orders", "payments");
            script.settled(group, 9, players[0], players[1]);
        });
        script.act(group, "member_joined", "consumer-3", () -> {
            players[2] = script.modern(group, "consumer-3", Map.of(), "orders", "payments");
            script.settled(group, 9, players);
        });
        script.act(group, "member_left", "consumer-2", () -> {
            players[1].close();
            script.settled(group, 9, players[0], players[2]);
        });
        script.act(group, "subscription_changed", "consumer-3", () -> {
            players[2].later(consumer -> consumer.subscribe(Set.of("orders", "payments", "clicks")));
            script.settled(group, 11, players[0], players[2]);
        });
    }

    static void staticConsumer(Script script) throws Exception {
        String group = "seen-consumer-static";
        Player stays = script.modern(group, "kept-1", Map.of("group.instance.id", "kept-1"), "orders");
        script.settled(group, 6, stays);
        Map<String, Object> instance = Map.of("group.instance.id", "kept-2");
        Player bounced = script.modern(group, "kept-2", instance, "orders");
        script.settled(group, 6, stays, bounced);
        bounced.close();
        Thread.sleep(1_500);
        Player again = script.modern(group, "kept-2", instance, "orders");
        script.settled(group, 6, stays, again);
        again.close();
        Thread.sleep(600);
    }

    static void regex(Script script) throws Exception {
        String group = "seen-regex";
        Player all = script.matching(group, "regex-1", "region-.*");
        script.settled(group, 4, all);
        Player south = script.matching(group, "regex-2", ".*south");
        script.settled(group, 4, all, south);
        Thread.sleep(500);
        south.close();
        script.settled(group, 4, all);
    }

    /** Up by a member of the new protocol, down when it leaves, and then everything anew the other way round. */
    static void converted(Script script) throws Exception {
        String group = "seen-converted";
        Player[] players = new Player[2];
        script.act(group, "group_created", "converted-1", () -> {
            players[0] = script.classic(group, "converted-1", COOPERATIVE, Map.of(), "orders");
            script.settled(group, 6, players[0]);
        });
        script.act(group, "protocol_migration", "converted-2", () -> {
            players[1] = script.modern(group, "converted-2", Map.of(), "orders");
            script.settled(group, 6, players);
        });
        players[1].close();
        script.settled(group, 6, players[0]);
        Thread.sleep(1_000);
        players[0].close();
        Player offline = script.modern(group, "converted-3", Map.of(), "orders");
        script.settled(group, 6, offline);
        Thread.sleep(500);
        offline.close();
        Player back = script.classic(group, "converted-4", COOPERATIVE, Map.of(), "orders");
        script.settled(group, 6, back);
    }

    static void share(Script script) throws Exception {
        ShareGroups.rebalanced(script.cluster);
    }

    static void streams(Script script) throws Exception {
        StreamsGroups.modern(script.cluster);
    }
}
