import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** One group of the story: its protocol, its topics, and the fate of each member. */
record Part(String group, String protocol, boolean isStatic, List<String> topics, List<Fate> fates) {
    static final String RANGE = "range";
    static final String COOPERATIVE = "cooperative-sticky";
    static final String CONSUMER = "consumer";
    static final String SHARE = "share";

    static final int ORDERS = 4;
    static final int CLICKS = 2;
    static final int QUIET = 3;
    static final int FADING = 3;
    static final int GROWING_FROM = 2;
    static final int GROWING_TO = 5;

    private static final List<Fate> ONE_KILLED = List.of(Fate.STAYS, Fate.KILLED);
    private static final List<Fate> ONE_CLOSED = List.of(Fate.STAYS, Fate.CLOSED);
    private static final List<Fate> ONE_RETURNS = List.of(Fate.STAYS, Fate.RETURNS);
    private static final List<Fate> ALL_STAY = List.of(Fate.STAYS, Fate.STAYS);

    private static final List<Part> ALL = List.of(
        dynamic("killed-range", RANGE, ONE_KILLED, "orders"),
        dynamic("killed-cooperative", COOPERATIVE, List.of(Fate.STAYS, Fate.STAYS, Fate.KILLED), "orders", "clicks"),
        dynamic("killed-consumer", CONSUMER, ONE_KILLED, "orders"),
        new Part("killed-consumer-static", CONSUMER, true, List.of("clicks"), ONE_KILLED),
        new Part("away-classic", RANGE, true, List.of("orders"), ONE_CLOSED),
        new Part("away-consumer", CONSUMER, true, List.of("orders", "clicks"), ONE_CLOSED),
        dynamic("left-range", RANGE, ONE_CLOSED, "orders"),
        dynamic("left-cooperative", COOPERATIVE, ONE_CLOSED, "orders", "clicks"),
        dynamic("left-consumer", CONSUMER, ONE_CLOSED, "orders"),
        new Part("returned-classic", RANGE, true, List.of("orders"), ONE_RETURNS),
        new Part("returned-consumer", CONSUMER, true, List.of("orders"), ONE_RETURNS),
        dynamic("quiet-classic", RANGE, ONE_KILLED, "quiet"),
        dynamic("quiet-consumer", CONSUMER, ONE_KILLED, "quiet"),
        dynamic("growing-classic", RANGE, ALL_STAY, "growing"),
        dynamic("growing-consumer", CONSUMER, ALL_STAY, "clicks", "growing"),
        dynamic("fading-classic", RANGE, ALL_STAY, "fading", "orders"),
        dynamic("fading-consumer", CONSUMER, ALL_STAY, "fading", "orders"),
        dynamic("changing-consumer", CONSUMER, ALL_STAY, "fading", "growing"),
        dynamic("killed-share", SHARE, ONE_KILLED, "orders"));

    /**
     * What the broker is told of the group. By its settings for all groups, sessions of consumer groups are short:
     * whoever is not meant to time out does not, on a busy machine either.
     */
    Map<String, String> groupSettings() {
        if (protocol.equals(SHARE)) {
            return Map.of("share.auto.offset.reset", "earliest");
        }
        boolean isCalm = protocol.equals(CONSUMER) && fates.equals(ALL_STAY);
        return isCalm ? Map.of("consumer.session.timeout.ms", Integer.toString(Reader.CALM_SESSION_MS)) : Map.of();
    }

    private static Part dynamic(String group, String protocol, List<Fate> fates, String... topics) {
        return new Part(group, protocol, false, List.of(topics), fates);
    }

    /** `protocols` are `classic`, `consumer`, `share`. */
    static List<Part> of(Set<String> protocols) {
        return ALL.stream().filter(part -> protocols.contains(part.family())).toList();
    }

    String family() {
        return protocol.equals(RANGE) || protocol.equals(COOPERATIVE) ? "classic" : protocol;
    }

    String client(int index) {
        return group + "-" + (index + 1);
    }

    List<String> clients(Fate fate) {
        List<String> found = new ArrayList<>();
        for (int i = 0; i < fates.size(); i++) {
            if (fates.get(i) == fate) {
                found.add(client(i));
            }
        }
        return found;
    }

    /** A classic consumer may go on as if a deleted topic was there: its group need not notice. */
    boolean isAll(int partitions, boolean isAtTheEnd) {
        int all = topics.stream().mapToInt(topic -> partitions(topic, isAtTheEnd)).sum();
        boolean mayHaveMore = isAtTheEnd && topics.contains("fading") && family().equals("classic");
        return partitions == all || mayHaveMore && partitions == all + FADING;
    }

    private static int partitions(String topic, boolean isAtTheEnd) {
        return switch (topic) {
            case "orders" -> ORDERS;
            case "clicks" -> CLICKS;
            case "quiet" -> QUIET;
            case "fading" -> isAtTheEnd ? 0 : FADING;
            case "growing" -> isAtTheEnd ? GROWING_TO : GROWING_FROM;
            default -> throw new IllegalArgumentException(topic);
        };
    }

    int members(boolean isAtTheEnd) {
        return isAtTheEnd ? clients(Fate.STAYS).size() + clients(Fate.RETURNS).size() : fates.size();
    }
}
