"""The search: proposers, selection and budget over stored state. Gets `evaluate` and the store as arguments."""
