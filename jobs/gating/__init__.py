"""The gate: metrics of every table, suites of Great Expectations that judge them, findings, waivers, and validated
spans of data."""
