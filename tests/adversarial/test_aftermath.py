"""What one candidate does is not paid for by the next one, by the host, or by whoever waits for the verdict."""

import resource
from dataclasses import replace

import pytest

from evaluator.problem.candidate import Candidate, Language

pytestmark = [pytest.mark.judge, pytest.mark.slow]

PYTHON = """
import torch


class Rows:
    def answer(self, x):
        return torch.logsumexp(x, dim=-1, keepdim=True) + {more}


def run(x):
    return Rows().answer(x)
"""

CPP = """
#include <cmath>

#include "kernelwright.h"

double answer(const float *row, int64_t cols) {{
    double sum = {more};
    for (int64_t col = 0; col < cols; ++col) sum += std::exp(static_cast<double>(row[col]));
    return std::log(sum);
}}

extern "C" int kernelwright_run(const kw_args *args) {{
    const kw_tensor &x = args->inputs[0];
    const int64_t rows = x.shape[0], cols = x.shape[1];
    for (int64_t row = 0; row < rows; ++row)
        static_cast<float *>(args->outputs[0].data)[row] =
            static_cast<float>(answer(static_cast<const float *>(x.data) + row * cols, cols));
    return 0;
}}
"""

ENDLESS = """
#include "kernelwright.h"

constexpr int spin(int start) {
    int sum = start;
    for (int i = 0; i < 1000; ++i)
        for (int j = 0; j < 1000; ++j) sum ^= i * j;
    return sum;
}

template <int N> struct Slow { static constexpr int value = spin(N) ^ Slow<N - 1>::value; };
template <> struct Slow<0> { static constexpr int value = 0; };

extern "C" int kernelwright_run(const kw_args *) { return Slow<800>::value; }
"""
BUILD_SECONDS = 4.0
FLAT = 64 << 10
"""KiB by which the judge's largest memory may grow while a candidate prints gigabytes."""


def python(more):
    return Candidate({"candidate.py": PYTHON.format(more=more)}, Language.PYTHON)


def cpp(more, **others):
    return Candidate({"candidate.cpp": CPP.format(more=more), **others}, Language.CPP)


@pytest.mark.parametrize("made", [python, cpp])
def test_equal_names_do_not_mix(made, court):
    verdicts = [court.evaluate_source(made(more), "log_sum").verdict for more in (0, 100, 0)]
    assert verdicts == ["accepted", "incorrect", "accepted"]


def test_a_build_that_was_ended_hinders_no_other(court):
    problem = court.problem("log_sum")
    hasty = replace(problem.contract, timeouts=replace(problem.contract.timeouts, build=BUILD_SECONDS))
    endless = Candidate({"candidate.cpp": ENDLESS}, Language.CPP)
    assert court.evaluate_source(endless, replace(problem, contract=hasty)).verdict == "timeout"
    assert court.evaluate_source(cpp(0.0), problem).verdict == "accepted"


@pytest.mark.parametrize("name", ["-include=candidate.cpp", "@candidate.cpp", "-", "--version"])
def test_a_file_s_name_is_no_option_of_the_compiler(name, court):
    source = cpp(0, **{f"{name}.cpp": "static int unused;\n"})
    assert court.evaluate_source(source, "log_sum").verdict == "accepted"


@pytest.mark.parametrize("flood", ["one_endless_line", "prints_forever"])
def test_the_judge_s_memory_stays_flat(flood, court, planted_as, policies, honest_on):
    court.evaluate(honest_on["softmax"], policies.glance)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert court.evaluate(planted_as(flood), policies.glance).verdict == "resource_limit"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < FLAT
