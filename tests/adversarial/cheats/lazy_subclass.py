"""Returns a tensor of a class of its own, which computes when somebody looks.

incident: H-lazy-subclass
problem: softmax
verdict: integrity
defence: process
"""

import torch


class Later(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        plain = [a.done() if isinstance(a, Later) else a for a in args]
        return func(*plain, **(kwargs or {}))

    def done(self):
        with torch._C.DisableTorchFunctionSubclass():
            return torch.softmax(self.as_subclass(torch.Tensor), dim=-1)


def run(x):
    with torch._C.DisableTorchFunctionSubclass():
        return x.as_subclass(Later)
