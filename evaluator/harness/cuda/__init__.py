"""What runner, launcher and judge share on CUDA: the driver's calls, memory at fixed addresses, the plan of a call."""
