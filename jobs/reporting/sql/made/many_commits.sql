-- Partitions with more commits than a lane shows one by one, and in how many columns of time it shows these.
SELECT committed.group_id, committed.place, num_columns
FROM committed
JOIN (
  SELECT group_id, CASE WHEN group_id IN ({troubled}) THEN {columns}
    ELSE least({columns}, greatest(30, {room} // (2 * count(*)))) END AS num_columns
  FROM places
  GROUP BY group_id
) AS shares ON shares.group_id = committed.group_id
GROUP BY committed.group_id, committed.place, num_columns
HAVING count(*) > num_columns
