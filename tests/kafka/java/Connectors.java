import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.sink.SinkConnector;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/** The smallest source and sink: not every release has its file connectors in the registry. */
public final class Connectors {
    private static final String VERSION = "1";

    private Connectors() {
    }

    /** Writes two lines to its topic. Named in META-INF/services, by which workers find it. */
    public static final class Lines extends SourceConnector {
        private Map<String, String> settings;

        @Override
        public void start(Map<String, String> settings) {
            this.settings = settings;
        }

        @Override
        public Class<? extends Task> taskClass() {
            return LinesTask.class;
        }

        @Override
        public List<Map<String, String>> taskConfigs(int maxTasks) {
            return List.of(settings);
        }

        @Override
        public void stop() {
        }

        @Override
        public ConfigDef config() {
            return new ConfigDef();
        }

        @Override
        public String version() {
            return VERSION;
        }
    }

    public static final class LinesTask extends SourceTask {
        private String topic;
        private int sent;

        @Override
        public void start(Map<String, String> settings) {
            topic = settings.get("topic");
        }

        @Override
        public List<SourceRecord> poll() throws InterruptedException {
            if (sent == 2) {
                Thread.sleep(50);
                return null;
            }
            Map<String, Integer> position = Map.of("line", ++sent);
            return List.of(new SourceRecord(Map.of("lines", topic), position, topic, Schema.STRING_SCHEMA, "line " + sent));
        }

        @Override
        public void stop() {
        }

        @Override
        public String version() {
            return VERSION;
        }
    }

    /** Reads its topics in as many tasks as it may, and keeps nothing. */
    public static final class Sink extends SinkConnector {
        private Map<String, String> settings;

        @Override
        public void start(Map<String, String> settings) {
            this.settings = settings;
        }

        @Override
        public Class<? extends Task> taskClass() {
            return SinkTaskWithoutTarget.class;
        }

        @Override
        public List<Map<String, String>> taskConfigs(int maxTasks) {
            return Collections.nCopies(maxTasks, settings);
        }

        @Override
        public void stop() {
        }

        @Override
        public ConfigDef config() {
            return new ConfigDef();
        }

        @Override
        public String version() {
            return VERSION;
        }
    }

    public static final class SinkTaskWithoutTarget extends SinkTask {
        @Override
        public void start(Map<String, String> settings) {
        }

        @Override
        public void put(Collection<SinkRecord> records) {
        }

        @Override
        public void stop() {
        }

        @Override
        public String version() {
            return VERSION;
        }
    }
}
