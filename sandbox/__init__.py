"""Run a command or a warm Python process in isolation. Knows nothing of kernels."""
