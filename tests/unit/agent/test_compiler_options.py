"""Which options are tried on which problem."""

import pytest
import torch

from agent.api import View
from agent.compiler_options import VARIANTS, traits

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is:DeprecationWarning")


@pytest.fixture
def options_for(doubles, call, graph_of):
    """options_for(reference, *inputs): the names of all options that fit."""

    def names(reference, *inputs, threads=1):
        graphs = {"w": graph_of(call(reference, list(inputs)))}
        found = traits(View(doubles.problem(), graphs, (), threads))
        return {name for v in VARIANTS if v.fits(found) for name in v.options}

    return names


def test_every_option_is_one_that_the_compiler_knows():
    for variant in VARIANTS:
        torch.compile(lambda x: x, options=dict(variant.options) or None)


def test_no_two_are_the_same():
    assert len({repr((sorted(v.options.items(), key=str), v.dynamic)) for v in VARIANTS}) == len(VARIANTS)


def test_choosing_kernels_by_trying_is_for_products(options_for):
    x, y = torch.randn(4, 4), torch.randn(4, 4)
    assert "max_autotune" in options_for(torch.matmul, x, y)
    assert "max_autotune" not in options_for(torch.add, x, y)


def test_folding_weights_is_for_modules_that_have_some(options_for):
    x = torch.randn(3, 4)
    assert "freezing" in options_for(torch.nn.Linear(4, 2), x)
    assert "freezing" not in options_for(torch.nn.ReLU(), x)


def test_shares_of_threads_matter_where_there_are_several(options_for):
    assert "cpp.min_chunk_size" not in options_for(torch.relu, torch.randn(4))
    assert "cpp.min_chunk_size" in options_for(torch.relu, torch.randn(4), threads=4)


def test_everything_may_matter_where_nothing_is_known(doubles):
    found = traits(View(doubles.problem(), {}, (), 2))
    left_out = [v.idea for v in VARIANTS if not v.fits(found)]
    assert left_out == ["one code for all sizes"]
