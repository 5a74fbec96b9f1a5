import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;

/**
 * What readers did, a line each: {@code ms group client word topic:partition[:offset]…}. Every line is in the file
 * before the reader goes on, so a killed process leaves all that it did.
 */
final class Diary implements AutoCloseable {
    private final BufferedWriter lines;

    Diary(Path file) throws IOException {
        lines = Files.newBufferedWriter(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    void callback(String group, String client, String word, Collection<TopicPartition> partitions) {
        StringBuilder said = new StringBuilder(word);
        partitions.stream().map(at -> " " + at.topic() + ":" + at.partition()).sorted().forEach(said::append);
        write(group, client, said);
    }

    /** The last offset of each partition that one poll returned. */
    void read(String group, String client, Map<TopicPartition, Long> last) {
        StringBuilder said = new StringBuilder("read");
        Map<String, Long> sorted = new TreeMap<>();
        last.forEach((at, offset) -> sorted.put(" " + at.topic() + ":" + at.partition() + ":", offset));
        sorted.forEach((at, offset) -> said.append(at).append(offset));
        write(group, client, said);
    }

    void polled(String group, String client) {
        write(group, client, "polled");
    }

    private synchronized void write(String group, String client, CharSequence said) {
        try {
            lines.append(System.currentTimeMillis() + " " + group + " " + client + " ").append(said).append('\n');
            lines.flush();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public void close() throws IOException {
        lines.close();
    }
}
