"""`groupscope maintain`: merges small files, drops old rows and unwanted snapshots, deletes unneeded files and logs."""
