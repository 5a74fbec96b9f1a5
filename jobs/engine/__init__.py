"""Runs the tasks of a job: in worker processes on this machine, or on the executors of a Spark application."""
