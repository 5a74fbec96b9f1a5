"""Files and folders as the rest of the project names them: on a disk of this machine, or reached over the network."""
