"""Who runs the tasks of a job: worker processes on this machine, or the executors of a Spark application."""
