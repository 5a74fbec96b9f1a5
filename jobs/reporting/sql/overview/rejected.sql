SELECT count(*) AS num_rejected
FROM rejected_records
WHERE cluster = {cluster}
