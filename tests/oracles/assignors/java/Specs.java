import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Specs of `groupscope assign`, one a line, answered by Kafka's own assignors in the form of its answers. An empty line
 * asks for the answers to all lines before it.
 */
final class Specs {
    private static final ObjectMapper JSON = new ObjectMapper();

    interface Answer {
        /** The lists of partitions by member, as Kafka's assignor leaves them. */
        Map<String, List<Object>> of(JsonNode spec) throws Exception;
    }

    private Specs() { }

    static void answerAll(Answer answer) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        var out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8), 1 << 16);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.isEmpty()) {
                out.flush();
                continue;
            }
            out.write(JSON.writeValueAsString(answered(answer, JSON.readTree(line))));
            out.write('\n');
        }
        out.flush();
    }

    private static Map<String, Object> answered(Answer answer, JsonNode spec) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("id", spec.get("id"));
        try {
            Map<String, List<Object>> lists = answer.of(spec);
            List<Object> assignment = new ArrayList<>();
            for (JsonNode member : spec.get("members")) {
                String id = member.get("member_id").asText();
                assignment.add(Map.of("member_id", id, "partitions", lists.getOrDefault(id, List.of())));
            }
            line.put("assignment", assignment);
        } catch (Exception e) {
            line.put("error", e.toString());
        }
        return line;
    }

    /** A field's value, null where it is absent or null. */
    static String text(JsonNode node, String field) {
        return node.hasNonNull(field) ? node.get(field).asText() : null;
    }

    static List<String> texts(JsonNode node, String field) {
        List<String> texts = new ArrayList<>();
        node.path(field).forEach(each -> texts.add(each.asText()));
        return texts;
    }

    /** `[["topic", [0, 1]], …]` in its own order. */
    static Map<String, List<Integer>> partitions(JsonNode node, String field) {
        Map<String, List<Integer>> partitions = new LinkedHashMap<>();
        for (JsonNode pair : node.path(field)) {
            List<Integer> of = partitions.computeIfAbsent(pair.get(0).asText(), topic -> new ArrayList<>());
            pair.get(1).forEach(partition -> of.add(partition.asInt()));
        }
        return partitions;
    }
}
