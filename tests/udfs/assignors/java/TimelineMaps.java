import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.timeline.SnapshotRegistry;
import org.apache.kafka.timeline.TimelineHashMap;

/** Each line puts (+key) and removes (-key); answered by the keys as Kafka's own map is walked. */
public final class TimelineMaps {
    private TimelineMaps() { }

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            var map = new TimelineHashMap<String, String>(new SnapshotRegistry(new LogContext()), 0);
            for (String change : line.split(" ")) {
                String key = change.substring(1);
                if (change.charAt(0) == '+') map.put(key, key);
                else map.remove(key);
            }
            System.out.println(String.join(" ", map.keySet()));
        }
    }
}
