--- Numbers and lengths of time, in words that every engine has.

-- part total(column): Engines differ in the type of a sum.
CAST(sum({column}) AS BIGINT)

-- part how_many(condition): Rows for which it holds.
{total CASE WHEN {condition} THEN 1 ELSE 0 END}

-- part total_where(condition, column): Of two rows that are joined, the sum over the earlier ones for which it holds.
{total CASE WHEN {condition} THEN earlier.{column} ELSE 0 END}

-- part wide(number): For sums and differences of offsets, which may not fit into 64 bits.
CAST({number} AS DECIMAL(38, 0))

-- part capped_total(column): A sum of offsets or times, at most `largest`: offsets may be as large as this. NULL if
-- all are NULL. Without `least`, which is NULL for a NULL on some engines and not on others.
CASE WHEN sum({wide {column}}) > {largest} THEN {largest} ELSE CAST(sum({wide {column}}) AS BIGINT) END

-- part largest: The largest number of 64 bits.
9223372036854775807

-- part difference(one, other): NULL if it does not fit into 64 bits.
TRY_CAST({wide {one}} - {wide {other}} AS BIGINT)

-- part ratio(number, whole): A share; NULL if the whole is 0.
CASE WHEN {whole} > 0 THEN CAST({number} AS DOUBLE) / CAST({whole} AS DOUBLE) END

-- part seconds_between(earlier, later): Whole seconds, as BIGINT: no engine has a finer difference in the words of the
-- others. Spark multiplies as INT, which 69 years of seconds overflow.
({days_between {earlier}, {later}} + {seconds_of_day_between {earlier}, {later}})

-- part days_between(earlier, later): Of seconds_between, what whole days and hours are.
{seconds_of DAY, {earlier}, {later}, 86400} + {seconds_of HOUR, {earlier}, {later}, 3600}

-- part seconds_of_day_between(earlier, later): The rest of seconds_between.
{seconds_of MINUTE, {earlier}, {later}, 60} + {seconds_of SECOND, {earlier}, {later}, 1}

-- part seconds_of(part, earlier, later, seconds): One term of seconds_between.
CAST(EXTRACT({part} FROM ({later} - {earlier})) AS BIGINT) * {seconds}

-- part distinct_values(column): Without NULL, in order; NULL where there is none.
CASE WHEN count({column}) > 0 THEN array_sort(array_agg(DISTINCT {column}) FILTER (WHERE {column} IS NOT NULL)) END

-- part partitions_where(condition): Partitions for which it holds, in order; NULL where there is none.
CASE WHEN {how_many {condition}} > 0 THEN array_sort(array_agg(partition) FILTER (WHERE {condition})) END
