import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.common.config.ConfigResource;

/**
 * Members are killed, leave, stay away and come back; a topic grows, another is deleted:
 * {@code Outages BOOTSTRAP FOLDER protocol,protocol…}. Into the folder go what was done (events.jsonl), what readers saw
 * (diary.txt, doomed.txt) and snapshots.jsonl. It asks on its standard output for what only others can do, and goes on
 * with a line on its standard input. It ends when that is closed: whoever is a member at the end stays one in the log.
 */
final class Outages {
    private static final long CALM_MS = 2_500;
    private static final long SHORT_MS = 500;
    private static final long AWAY_MS = 2_000;

    private final Cluster cluster;
    private final Story events;
    private final Diary diary;
    private final Snapshots snapshots;
    private final Path folder;
    private final String protocols;
    private final List<Part> parts;
    private final Map<String, Reader> readers = new ConcurrentHashMap<>();

    private Outages(Cluster cluster, Story events, Diary diary, Snapshots snapshots, Path folder, String protocols) {
        this.cluster = cluster;
        this.events = events;
        this.diary = diary;
        this.snapshots = snapshots;
        this.folder = folder;
        this.protocols = protocols;
        this.parts = Part.of(Set.of(protocols.split(",")));
    }

    public static void main(String[] arguments) {
        Path folder = Path.of(arguments[1]);
        int code = 1;
        try (Cluster cluster = new Cluster(arguments[0]);
                Story events = new Story(folder.resolve("events.jsonl"));
                Diary diary = new Diary(folder.resolve("diary.txt"));
                Snapshots snapshots = new Snapshots(cluster, folder.resolve("snapshots.jsonl"))) {
            new Outages(cluster, events, diary, snapshots, folder, arguments[2]).play();
            code = 0;
        } catch (Exception failure) {
            failure.printStackTrace();
        }
        // Without hooks: nobody says goodbye.
        Runtime.getRuntime().halt(code);
    }

    private void play() throws Exception {
        topics();
        snapshots.take();
        SteadyTraffic lasting = new SteadyTraffic(cluster, Map.of("orders", Part.ORDERS, "clicks", Part.CLICKS));
        SteadyTraffic growing = new SteadyTraffic(cluster, Map.of("growing", Part.GROWING_FROM));
        SteadyTraffic fading = new SteadyTraffic(cluster, Map.of("fading", Part.FADING));
        Process doomed = doomed();
        parts.forEach(part -> Stream.of(Fate.STAYS, Fate.CLOSED, Fate.RETURNS)
            .forEach(fate -> part.clients(fate).forEach(client -> join(part, client))));
        settled(false);
        snapshots.take();
        Thread.sleep(CALM_MS);
        ask("@stale");
        snapshots.take();
        Thread.sleep(CALM_MS);

        Cluster.until("all that will be killed read", this::areDoomedReading);
        kill(doomed);
        Thread.sleep(SHORT_MS);
        closeAll(Fate.CLOSED);
        snapshots.take();
        changeTopics(growing, fading);
        returnAll();
        settled(true);
        Thread.sleep(CALM_MS);
        snapshots.take();
        lasting.end();
        Thread.sleep(CALM_MS);
        snapshots.take();
        ask("@tools");
        ask("@over");
    }

    private void topics() throws Exception {
        Map<String, Integer> topics = Map.of("orders", Part.ORDERS, "clicks", Part.CLICKS, "quiet", Part.QUIET,
            "fading", Part.FADING, "growing", Part.GROWING_FROM);
        for (Map.Entry<String, Integer> topic : topics.entrySet()) {
            cluster.topic(topic.getKey(), topic.getValue());
        }
        Cluster.until("the offsets topic is there", () -> cluster.offsetsOf("nobody").isEmpty());
        for (Part part : parts) {
            Map<String, String> settings = part.groupSettings();
            // Before 4.0 groups have no settings of their own.
            if (!settings.isEmpty() && protocols.contains(Part.SHARE)) {
                cluster.configure(ConfigResource.Type.GROUP, part.group(), settings);
            }
        }
    }

    private Process doomed() throws Exception {
        List<String> command = List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "-cp", System.getProperty("java.class.path"), "Doomed", cluster.bootstrap,
            folder.resolve("doomed.txt").toString(), protocols);
        return new ProcessBuilder(command).redirectErrorStream(true)
            .redirectOutput(folder.resolve("doomed.out").toFile()).start();
    }

    /** Whoever reads nothing, because the machine is busy, leaves no gap behind. */
    private boolean areDoomedReading() throws Exception {
        String since = Long.toString(System.currentTimeMillis() - SHORT_MS);
        Set<String> reading = new HashSet<>();
        for (String line : Files.readAllLines(folder.resolve("doomed.txt"))) {
            String[] words = line.split(" ");
            if (words.length > 3 && words[3].equals("read") && words[0].compareTo(since) >= 0) {
                reading.add(words[2]);
            }
        }
        return parts.stream().filter(part -> !part.topics().contains("quiet"))
            .allMatch(part -> reading.containsAll(part.clients(Fate.KILLED)));
    }

    private void join(Part part, String client) {
        readers.put(client, new Reader(cluster, diary, part, client));
    }

    private void kill(Process doomed) throws Exception {
        Map<String, Object> done = begun("killed", null);
        doomed.destroyForcibly().waitFor();
        List<Map<String, Object>> members = members(Fate.KILLED);
        end(done, members);
    }

    private void closeAll(Fate fate) throws Exception {
        Map<String, Object> done = begun(fate == Fate.RETURNS ? "returned" : "closed", null);
        List<CompletableFuture<Void>> closed = new ArrayList<>();
        parts.forEach(part -> part.clients(fate).forEach(client ->
            closed.add(CompletableFuture.runAsync(() -> readers.remove(client).close()))));
        closed.forEach(CompletableFuture::join);
        end(done, members(fate));
    }

    private void returnAll() throws Exception {
        closeAll(Fate.RETURNS);
        Thread.sleep(AWAY_MS);
        parts.forEach(part -> part.clients(Fate.RETURNS).forEach(client -> join(part, client)));
    }

    private void changeTopics(SteadyTraffic growing, SteadyTraffic fading) throws Exception {
        growing.end();
        Map<String, Object> grown = begun("topic_grown", "growing");
        Cluster.settled(() -> cluster.admin.createPartitions(
            Map.of("growing", NewPartitions.increaseTo(Part.GROWING_TO))).all());
        grown.put("partitions_before", Part.GROWING_FROM);
        grown.put("partitions_after", Part.GROWING_TO);
        end(grown, List.of());
        fading.end();
        Map<String, Object> deleted = begun("topic_deleted", "fading");
        cluster.deleteTopic("fading");
        deleted.put("partitions_before", Part.FADING);
        end(deleted, List.of());
    }

    private static Map<String, Object> begun(String event, String topic) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("event", event);
        if (topic != null) {
            line.put("topic", topic);
        }
        line.put("from_ms", System.currentTimeMillis());
        return line;
    }

    private void end(Map<String, Object> line, List<Map<String, Object>> members) throws Exception {
        line.put("to_ms", System.currentTimeMillis());
        line.put("members", members);
        events.write(line);
    }

    private List<Map<String, Object>> members(Fate fate) {
        List<Map<String, Object>> found = new ArrayList<>();
        for (Part part : parts) {
            for (String client : part.clients(fate)) {
                Map<String, Object> member = new LinkedHashMap<>();
                member.put("group", part.group());
                member.put("client", client);
                member.put("protocol", part.protocol());
                member.put("is_static", part.isStatic());
                member.put("session_timeout_ms", Reader.SESSION_MS);
                found.add(member);
            }
        }
        return found;
    }

    /** Every group has the members and partitions that it should have now. */
    private void settled(boolean isAtTheEnd) throws Exception {
        long deadline = System.nanoTime() + Cluster.PATIENCE.toNanos();
        while (true) {
            readers.values().forEach(Reader::throwFailure);
            Map<String, Held> waiting = new TreeMap<>();
            for (Part part : parts) {
                Held held = Held.by(cluster, part);
                if (!held.isAllOf(part, isAtTheEnd)) {
                    waiting.put(part.group(), held);
                }
            }
            if (waiting.isEmpty()) {
                return;
            }
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("these groups did not settle: " + waiting);
            }
            Thread.sleep(SHORT_MS);
        }
    }

    private static void ask(String what) throws Exception {
        System.out.println(what);
        if (System.in.read() < 0) {
            return;
        }
        while (System.in.available() > 0) {
            System.in.read();
        }
    }
}
