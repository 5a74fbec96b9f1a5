-- All values of columns with fixed values, in tables, views and commands, and what each value means.
--   table_name string  The table, view or command that has the value.
--   column_name string  The column that has the value; for a field in a list of structs: column.field.
--   value string  The value.
--   meaning string  What the value means.
--   proposal_state string  For states of classic groups: the name of the state in Kafka's design document of release
--       0.9, the Kafka Client-side Assignment Proposal. NULL: the value is not such a state.
SELECT table_name, column_name, value, meaning, NULLIF(proposal_state, '') AS proposal_state
FROM (VALUES
{enumerated_values}
) AS enumerated (table_name, column_name, value, meaning, proposal_state)
ORDER BY table_name, column_name, value
