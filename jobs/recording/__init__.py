"""What users record beside runs: validated spans of data (`groupscope gate --span`), and marks (`groupscope mark`)."""
