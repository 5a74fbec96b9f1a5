--- How assignors of other libraries differ from Kafka's of the same name: those of kafka-python 3.0, aiokafka,
--- Sarama 1.61 and franz-go 1.22.
-- part library_differences: Rows of library, assignor and difference.
SELECT library, assignor, difference
FROM (VALUES
  ('librdkafka', 'range', 'looks at racks in its own way, and has no order of static beside other members'),
  ('librdkafka', 'roundrobin', 'has no order of static beside other members'),
  ('librdkafka', 'cooperative-sticky', 'is an algorithm of its own'),
  ('kafka-python', 'range', 'loses members if static and other members alternate'),
  ('kafka-python', 'roundrobin',
   'loses members if static and other members alternate, and fails if it must pass over a member'),
  ('kafka-python', 'sticky', 'is Java''s algorithm of before 2.5'),
  ('kafka-python', 'cooperative-sticky', 'is Java''s algorithm of before 2.5, and knows no generations'),
  ('aiokafka', 'range', 'orders all members by member id, where Kafka''s has static members first'),
  ('aiokafka', 'roundrobin', 'orders all members by member id, where Kafka''s has static members first'),
  ('aiokafka', 'sticky', 'is Java''s algorithm of before 2.5'),
  ('sarama', 'range', 'orders all members by member id, where Kafka''s has static members first'),
  ('sarama', 'roundrobin',
   'orders all members by member id, where Kafka''s has static members first, and partition 10 before partition 2'),
  ('sarama', 'sticky', 'is an algorithm of its own'),
  ('sarama', 'cooperative-sticky', 'is an algorithm of its own'),
  ('franz-go', 'range', 'looks only at the rack of each partition''s leader, where Kafka''s looks at all replicas'),
  ('franz-go', 'sticky', 'is an algorithm of its own'),
  ('franz-go', 'cooperative-sticky', 'is an algorithm of its own')
) AS known (library, assignor, difference)
