import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.tools.consumer.group.ConsumerGroupCommand;

/** What kafka-consumer-groups prints. It prints to the one output that all threads have: one question at a time. */
final class GroupTool {
    private GroupTool() {
    }

    /** {@code words}: those of the tool; the first two name the broker. */
    static synchronized Map<String, Object> line(String kind, List<String> words) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("kind", kind);
        line.put("arguments", words.subList(2, words.size()));
        line.put("asked_ms", System.currentTimeMillis());
        line.put("text", printed(words.toArray(String[]::new)));
        line.put("answered_ms", System.currentTimeMillis());
        return line;
    }

    private static String printed(String[] arguments) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = System.out;
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            ConsumerGroupCommand.main(arguments);
        } finally {
            System.setOut(out);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
