import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Groups whose members restart one after another, each time with another assignor or protocol:
 * {@code Migrations BOOTSTRAP DIARY}. The diary has a line for each restart. Then the broker is to be stopped.
 */
final class Migrations {
    private static final int PARTITIONS = 6;
    private static final String[] RANGE = {"range"};
    private static final String[] BOTH = {"range", "cooperative-sticky"};
    private static final String[] COOPERATIVE = {"cooperative-sticky"};
    /** Of the consumer protocol, where the coordinator assigns. */
    private static final String[] MODERN = {};
    private static final long AWAY_MS = 200;

    private final Cluster cluster;
    private final Story diary;
    private final String group;
    private final Member[] members;

    private Migrations(Cluster cluster, Story diary, String group, int number) {
        this.cluster = cluster;
        this.diary = diary;
        this.group = group;
        this.members = new Member[number];
    }

    public static void main(String[] arguments) {
        int code = 1;
        try (Cluster cluster = new Cluster(arguments[0]); Story diary = new Story(Path.of(arguments[1]))) {
            cluster.topic("orders", PARTITIONS);
            List<CompletableFuture<Void>> plays = new ArrayList<>();
            plays.add(play(cluster, diary, "rolled-and-back", 2, each ->
                each.all(RANGE, BOTH, COOPERATIVE, BOTH)));
            plays.add(play(cluster, diary, "rolled-half-way-and-back", 2, each -> {
                each.all(RANGE, BOTH);
                each.restart(0, COOPERATIVE);
                each.restart(0, BOTH);
            }));
            plays.add(play(cluster, diary, "converted-and-back", 2, each -> each.all(RANGE, MODERN, RANGE)));
            plays.add(play(cluster, diary, "half-way-and-back", 2, each -> {
                each.all(RANGE);
                each.restart(0, MODERN);
                each.restart(0, RANGE);
            }));
            plays.add(play(cluster, diary, "half-way", 4, each -> {
                each.all(RANGE);
                each.restart(0, MODERN);
                each.restart(1, MODERN);
                // From here on nobody is upgraded; the group goes on to rebalance.
                each.restart(0, MODERN);
                each.restart(1, MODERN);
            }));
            CompletableFuture.allOf(plays.toArray(CompletableFuture[]::new)).join();
            code = 0;
        } catch (Exception failure) {
            failure.printStackTrace();
        }
        // Without hooks: whoever is a member stays one.
        Runtime.getRuntime().halt(code);
    }

    private interface Play {
        void on(Migrations group) throws Exception;
    }

    private static CompletableFuture<Void> play(Cluster cluster, Story diary, String group, int number, Play play) {
        return CompletableFuture.runAsync(() -> {
            try {
                play.on(new Migrations(cluster, diary, group, number));
            } catch (Exception failure) {
                throw new IllegalStateException(group, failure);
            }
        }, task -> new Thread(task).start());
    }

    /** In rounds: in each, every member restarts with what the round is of. */
    private void all(String[]... rounds) throws Exception {
        for (String[] offered : rounds) {
            for (int i = 0; i < members.length; i++) {
                restart(i, offered);
            }
        }
    }

    private void restart(int number, String[] offered) throws Exception {
        String name = group + "-" + (number + 1);
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("group", group);
        line.put("client_id", name);
        line.put("offered", offered);
        if (members[number] != null) {
            members[number].close();
            Thread.sleep(AWAY_MS);
        }
        line.put("from_time", Story.now());
        Map<String, Object> settings = Map.of("client.id", name);
        members[number] = offered == MODERN
            ? Member.modern(cluster, group, settings, "orders")
            : Member.classic(cluster, group, offered, settings, "orders");
        Member[] here = Arrays.stream(members).filter(each -> each != null).toArray(Member[]::new);
        line.put("settled", Seen.settled(cluster, group, PARTITIONS, here));
        diary.write(line);
    }
}
