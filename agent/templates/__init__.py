"""Parametrised expert kernels."""
