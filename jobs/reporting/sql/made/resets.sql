-- Offsets of a group that were moved or removed, each with the first partitions: from which offset, and to which.
SELECT *, concat(
    'partition', CASE num_partitions WHEN 1 THEN '' ELSE 's' END, ' ',
    array_to_string(
      list_transform(
        range(1, least(num_partitions, 3) + 1),
        lambda place: concat(
          partitions[place], ': ', coalesce(format('{:,}', from_offsets[place]), 'none'), ' → ',
          coalesce(format('{:,}', to_offsets[place]), 'removed')
        )
      ), ', '
    ),
    CASE WHEN num_partitions > 3 THEN format(' and {:,} more', num_partitions - 3) ELSE '' END
  ) AS change
FROM offset_resets
WHERE cluster = {cluster} AND group_id IN ({groups}) AND at_time IS NOT NULL
