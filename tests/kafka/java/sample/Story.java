import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Map;

/** What happened, a JSON line for each event: told by whoever made it happen, as Kafka's own clients saw it. */
final class Story implements AutoCloseable {
    private static final DateTimeFormatter ISO =
        DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final BufferedWriter lines;

    Story(Path file) throws IOException {
        lines = Files.newBufferedWriter(file);
    }

    static String now() {
        return iso(System.currentTimeMillis());
    }

    static String iso(long ms) {
        return ISO.format(Instant.ofEpochMilli(ms));
    }

    /** An event that begins now; its name stands in the README too. */
    Event begin(String name, String kind) {
        return new Event(name, kind);
    }

    synchronized void write(Map<String, Object> line) throws IOException {
        lines.write(JSON.writeValueAsString(line));
        lines.newLine();
        lines.flush();
    }

    @Override
    public void close() throws IOException {
        lines.close();
    }

    final class Event {
        private final Map<String, Object> fields = new LinkedHashMap<>();

        private Event(String name, String kind) {
            fields.put("event", name);
            fields.put("kind", kind);
            fields.put("from_time", now());
            fields.put("to_time", null);
        }

        Event with(String field, Object value) {
            fields.put(field, value);
            return this;
        }

        /** Ends now, all of its facts observed. */
        void end(String mustBeFound) throws IOException {
            fields.put("to_time", now());
            fields.put("found", mustBeFound);
            write(fields);
        }
    }
}
