"""Pages of audits and of the gate, and the file for Prometheus."""
