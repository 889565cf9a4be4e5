"""The job's report: one HTML file that needs nothing else."""
