"""`groupscope maintain`: merges small files, drops old closed rows, deletes files and Delta logs that nobody needs."""
