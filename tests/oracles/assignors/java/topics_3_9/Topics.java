import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.coordinator.group.modern.TopicIds;
import org.apache.kafka.image.TopicsDelta;
import org.apache.kafka.image.TopicsImage;

/** Topics that the metadata knows, and Kafka's own view of subscribed names as their ids: its size and order leak. */
final class Topics {
    private final TopicsImage image;

    Topics(Map<String, Uuid> ids) {
        TopicsDelta delta = new TopicsDelta(TopicsImage.EMPTY);
        ids.forEach((name, id) -> delta.replay(new TopicRecord().setName(name).setTopicId(id)));
        image = delta.apply();
    }

    Set<Uuid> ids(Set<String> subscribed) {
        return new TopicIds(subscribed, image);
    }
}
