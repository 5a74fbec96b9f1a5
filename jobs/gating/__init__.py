"""The gate: metrics of every table, suites of Great Expectations that judge them, findings and waivers."""
