"""The gate: metrics of every table, suites of Great Expectations over them, findings, waivers; validated spans."""
