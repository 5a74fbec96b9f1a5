import java.util.Map;
import org.apache.kafka.clients.consumer.SubscriptionPattern;

/** Consumer groups that leave it to the coordinator to resolve a regular expression (from 4.0). */
final class RegexGroups {
    static void resolved(Cluster cluster) throws Exception {
        cluster.topic("region-north", 2);
        cluster.topic("region-south", 2);
        Member first = matching(cluster, "region-.*");
        first.awaitPartitions(4).commit();
        Member second = matching(cluster, ".*south");
        second.awaitPartitions(2);
        // Resolved again some ten seconds after the first time, not before.
        cluster.topic("region-west", 1);
        first.awaitPartitions(3);
        second.close();
        first.awaitPartitions(5).commit().close();
        cluster.deleteGroup("modern-regex");
    }

    private static Member matching(Cluster cluster, String regex) {
        Map<String, Object> eager = Map.of("metadata.max.age.ms", 500);
        Map<String, Object> settings = Member.modernSettings(cluster, "modern-regex", eager);
        return new Member(settings, consumer -> consumer.subscribe(new SubscriptionPattern(regex)));
    }
}
