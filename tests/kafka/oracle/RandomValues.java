import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.types.RawTaggedField;

/**
 * Draws values that lie at the edges of their wire type more often than chance would have it.
 *
 * Sizes of one message are bound together: at most one array is wide and at most one text or byte string is long.
 */
final class RandomValues {
    /** Where a length prefix of flexible versions, the length plus one, takes its second and its third byte. */
    private static final int SECOND_BYTE = 127, THIRD_BYTE = 16383;
    private static final int LONGEST_STRING = 32767;
    private static final long[] EDGES = {
        0, 1, -1, 2, 127, 128, 255, 256, -128, -129, 32767, 32768, 65535, -32768, Integer.MAX_VALUE, Integer.MIN_VALUE,
        1L << 31, 1L << 32, (1L << 53) + 1, Long.MAX_VALUE, Long.MIN_VALUE, 1_700_000_000_000L,
    };
    /** Each is a trap for some printer or parser: JSON, lines, C strings, and the ends of the four lengths of UTF-8. */
    private static final int[] ODD_CHARACTERS = {
        0, 7, '\t', '\n', '\r', 27, 31, '"', '\\', '/', '\'', ',', ';', '<', '&', 0x7f, 0x80, 0x85, 0xe9, 0x7ff, 0x800,
        0x2028, 0x6e2c, 0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xfffe, 0xffff, 0x10000, 0x1f600, 0x10ffff,
    };

    final Random random;
    private boolean mayBeWide, mayBeLong, isThrifty, hasUnknownTags;

    RandomValues(long seed) {
        random = new Random(seed);
    }

    /** Call before each message: it decides what the message may hold. */
    void startMessage() {
        mayBeWide = oneIn(40);
        mayBeLong = oneIn(40);
        hasUnknownTags = oneIn(3);
        isThrifty = false;
    }

    boolean oneIn(int times) {
        return random.nextInt(times) == 0;
    }

    /** A whole number of so many bits, signed. Its width is drawn first, so small ones are as usual as large ones. */
    long integer(int bits) {
        long drawn = oneIn(3) ? EDGES[random.nextInt(EDGES.length)] : random.nextLong() >> random.nextInt(64);
        return drawn << (64 - bits) >> (64 - bits);
    }

    int unsigned16() {
        return (int) integer(16) & 0xffff;
    }

    Uuid uuid() {
        return switch (random.nextInt(6)) {
            case 0 -> Uuid.ZERO_UUID;
            case 1 -> new Uuid(integer(64), integer(64));
            default -> new Uuid(random.nextLong(), random.nextLong());
        };
    }

    String text() {
        return text(length(LONGEST_STRING));
    }

    /** Exactly so many bytes of UTF-8. */
    private String text(int size) {
        StringBuilder built = new StringBuilder();
        boolean isOdd = oneIn(2);
        for (int left = size; left > 0; ) {
            int plain = 32 + random.nextInt(95);
            int character = isOdd && oneIn(3) ? ODD_CHARACTERS[random.nextInt(ODD_CHARACTERS.length)] : plain;
            int bytes = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
            if (bytes > left) continue;
            built.appendCodePoint(character);
            left -= bytes;
        }
        return built.toString();
    }

    byte[] bytes() {
        return bytes(length(100_000));
    }

    private byte[] bytes(int size) {
        byte[] drawn = new byte[size];
        random.nextBytes(drawn);
        return drawn;
    }

    private int length(int longest) {
        if (mayBeLong && oneIn(3)) {
            mayBeLong = false;
            return oneIn(3) ? longest - random.nextInt(2) : THIRD_BYTE - 2 + random.nextInt(5);
        }
        return switch (isThrifty ? 1 : random.nextInt(20)) {
            case 0, 1 -> 0;
            case 2 -> SECOND_BYTE - 2 + random.nextInt(5);
            default -> random.nextInt(14);
        };
    }

    /** How many elements an array takes; `areSmall` elements may be very many. */
    int count(boolean areSmall) {
        if (mayBeWide && oneIn(3)) {
            mayBeWide = false;
            isThrifty = true;
            return areSmall && oneIn(12) ? THIRD_BYTE - 2 + random.nextInt(5) : SECOND_BYTE - 2 + random.nextInt(30);
        }
        return isThrifty ? random.nextInt(2) : new int[] {0, 1, 1, 2, 3}[random.nextInt(5)];
    }

    /** Fields of releases to come. Their tags lie beyond all that are known to this day, or to the releases between. */
    List<RawTaggedField> unknownTags() {
        List<RawTaggedField> drawn = new ArrayList<>();
        if (!hasUnknownTags || oneIn(2)) return drawn;
        int[] tags = {10, 127, 128, 16383, 16384, 1 << 21, 1 << 28, Integer.MAX_VALUE - 1};
        for (int tag : tags) {
            if (oneIn(6)) drawn.add(new RawTaggedField(tag, bytes(length(THIRD_BYTE + 1))));
        }
        return drawn;
    }
}
