import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.admin.ClassicGroupDescription;
import org.apache.kafka.common.ClassicGroupState;
import org.apache.kafka.connect.cli.ConnectDistributed;
import org.apache.kafka.connect.runtime.Connect;
import org.apache.kafka.connect.runtime.Herder;

/** Two distributed workers of Connect with a source and a sink: a group of type `connect`, and the sink's consumers. */
final class ConnectWorkers {
    private static final String GROUP = "connect-cluster";

    static void rebalanced(Cluster cluster) throws Exception {
        cluster.topic("orders", 6);
        cluster.topic("lines", 1);
        Path folder = Files.createTempDirectory("connect");
        Worker first = new Worker(cluster, folder);
        first.put("lines", Map.of("connector.class", "Connectors$Lines", "topic", "lines"));
        first.put("orders", Map.of("connector.class", "Connectors$Sink", "topics", "orders", "tasks.max", "2"));
        Cluster.until("the sink committed", () -> !cluster.offsetsOf("connect-orders").isEmpty());
        Worker second = new Worker(cluster, folder);
        Cluster.until("both workers are in the group", () -> {
            ClassicGroupDescription group = cluster.admin.describeClassicGroups(List.of(GROUP)).all().get().get(GROUP);
            return group.state() == ClassicGroupState.STABLE && group.members().size() == 2;
        });
        second.close();
        first.close();
    }

    private static final class Worker implements AutoCloseable {
        private final Connect<? extends Herder> connect;

        Worker(Cluster cluster, Path folder) {
            Map<String, String> settings = new HashMap<>(Map.of(
                "bootstrap.servers", cluster.bootstrap,
                "group.id", GROUP,
                "config.storage.topic", "connect-configs",
                "offset.storage.topic", "connect-offsets",
                "status.storage.topic", "connect-status",
                "key.converter", "org.apache.kafka.connect.storage.StringConverter",
                "value.converter", "org.apache.kafka.connect.storage.StringConverter",
                "listeners", "http://127.0.0.1:0",
                "plugin.path", folder.toString(),
                "offset.flush.interval.ms", "200"));
            settings.putAll(Map.of(
                // Else every class of the classpath is looked at.
                "plugin.discovery", "service_load",
                "config.storage.replication.factor", "1",
                "offset.storage.replication.factor", "1",
                "offset.storage.partitions", "1",
                "status.storage.replication.factor", "1",
                "status.storage.partitions", "1",
                "scheduled.rebalance.max.delay.ms", "500",
                "session.timeout.ms", "3000",
                "heartbeat.interval.ms", "100"));
            connect = new ConnectDistributed().startConnect(settings);
        }

        void put(String name, Map<String, String> config) throws Exception {
            Map<String, String> named = new HashMap<>(config);
            named.put("name", name);
            CompletableFuture<Void> done = new CompletableFuture<>();
            connect.herder().putConnectorConfig(name, named, true, (failure, result) -> {
                if (failure == null) {
                    done.complete(null);
                } else {
                    done.completeExceptionally(failure);
                }
            });
            done.get();
        }

        @Override
        public void close() {
            connect.stop();
            connect.awaitStop();
        }
    }
}
