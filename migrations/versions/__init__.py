"""One file per schema change, in order."""
