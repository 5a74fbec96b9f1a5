"""`groupscope maintain`: merges small files, drops old closed rows, deletes unneeded files and Delta logs."""
