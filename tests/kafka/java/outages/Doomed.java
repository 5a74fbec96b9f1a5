import java.nio.file.Path;
import java.util.Set;

/**
 * The process that is killed, with every member of that fate: {@code Doomed BOOTSTRAP DIARY protocol,protocol…}. It
 * ends with its parent, whose end closes the standard input.
 */
final class Doomed {
    public static void main(String[] arguments) throws Exception {
        Cluster cluster = new Cluster(arguments[0]);
        Diary diary = new Diary(Path.of(arguments[1]));
        for (Part part : Part.of(Set.of(arguments[2].split(",")))) {
            for (String client : part.clients(Fate.KILLED)) {
                new Reader(cluster, diary, part, client);
            }
        }
        System.in.read();
        Runtime.getRuntime().halt(1);
    }
}
