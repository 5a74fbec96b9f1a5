"""Known defects of Kafka's assignors, found in recorded assignments. Those that single records of members show are in
`udfs.audit.modern.record_signatures`."""
