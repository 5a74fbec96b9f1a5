"""Where files lie, whatever holds them: local disks, object stores, HDFS, all by one interface and without Java."""
