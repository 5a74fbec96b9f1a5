"""The list of commands, their shared flags, help texts and suggestions."""
