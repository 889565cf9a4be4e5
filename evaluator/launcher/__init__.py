"""Runs captured calls as data, with no host code but ours: the only clock that counts on `graph`."""
