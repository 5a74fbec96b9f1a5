import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** Looks at a group while somebody else plays: every state of it that was seen, in order, each once. */
final class Watch implements AutoCloseable {
    private static final long EVERY_NS = 200_000_000;

    private final List<Map<String, Object>> seen = new ArrayList<>();
    private final Thread thread;
    private volatile boolean isOver;

    Watch(Callable<Map<String, Object>> look) {
        thread = new Thread(() -> {
            while (!isOver) {
                try {
                    note(look.call());
                } catch (Exception notThere) {
                    // Before the group exists, and after it is deleted.
                }
                LockSupport.parkNanos(EVERY_NS);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void note(Map<String, Object> now) {
        if (seen.isEmpty() || !withoutTime(now).equals(withoutTime(seen.get(seen.size() - 1)))) {
            seen.add(now);
        }
    }

    private static Map<String, Object> withoutTime(Map<String, Object> state) {
        Map<String, Object> rest = new LinkedHashMap<>(state);
        rest.remove("time");
        return rest;
    }

    List<Map<String, Object>> ended() throws InterruptedException {
        close();
        return seen;
    }

    @Override
    public void close() throws InterruptedException {
        isOver = true;
        thread.join();
    }
}
