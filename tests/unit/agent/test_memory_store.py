"""The store in memory keeps the contract of the port."""

import pytest

from agent.api import AttemptState, Budget, JobState, SearchError
from agent.memory_store import MemoryStore


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def job(store, doubles):
    return store.add_job(doubles.problem(), Budget())


def test_attempts_are_numbered_claimed_and_recorded_in_order(store, job, doubles):
    for speed in (1.0, 2.0):
        store.add_proposal(job.id, doubles.proposal("a", speed))
    first = store.claim(job.id)
    assert (first.number, first.state, first.tries) == (1, AttemptState.EVALUATING, 1)
    store.record(job.id, 1, doubles.evaluation(first.proposal.candidate))
    assert store.attempts(job.id)[0].state is AttemptState.EVALUATED
    assert store.claim(job.id).number == 2
    assert store.claim(job.id) is None


def test_a_known_candidate_is_not_added_again(store, job, doubles):
    assert store.add_proposal(job.id, doubles.proposal("a", 1.0)) is not None
    assert store.add_proposal(job.id, doubles.proposal("b", 1.0)) is None


def test_the_first_record_is_kept(store, job, doubles):
    attempt = store.add_proposal(job.id, doubles.proposal("a", 1.0))
    store.claim(job.id)
    first = doubles.evaluation(attempt.proposal.candidate, 2.0)
    store.record(job.id, 1, first)
    store.record(job.id, 1, doubles.evaluation(attempt.proposal.candidate, 3.0))
    assert store.attempts(job.id)[0].evaluation == first


def test_the_third_try_put_back_is_abandoned(store, job, doubles):
    store.add_proposal(job.id, doubles.proposal("a", 1.0))
    states = []
    for _ in range(3):
        store.claim(job.id)
        store.put_back(job.id, 1, "the machine failed")
        states.append(store.attempts(job.id)[0].state)
    assert states == [AttemptState.PROPOSED, AttemptState.PROPOSED, AttemptState.ABANDONED]


def test_recover_puts_back_what_a_dead_process_left(store, job, doubles):
    store.add_proposal(job.id, doubles.proposal("a", 1.0))
    store.claim(job.id)
    assert store.recover(job.id) == 1
    assert store.recover(job.id) == 0
    assert store.claim(job.id).tries == 2


def test_a_confirmation_is_kept_beside_the_evaluation(store, job, doubles):
    attempt = store.add_proposal(job.id, doubles.proposal("a", 1.0))
    assert store.claim_confirmation(job.id, 1) is None, "nothing was judged yet"
    store.claim(job.id)
    store.record(job.id, 1, doubles.evaluation(attempt.proposal.candidate, 2.0))
    begun = store.claim_confirmation(job.id, 1)
    assert (begun.state, begun.confirmation_tries) == (AttemptState.CONFIRMING, 1)
    assert store.claim_confirmation(job.id, 1) is None
    first = doubles.evaluation(attempt.proposal.candidate, 1.5)
    store.confirm(job.id, 1, first)
    store.confirm(job.id, 1, doubles.evaluation(attempt.proposal.candidate, 9.0))
    (kept,) = store.attempts(job.id)
    assert (kept.state, kept.confirmation) == (AttemptState.EVALUATED, first)


def test_what_was_cut_short_does_not_count_as_a_try(store, job, doubles):
    attempt = store.add_proposal(job.id, doubles.proposal("a", 1.0))
    store.claim(job.id)
    store.put_back(job.id, 1, "time", tried=False)
    assert store.claim(job.id).tries == 1
    store.record(job.id, 1, doubles.evaluation(attempt.proposal.candidate, 2.0))
    store.claim_confirmation(job.id, 1)
    store.put_back(job.id, 1, "time", tried=False)
    assert store.claim_confirmation(job.id, 1).confirmation_tries == 1
    assert store.recover(job.id) == 1
    assert store.claim_confirmation(job.id, 1).confirmation_tries == 2


def test_time_and_ends_are_remembered(store, job):
    store.add_seconds(job.id, 1.5)
    store.add_seconds(job.id, 2.0)
    store.finish(job.id, JobState.FINISHED, "done")
    kept = store.job(job.id)
    assert (kept.seconds_used, kept.state, kept.reason) == (3.5, JobState.FINISHED, "done")


def test_an_unknown_job_is_an_error(store):
    with pytest.raises(SearchError, match="no job"):
        store.attempts("job-7")
