-- Groups that stand still half way to another assignor or protocol. A group that went back does not stand still.
SELECT {about_group group_id}, {lasting},
  'the migration ' || migration || ' began at ' || coalesce({second started_time}, '?')
      || ', is not complete and stands still: no member has changed for three rebalances and a day' AS message,
  {evidence}, {harm 1}
FROM assignor_upgrades
WHERE cluster = :cluster AND phase = 'stuck' AND coalesce(started_time, :as_of_time) <= :as_of_time
