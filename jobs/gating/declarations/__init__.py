"""Reads the declarations of the gate: metrics, suites, findings, waivers."""
