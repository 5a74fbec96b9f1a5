import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Walks real hash tables: each line is the steps of one, answered by its keys in order. */
public final class HashTables {
    private HashTables() { }

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.append(walked(line.split(" "))).append('\n');
        }
        System.out.print(out);
    }

    /** The first word is the capacity and the kind of the keys, the others a letter and a key each. */
    private static String walked(String[] steps) {
        boolean isOfNumbers = steps[0].startsWith("n");
        Map<Object, Object> map = new HashMap<>(Integer.parseInt(steps[0].substring(1)));
        for (int i = 1; i < steps.length; i++) {
            String text = steps[i].substring(1);
            Object key = isOfNumbers ? (Object) Integer.valueOf(text) : text;
            switch (steps[i].charAt(0)) {
                case 'p' -> map.put(key, i);
                case 'c' -> map.computeIfAbsent(key, any -> 0);
                case 'r' -> map.remove(key);
                case 's' -> {
                    Map<Object, Object> copy = new HashMap<>(Integer.parseInt(text));
                    map.forEach(copy::put);
                    map = copy;
                }
                default -> throw new IllegalArgumentException(steps[i]);
            }
        }
        List<String> keys = new ArrayList<>();
        map.keySet().forEach(each -> keys.add(each.toString()));
        return String.join(" ", keys);
    }
}
