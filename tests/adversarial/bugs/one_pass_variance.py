"""The variance as the mean of squares less the square of the mean: all digits go where the mean is large.

incident: own
problem: layer_norm_rows
verdict: incorrect
defence: numerics
"""


def run(x):
    mean = x.mean(dim=-1, keepdim=True)
    variance = (x * x).mean(dim=-1, keepdim=True) - mean * mean
    return (x - mean) * (variance.clamp(min=0.0) + 1e-5).rsqrt()
