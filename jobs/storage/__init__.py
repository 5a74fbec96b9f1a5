"""Files on local disks, in object stores and in HDFS, all by one interface and without Java."""
