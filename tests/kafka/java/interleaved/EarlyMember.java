import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * A member of a consumer group, by the client of its own release: later ones do not talk to the first preview.
 * {@code EarlyMember BOOTSTRAP GROUP}. It stays for a moment: its records matter here, not what it is assigned.
 */
final class EarlyMember {
    private static final Duration STAY = Duration.ofSeconds(3);

    public static void main(String[] arguments) {
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", arguments[0],
            "group.id", arguments[1],
            "group.protocol", "consumer",
            "enable.auto.commit", false,
            "key.deserializer", StringDeserializer.class,
            "value.deserializer", StringDeserializer.class);
        KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings);
        consumer.subscribe(List.of("orders"));
        long end = System.nanoTime() + STAY.toNanos();
        while (consumer.assignment().isEmpty() && System.nanoTime() < end) {
            consumer.poll(Duration.ofMillis(50));
        }
        // Without a farewell: its session ends, or the broker stops before.
        Runtime.getRuntime().halt(0);
    }
}
