"""The trusted side: protocol, arenas, clock, numerics, gates, verdict. Never imports foreign code."""
