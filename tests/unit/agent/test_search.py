"""The search loop: budgets, turns, failures of the machine, and going on after a crash."""

import dataclasses

import pytest

from agent.api import AttemptState, Budget, JobState, Known, SearchError
from agent.confirmation import MOST, confirmed
from agent.memory_store import MemoryStore
from agent.search import Search, by_turns
from agent.selection import best
from evaluator.evaluation import InfraError, InvalidProblem, OutOfTime, Verdict

KNOWN = Known({}, threads=1)


@pytest.fixture
def accept(doubles):
    """Judges a candidate as fast as its source says."""

    def accepting(problem, candidate, policy, deadline):
        return doubles.evaluation(candidate, float(candidate.main.split()[-1]))

    return accepting


@pytest.fixture
def search(accept):
    """search(store, job, proposers): step until the job has ended."""

    def searching(store, job, proposers, evaluate=accept, steps=100, known=KNOWN):
        work = Search(store, evaluate, proposers, known)
        for _ in range(steps):
            if not work.advance(job.id):
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
    failures = iter([True, True])

    def flaky(problem, candidate, policy, deadline):
        if next(failures, False):
            raise InfraError("the runner did not start")
        return accept(problem, candidate, policy, deadline)

    search(store, job, [doubles.ListProposer("a", 1.5)], flaky)
    (attempt,) = store.attempts(job.id)
    assert attempt.state is AttemptState.EVALUATED
    assert attempt.tries == 3
    assert attempt.evaluation.verdict is Verdict.ACCEPTED


def test_a_machine_that_keeps_failing_ends_the_job_as_failed(doubles, search):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())

    def broken(problem, candidate, policy, deadline):
        raise InfraError("no runner")

    search(store, job, [doubles.ListProposer("a", 1.0, 2.0, 3.0, 4.0)], broken)
    assert store.job(job.id).state is JobState.FAILED
    assert [a.state for a in store.attempts(job.id)] == [AttemptState.ABANDONED] * 3


def test_an_invalid_problem_ends_the_job_with_its_reason(doubles, search):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())

    def refuse(problem, candidate, policy, deadline):
        raise InvalidProblem("the reference is not reproducible")

    search(store, job, [doubles.ListProposer("a", 1.0)], refuse)
    assert store.job(job.id).state is JobState.FAILED
    assert store.job(job.id).reason == "the reference is not reproducible"


def test_a_killed_evaluation_is_resumed_without_loss(doubles, search):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())

    def killed(problem, candidate, policy, deadline):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Search(store, killed, [doubles.ListProposer("a", 1.0, 2.0)], KNOWN).advance(job.id)
    assert store.job(job.id).seconds_used > 0
    assert store.recover(job.id) == 1
    search(store, job, [doubles.ListProposer("a", 1.0, 2.0)])
    assert [a.state for a in store.attempts(job.id)] == [AttemptState.EVALUATED] * 2


def test_a_job_that_has_ended_takes_no_step(doubles, accept):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    store.finish(job.id, JobState.STOPPED, "by a person")
    assert not Search(store, accept, [doubles.ListProposer("a", 1.0)], KNOWN).advance(job.id)
    assert store.attempts(job.id) == ()


def test_an_unknown_job_is_an_error(accept):
    with pytest.raises(SearchError):
        Search(MemoryStore(), accept, [], KNOWN).advance("job-9")


def test_it_says_what_it_does(doubles, accept):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    said = []
    work = Search(store, accept, [doubles.ListProposer("a", 1.5)], KNOWN, said.append)
    while work.advance(job.id):
        pass
    assert said == [
        "attempt 1: a, idea 1.5",
        "attempt 1: accepted, 1.50 times torch_compile",
        "attempt 1: confirming it, apart from what made it the best",
        "attempt 1: confirmed, 1.50 times torch_compile",
    ]


def test_turns_follow_the_number_of_attempts(doubles):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    store.add_proposal(job.id, doubles.proposal("a", 1.0))
    a, b = doubles.ListProposer("a"), doubles.ListProposer("b")
    assert list(by_turns([a, b], store.attempts(job.id))) == [b, a]


def test_a_costly_proposer_waits_until_the_others_have_had_as_much_time(doubles, accept):
    def judge(problem, candidate, policy, deadline):
        seconds = 60.0 if float(candidate.main.split()[-1]) >= 10 else 20.0
        return dataclasses.replace(accept(problem, candidate, policy, deadline), stages={"time": seconds})

    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    slow = doubles.ListProposer("slow", 10.0, 11.0)
    quick = doubles.ListProposer("quick", 1.0, 2.0, 3.0, 4.0)
    work = Search(store, judge, [slow, quick], KNOWN)
    while work.advance(job.id):
        pass
    order = [a.proposal.proposer for a in store.attempts(job.id)]
    assert order == ["slow", "quick", "quick", "quick", "slow", "quick"]


def test_the_best_is_judged_once_more_when_all_is_tried(doubles, search, accept):
    policies = []

    def judge(problem, candidate, policy, deadline):
        policies.append((float(candidate.main.split()[-1]), policy))
        return accept(problem, candidate, policy, deadline)

    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget(evaluations=3))
    search(store, job, [doubles.ListProposer("a", 1.5, 3.0, 2.0, 9.0)], judge)
    assert policies == [(1.5, "search"), (3.0, "search"), (2.0, "search"), (3.0, "confirm")]
    assert confirmed(store.attempts(job.id), 0.98).number == 2
    assert "3 evaluations" in store.job(job.id).reason


def test_where_the_best_was_luck_the_next_is_confirmed(doubles, search, accept):
    def judge(problem, candidate, policy, deadline):
        if policy == "confirm" and "3.0" in candidate.main:
            return doubles.evaluation(candidate, 1.0)
        return accept(problem, candidate, policy, deadline)

    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    search(store, job, [doubles.ListProposer("a", 2.0, 3.0)], judge)
    first, second = store.attempts(job.id)
    assert second.confirmation.timing.speedup.value == 1.0
    assert confirmed([first, second], 0.98) is first


def test_only_so_many_are_confirmed(doubles, search, accept):
    def judge(problem, candidate, policy, deadline):
        return doubles.evaluation(
            candidate, 1.0 if policy == "confirm" else float(candidate.main.split()[-1])
        )

    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    search(store, job, [doubles.ListProposer("a", 2.0, 3.0, 4.0, 5.0, 6.0)], judge)
    assert sum(a.confirmation is not None for a in store.attempts(job.id)) == MOST
    assert confirmed(store.attempts(job.id), 0.98) is None


def test_time_is_kept_for_the_confirmation(doubles, search, accept):
    """An evaluation has cost 60 of 100 seconds: what is left goes to confirming, not to trying another."""
    limits = []

    def judge(problem, candidate, policy, deadline):
        limits.append((policy, deadline))
        store.add_seconds(job.id, 60.0)
        return dataclasses.replace(accept(problem, candidate, policy, deadline), stages={"time": 60.0})

    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget(seconds=100.0))
    search(store, job, [doubles.ListProposer("a", 2.0, 3.0)], judge)
    assert [policy for policy, _ in limits] == ["search", "confirm"]
    assert limits[1][1] - limits[0][1] == pytest.approx(-60.0, abs=5.0)


def test_an_evaluation_that_the_job_s_time_cuts_short_is_tried_again_on_resumption(doubles, search, accept):
    def late(problem, candidate, policy, deadline):
        raise OutOfTime

    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget(seconds=10.0))
    store.add_seconds(job.id, 9.9999)
    search(store, job, [doubles.ListProposer("a", 2.0)], late, steps=10_000_000)
    (attempt,) = store.attempts(job.id)
    assert (attempt.state, attempt.tries) == (AttemptState.PROPOSED, 0)
    assert store.job(job.id).state is JobState.FINISHED


def test_a_confirmation_that_time_cuts_short_is_said_and_can_be_made_later(doubles, search, accept):
    def judge(problem, candidate, policy, deadline):
        if policy == "confirm":
            raise OutOfTime
        return accept(problem, candidate, policy, deadline)

    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget(seconds=0.05))
    search(store, job, [doubles.ListProposer("a", 2.0)], judge, steps=10_000_000)
    assert "attempt 1 is not confirmed" in store.job(job.id).reason
    assert store.attempts(job.id)[0].confirmation_tries == 0


def test_a_confirmation_that_the_machine_fails_is_made_again(doubles, search, accept):
    failures = iter([True, False])

    def flaky(problem, candidate, policy, deadline):
        if policy == "confirm" and next(failures):
            raise InfraError("the disk is full")
        return accept(problem, candidate, policy, deadline)

    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    search(store, job, [doubles.ListProposer("a", 2.0)], flaky)
    (attempt,) = store.attempts(job.id)
    assert attempt.confirmation_tries == 2
    assert confirmed([attempt], 0.98) is attempt


def test_the_search_stops_at_the_floor_of_the_machine(doubles, search):
    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    known = Known({}, threads=1, floors={"w": 0.97})  # a double's call takes a second
    search(store, job, [doubles.ListProposer("a", 2.0, 3.0)], known=known)
    assert len(store.attempts(job.id)) == 1
    assert "as fast as this machine" in store.job(job.id).reason


def test_the_compilers_code_is_asked_for_by_who_wants_it(doubles, search):
    class Curious:
        name = "curious"

        def propose(self, view):
            candidate = view.generated()
            return iter([doubles.proposal(self.name, 2.0)] if candidate is None else [])

    store = MemoryStore()
    job = store.add_job(doubles.problem(), Budget())
    search(store, job, [Curious()])
    assert len(store.attempts(job.id)) == 1
