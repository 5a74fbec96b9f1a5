"""The job that recomputes recorded assignments: its plan, its tasks, and what they write."""
