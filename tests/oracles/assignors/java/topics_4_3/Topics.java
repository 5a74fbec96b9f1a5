import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.modern.TopicIds;

/** Topics that the metadata knows, and Kafka's own view of subscribed names as their ids: its size and order leak. */
final class Topics implements CoordinatorMetadataImage {
    private final Map<String, Uuid> ids;
    private final Map<Uuid, String> names;

    private record Named(String name, Uuid id) implements TopicMetadata {
        @Override
        public int partitionCount() {
            return 1;
        }

        @Override
        public java.util.List<String> partitionRacks(int partition) {
            return java.util.List.of();
        }
    }

    Topics(Map<String, Uuid> ids) {
        this.ids = ids;
        this.names = ids.entrySet().stream().collect(Collectors.toMap(Map.Entry::getValue, Map.Entry::getKey));
    }

    Set<Uuid> ids(Set<String> subscribed) {
        return new TopicIds(subscribed, this);
    }

    @Override
    public Set<Uuid> topicIds() {
        return names.keySet();
    }

    @Override
    public Set<String> topicNames() {
        return ids.keySet();
    }

    @Override
    public Optional<TopicMetadata> topicMetadata(String name) {
        return Optional.ofNullable(ids.get(name)).map(id -> new Named(name, id));
    }

    @Override
    public Optional<TopicMetadata> topicMetadata(Uuid id) {
        return Optional.ofNullable(names.get(id)).map(name -> new Named(name, id));
    }

    @Override
    public CoordinatorMetadataDelta emptyDelta() {
        return CoordinatorMetadataDelta.EMPTY;
    }

    @Override
    public long version() {
        return 0;
    }

    @Override
    public boolean isEmpty() {
        return ids.isEmpty();
    }
}
