import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs the named scenarios at the same time: {@code Scenarios BOOTSTRAP Class.method[:argument]…}.
 * At the same time, since a broker under several groups mixes them in its batches, as a busy one does.
 */
final class Scenarios {
    public static void main(String[] arguments) throws Exception {
        List<String> failed = new ArrayList<>();
        try (Cluster cluster = new Cluster(arguments[0])) {
            ExecutorService pool = Executors.newCachedThreadPool();
            List<String> names = List.of(arguments).subList(1, arguments.length);
            List<Future<?>> runs = new ArrayList<>();
            for (String name : names) {
                runs.add(pool.submit(() -> run(cluster, name)));
            }
            for (int i = 0; i < names.size(); i++) {
                try {
                    runs.get(i).get();
                } catch (Exception failure) {
                    failed.add(names.get(i));
                    failure.printStackTrace();
                }
            }
        }
        if (!failed.isEmpty()) {
            System.err.println("failed: " + failed);
        }
        // Not by returning: whatever thread a failed scenario left behind would keep the machine alive.
        System.exit(failed.isEmpty() ? 0 : 1);
    }

    /** By reflection, since a release without share or streams groups has no classes to compile theirs against. */
    private static Void run(Cluster cluster, String name) throws Exception {
        long start = System.nanoTime();
        String[] parts = name.split("[.:]", 3);
        Class<?> home = Class.forName(parts[0]);
        try {
            if (parts.length == 2) {
                Method scenario = home.getDeclaredMethod(parts[1], Cluster.class);
                scenario.invoke(null, cluster);
            } else {
                Method scenario = home.getDeclaredMethod(parts[1], Cluster.class, String.class);
                scenario.invoke(null, cluster, parts[2]);
            }
        } catch (InvocationTargetException failure) {
            throw new Exception(name, failure.getCause());
        }
        System.out.printf("%s took %.1f s%n", name, (System.nanoTime() - start) / 1e9);
        return null;
    }
}
