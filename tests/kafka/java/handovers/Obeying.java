import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.common.config.ConfigResource;

/**
 * Does what JSON lines on its standard input say, and answers each with {@code done NUMBER} or {@code failed NUMBER}:
 * {@code Obeying BOOTSTRAP DIARY SNAPSHOTS}. Its readers are members of groups; it asks the broker for topics and
 * snapshots too. It ends, without a goodbye of its readers, when the standard input ends.
 */
final class Obeying {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Cluster cluster;
    private final Diary diary;
    private final Snapshots snapshots;
    private final Map<String, Reading> readers = new ConcurrentHashMap<>();
    private final Map<String, SteadyTraffic> traffic = new HashMap<>();

    private Obeying(Cluster cluster, Diary diary, Snapshots snapshots) {
        this.cluster = cluster;
        this.diary = diary;
        this.snapshots = snapshots;
    }

    public static void main(String[] arguments) throws Exception {
        Cluster cluster = new Cluster(arguments[0]);
        Snapshots snapshots = new Snapshots(cluster, Path.of(arguments[2]));
        Obeying obeying = new Obeying(cluster, new Diary(Path.of(arguments[1])), snapshots);
        ExecutorService threads = Executors.newCachedThreadPool();
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonNode order = JSON.readTree(line);
                threads.execute(() -> obeying.answer(order));
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private void answer(JsonNode order) {
        String answer = "done";
        try {
            follow(order);
        } catch (Exception failure) {
            answer = "failed";
            failure.printStackTrace();
        }
        System.out.println(answer + " " + order.get("number"));
    }

    private void follow(JsonNode order) throws Exception {
        switch (order.get("order").asText()) {
            case "join" -> readers.put(order.get("client").asText(), Reading.of(cluster, diary, order));
            case "close" -> readers.remove(order.get("client").asText()).close();
            case "stand_still" -> readers.get(order.get("client").asText()).standStill(order.get("ms").asLong());
            case "snapshot" -> snapshot();
            case "topic" -> cluster.topic(order.get("topic").asText(), order.get("partitions").asInt());
            case "grow" -> {
                var partitions = NewPartitions.increaseTo(order.get("partitions").asInt());
                Cluster.settled(() ->
                    cluster.admin.createPartitions(Map.of(order.get("topic").asText(), partitions)).all());
            }
            case "traffic" -> startTraffic(order);
            case "delete" -> {
                traffic.remove(order.get("topic").asText()).end();
                cluster.deleteTopic(order.get("topic").asText());
            }
            case "configure" -> cluster.configure(ConfigResource.Type.GROUP, order.get("group").asText(),
                Map.of(order.get("setting").asText(), order.get("value").asText()));
            default -> throw new IllegalArgumentException(order.toString());
        }
    }

    private synchronized void snapshot() throws Exception {
        snapshots.take();
    }

    private synchronized void startTraffic(JsonNode order) throws Exception {
        String topic = order.get("topic").asText();
        SteadyTraffic before = traffic.remove(topic);
        if (before != null) {
            before.end();
        }
        traffic.put(topic, new SteadyTraffic(cluster, Map.of(topic, order.get("partitions").asInt())));
    }
}
