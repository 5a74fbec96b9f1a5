"""The checks of `groupscope doctor`."""
