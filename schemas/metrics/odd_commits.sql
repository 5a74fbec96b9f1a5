-- Odd commits, such as commits of an offset outside of the log, of a lower offset than before, while the group had no
--   members, or for a partition that no member owned.
-- num_commits: Number of these commits.
SELECT {keys}, coalesce(sum(num_commits), 0) AS num_commits, :rules
FROM judged
