-- Committed offsets that were moved or removed in another way than by reading messages.
-- num_messages_reread: Messages that are read again, because these resets moved offsets back over them.
-- num_messages_skipped: Messages that are not read, because these resets moved offsets forward past them.
SELECT {keys}, coalesce(sum(CAST(messages_reread AS DOUBLE)), 0) AS num_messages_reread,
  coalesce(sum(CAST(messages_skipped AS DOUBLE)), 0) AS num_messages_skipped, :rules
FROM judged
