"""The search loop: budgets, turns, failures of the machine, and going on after a crash."""

import dataclasses

import pytest

from agent.api import AttemptState, Budget, JobState, SearchError
from agent.memory_store import MemoryStore
from agent.search import advance, by_turns
from agent.selection import best
from evaluator.evaluation import InfraError, InvalidProblem, Verdict


@pytest.fixture
def accept(doubles):
    """Judges a candidate as fast as its source says."""

    def accepting(problem, candidate, policy):
        assert policy == "search"
        return doubles.evaluation(candidate, float(candidate.main.split()[-1]))

    return accepting


@pytest.fixture
def search(accept):
    """search(store, job, proposers): step until the job has ended."""

    def searching(store, job, proposers, evaluate=accept, steps=100):
        for _ in range(steps):
            if not advance(job.id, store, evaluate, proposers, {}, threads=1):
                return
        raise AssertionError("the search does not end")

    return searching


def test_it_tries_everything_and_keeps_the_best(doubles, search):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    search(store, job, [doubles.ListProposer("a", 1.0, 3.0, 2.0)])
    assert store.job(job.id).state is JobState.FINISHED
    assert "nothing" not in store.job(job.id).reason
    found = best(store.attempts(job.id))
    assert found is not None
    assert found.number == 2


def test_proposers_take_turns_and_the_first_begins(doubles, search):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    search(store, job, [doubles.ListProposer("a", 1.0, 2.0, 3.0), doubles.ListProposer("b", 4.0)])
    assert [a.proposal.proposer for a in store.attempts(job.id)] == ["a", "b", "a", "a"]


def test_the_same_candidate_is_evaluated_once(doubles, search):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    search(store, job, [doubles.ListProposer("a", 1.0, 1.0), doubles.ListProposer("b", 1.0, 2.0)])
    assert len(store.attempts(job.id)) == 2


def test_the_budget_of_evaluations_is_hard(doubles, search):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget(evaluations=2))
    search(store, job, [doubles.ListProposer("a", 1.0, 2.0, 3.0)])
    assert len(store.attempts(job.id)) == 2
    assert "2 evaluations" in store.job(job.id).reason


def test_what_is_in_flight_counts(doubles, search):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget(evaluations=1))
    store.add_proposal(job.id, doubles.proposal("a", 1.0))
    store.claim(job.id)
    search(store, job, [doubles.ListProposer("a", 2.0)])
    assert len(store.attempts(job.id)) == 1


def test_the_budget_of_time_is_hard_and_spans_sittings(doubles, search):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget(seconds=5.0))
    store.add_seconds(job.id, 5.0)
    search(store, job, [doubles.ListProposer("a", 1.0)])
    assert store.attempts(job.id) == ()
    assert "time budget" in store.job(job.id).reason


def test_a_failing_machine_is_retried_and_not_held_against_the_candidate(doubles, search, accept):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget(evaluations=1))
    failures = iter([True, True, False])

    def flaky(problem, candidate, policy):
        if next(failures):
            raise InfraError("the runner did not start")
        return accept(problem, candidate, policy)

    search(store, job, [doubles.ListProposer("a", 1.5)], flaky)
    (attempt,) = store.attempts(job.id)
    assert attempt.state is AttemptState.EVALUATED
    assert attempt.tries == 3
    assert attempt.evaluation.verdict is Verdict.ACCEPTED


def test_a_machine_that_keeps_failing_ends_the_job_as_failed(doubles, search):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())

    def broken(problem, candidate, policy):
        raise InfraError("no runner")

    search(store, job, [doubles.ListProposer("a", 1.0, 2.0, 3.0, 4.0)], broken)
    assert store.job(job.id).state is JobState.FAILED
    assert [a.state for a in store.attempts(job.id)] == [AttemptState.ABANDONED] * 3


def test_an_invalid_problem_ends_the_job_with_its_reason(doubles, search):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())

    def refuse(problem, candidate, policy):
        raise InvalidProblem("the reference is not reproducible")

    search(store, job, [doubles.ListProposer("a", 1.0)], refuse)
    assert store.job(job.id).state is JobState.FAILED
    assert store.job(job.id).reason == "the reference is not reproducible"


def test_a_killed_evaluation_is_resumed_without_loss(doubles, search):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())

    def killed(problem, candidate, policy):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        advance(job.id, store, killed, [doubles.ListProposer("a", 1.0, 2.0)], {}, threads=1)
    assert store.job(job.id).seconds_used > 0
    assert store.recover(job.id) == 1
    search(store, job, [doubles.ListProposer("a", 1.0, 2.0)])
    assert [a.state for a in store.attempts(job.id)] == [AttemptState.EVALUATED] * 2


def test_a_job_that_has_ended_takes_no_step(doubles, accept):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    store.finish(job.id, JobState.STOPPED, "by a person")
    assert not advance(job.id, store, accept, [doubles.ListProposer("a", 1.0)], {}, threads=1)
    assert store.attempts(job.id) == ()


def test_an_unknown_job_is_an_error(accept):
    with pytest.raises(SearchError):
        advance("job-9", MemoryStore(), accept, [], {}, threads=1)


def test_it_says_what_it_does(doubles, accept):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    said = []
    advance(job.id, store, accept, [doubles.ListProposer("a", 1.5)], {}, threads=1, say=said.append)
    assert said == ["attempt 1: a, idea 1.5", "attempt 1: accepted, 1.50 times torch_compile"]


def test_turns_follow_the_number_of_attempts(doubles):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    store.add_proposal(job.id, doubles.proposal("a", 1.0))
    a, b = doubles.ListProposer("a"), doubles.ListProposer("b")
    assert list(by_turns([a, b], store.attempts(job.id))) == [b, a]


def test_a_costly_proposer_waits_until_the_others_have_had_as_much_time(doubles, accept):
    def judge(problem, candidate, policy):
        seconds = 60.0 if float(candidate.main.split()[-1]) >= 10 else 20.0
        return dataclasses.replace(accept(problem, candidate, policy), stages={"time": seconds})

    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    slow = doubles.ListProposer("slow", 10.0, 11.0)
    quick = doubles.ListProposer("quick", 1.0, 2.0, 3.0, 4.0)
    while advance(job.id, store, judge, [slow, quick], {}, threads=1):
        pass
    order = [a.proposal.proposer for a in store.attempts(job.id)]
    assert order == ["slow", "quick", "quick", "quick", "slow", "quick"]
