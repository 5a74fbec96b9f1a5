SELECT group_id, bucket_time, bucket_ms, {total_consumed} AS messages_consumed,
  sum(messages_consumed_per_s) AS messages_consumed_per_s, sum(messages_produced_per_s) AS messages_produced_per_s
FROM consumption_rates
WHERE cluster = {cluster} AND group_id IN ({groups})
  AND bucket_ms = (SELECT min(bucket_ms) FROM consumption_rates WHERE cluster = {cluster})
GROUP BY group_id, bucket_time, bucket_ms
QUALIFY row_number() OVER (PARTITION BY group_id ORDER BY bucket_time DESC) <= {most}
ORDER BY group_id, bucket_time
