import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/**
 * Clients and an admin that do what they are told, a JSON line at a time on the standard input, all at the same time:
 * {@code Clients BOOTSTRAP [SNAPSHOTS EVERY_MS]}. A line has an id, and so has the line that says it is done. It ends
 * with its input, and nobody says goodbye then.
 */
final class Clients {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final PrintStream ANSWERS = System.out;

    private final Cluster cluster;
    private final Snapshots snapshots;
    private final Rates rates;
    private final Map<String, Client> clients = new ConcurrentHashMap<>();

    private Clients(Cluster cluster, Snapshots snapshots) {
        this.cluster = cluster;
        this.snapshots = snapshots;
        rates = snapshots == null ? null : new Rates(cluster);
    }

    public static void main(String[] arguments) throws Exception {
        // What Kafka's classes log is no answer.
        System.setOut(System.err);
        Cluster cluster = new Cluster(arguments[0]);
        boolean isFirst = arguments.length > 1;
        Clients told = new Clients(cluster, isFirst ? new Snapshots(cluster, Path.of(arguments[1])) : null);
        ExecutorService pool = Executors.newCachedThreadPool();
        if (isFirst) {
            pool.submit(() -> told.keepTaking(Long.parseLong(arguments[2])));
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode wish = JSON.readTree(line);
            pool.submit(() -> told.answer(wish));
        }
        Runtime.getRuntime().halt(0);
    }

    private void answer(JsonNode wish) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("id", wish.get("id").asLong());
        try {
            line.put("answer", done(wish));
        } catch (Throwable failure) {
            failure.printStackTrace();
            line.put("error", failure.toString());
        }
        synchronized (ANSWERS) {
            ANSWERS.println(JSON.valueToTree(line).toString());
        }
    }

    private Object done(JsonNode wish) throws Exception {
        String client = wish.path("client").asText();
        String topic = wish.path("topic").asText();
        switch (wish.get("do").asText()) {
            case "topic" -> cluster.topic(topic, wish.get("partitions").asInt());
            case "expand" -> Cluster.settled(() -> cluster.admin.createPartitions(
                Map.of(topic, NewPartitions.increaseTo(wish.get("partitions").asInt()))).all());
            case "delete" -> delete(topic);
            case "traffic" -> rates.set(topic, JSON.convertValue(wish.get("rates"), double[].class));
            case "configure" -> cluster.configure(
                ConfigResource.Type.GROUP, wish.get("group").asText(), map(wish.get("settings"), String.class));
            case "join" -> join(client, wish);
            case "pace" -> clients.get(client).pace(wish.get("rate").asDouble());
            case "stick" -> clients.get(client).stuckAt(new TopicPartition(topic, wish.get("partition").asInt()));
            case "go_back" -> clients.get(client).goBack(wish.get("by").isNull() ? null : wish.get("by").asLong());
            case "hang" -> clients.get(client).hang();
            case "leave" -> clients.remove(client).leave();
            case "once" -> once(client, wish);
            case "alter" -> alter(wish);
            case "snapshot" -> take();
            case "owned" -> {
                return clients.get(client).owned().stream().map(TopicPartition::toString).sorted().toList();
            }
            case "longest_pause_ms" -> {
                return clients.get(client).longestPauseMs();
            }
            default -> throw new IllegalArgumentException(wish.toString());
        }
        return null;
    }

    private static <T> Map<String, T> map(JsonNode node, Class<T> values) {
        return JSON.convertValue(node, JSON.getTypeFactory().constructMapType(HashMap.class, String.class, values));
    }

    private static List<String> texts(JsonNode node) {
        return StreamSupport.stream(node.spliterator(), false).map(JsonNode::asText).toList();
    }

    private Map<String, Object> settings(String client, JsonNode wish) {
        Map<String, Object> more = map(wish.get("settings"), Object.class);
        // Members of a group may share one.
        more.putIfAbsent("client.id", client);
        return cluster.consumerSettings(wish.get("group").asText(), more);
    }

    private void join(String client, JsonNode wish) {
        Client joining = new Client(cluster, client, settings(client, wish), Set.copyOf(texts(wish.get("topics"))),
            wish.get("commit_ms").asLong(), wish.get("output").isNull() ? null : wish.get("output").asText());
        joining.pace(wish.get("rate").asDouble());
        if (clients.putIfAbsent(client, joining) != null) {
            throw new IllegalStateException(client + " is there already");
        }
    }

    /** Not while a snapshot is taken, which would wait for the offsets of what is gone. */
    private void delete(String topic) throws Exception {
        synchronized (snapshots) {
            cluster.deleteTopic(topic);
            Cluster.until(topic + " is gone", () -> !cluster.admin.listTopics().names().get().contains(topic));
        }
    }

    /** As a tool that somebody starts by hand: it reads what there is, commits within a moment, and ends. */
    private void once(String client, JsonNode wish) throws Exception {
        List<TopicPartition> partitions = new ArrayList<>();
        for (String topic : texts(wish.get("topics"))) {
            var about = cluster.admin.describeTopics(Set.of(topic)).allTopicNames().get().get(topic);
            about.partitions().forEach(each -> partitions.add(new TopicPartition(topic, each.partition())));
        }
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings(client, wish))) {
            consumer.assign(partitions);
            Set<TopicPartition> read = new HashSet<>();
            while (!read.containsAll(partitions)) {
                read.addAll(consumer.poll(Duration.ofMillis(100)).partitions());
            }
            long commits = wish.get("commits").asLong();
            for (long done = 1; done <= commits; done++) {
                Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
                for (TopicPartition at : partitions) {
                    offsets.put(at, new OffsetAndMetadata(consumer.position(at) * done / commits));
                }
                consumer.commitSync(offsets);
            }
        }
    }

    /** As an admin moves offsets: to the beginning, to the end, or back by so many messages. */
    private void alter(JsonNode wish) throws Exception {
        String to = wish.get("to").asText();
        Set<TopicPartition> committed = cluster.offsetsOf(wish.get("group").asText()).keySet();
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        committed.forEach(at -> asked.put(at, to.equals("latest") ? OffsetSpec.latest() : OffsetSpec.earliest()));
        var ends = Cluster.settled(() -> cluster.admin.listOffsets(asked).all());
        var before = cluster.offsetsOf(wish.get("group").asText());
        boolean isMarked = wish.get("is_marked").asBoolean();
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (TopicPartition at : committed) {
            long back = Math.max(0, before.get(at).offset() - wish.get("by").asLong());
            long target = to.equals("shift") ? back : ends.get(at).offset();
            offsets.put(at, isMarked && at.partition() == 0
                ? new OffsetAndMetadata(target, Optional.of(0), "moved by hand") : new OffsetAndMetadata(target));
        }
        cluster.commitAsAdmin(wish.get("group").asText(), offsets);
    }

    private void take() throws Exception {
        synchronized (snapshots) {
            snapshots.take();
        }
    }

    private Void keepTaking(long everyMs) throws Exception {
        while (true) {
            try {
                take();
            } catch (Exception failure) {
                // Without snapshots no story can be judged.
                failure.printStackTrace();
                Runtime.getRuntime().halt(4);
            }
            Thread.sleep(everyMs);
        }
    }
}
