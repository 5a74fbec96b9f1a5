import java.util.HexFormat;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.JaasContext;
import org.apache.kafka.common.utils.Utils;

/** What Kafka's own tools read from files of client properties: a line of keys and values in hex, then one of JAAS. */
public class ClientProperties {
    public static void main(String[] files) {
        for (String file : files) {
            Properties properties = null;
            try {
                properties = Utils.loadProps(file);
                Map<String, String> found = new TreeMap<>();
                properties.forEach((key, value) -> found.put((String) key, (String) value));
                System.out.println(hex(found));
            } catch (Exception error) {
                System.out.println("wrong");
            }
            System.out.println(properties == null ? "wrong" : jaas(properties.getProperty("sasl.jaas.config")));
        }
    }

    private static String jaas(String line) {
        try {
            var context = JaasContext.loadClientContext(Map.of("sasl.jaas.config", new Password(line)));
            Map<String, String> found = new TreeMap<>();
            context.configurationEntries().get(0).getOptions().forEach((key, value) -> found.put(key, (String) value));
            return hex(found);
        } catch (Exception error) {
            return "wrong";
        }
    }

    private static String hex(Map<String, String> found) throws Exception {
        StringBuilder text = new StringBuilder("=");
        for (var entry : found.entrySet())
            for (String one : new String[] {entry.getKey(), entry.getValue()})
                text.append(" x").append(HexFormat.of().formatHex(one.getBytes("UTF-16BE")));
        return text.toString();
    }
}
