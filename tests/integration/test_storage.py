"""The store keeps its contract over processes, crashes and whatever text it is given."""

from __future__ import annotations

import multiprocessing
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from agent.api import AttemptState, Budget, JobState, Proposal, SearchError
from evaluator.evaluation import Evaluation
from evaluator.problem.contract import Problem
from services.db.artifacts import Artifacts
from services.db.baselines import BaselineCache
from services.db.engine import Database
from services.db.models import ArtifactRow
from services.db.store import SqlStore
from services.errors import RecordDamaged, SettingsError, UnknownJob

Propose = Callable[..., Proposal]


def test_a_problem_comes_back_as_it_was(store: SqlStore, problem: Problem) -> None:
    job = store.create(problem, Budget(3, None))
    again = store.job(job.id).problem
    assert again == problem
    assert again.digest == problem.digest
    assert store.job(job.id).budget == Budget(3, None)


def test_a_candidate_comes_back_as_it_was(store: SqlStore, problem: Problem, proposal: Propose) -> None:
    job = store.create(problem, Budget())
    proposed = proposal(1)
    store.add_proposal(job.id, proposed)
    (attempt,) = store.attempts(job.id)
    assert attempt.proposal.candidate == proposed.candidate
    assert list(attempt.proposal.candidate.files) == ["candidate.cpp", "helper.h"]
    assert attempt.proposal.parameters == proposed.parameters
    assert attempt.proposal.idea == "idea 1\ufffd"


def test_a_job_tries_a_candidate_once(store: SqlStore, problem: Problem, proposal: Propose) -> None:
    one, two = store.create(problem, Budget()), store.create(problem, Budget())
    assert store.add_proposal(one.id, proposal(1)) is not None
    assert store.add_proposal(one.id, proposal(1, "compiler")) is None
    second = store.add_proposal(one.id, proposal(2))
    assert second is not None
    assert second.number == 2
    other = store.add_proposal(two.id, proposal(1))
    assert other is not None
    assert other.number == 1


def test_the_oldest_is_claimed_and_recorded_once(
    store: SqlStore, problem: Problem, proposal: Propose, evaluation: Callable[..., Evaluation]
) -> None:
    job = store.create(problem, Budget())
    for n in (1, 2):
        store.add_proposal(job.id, proposal(n))
    claimed = store.claim(job.id)
    assert claimed is not None
    assert (claimed.number, claimed.state, claimed.tries) == (1, AttemptState.EVALUATING, 1)
    first = evaluation(problem, claimed.proposal, "first")
    store.record(job.id, 1, first)
    store.record(job.id, 1, evaluation(problem, claimed.proposal, "second"))
    assert store.attempts(job.id)[0].evaluation == first
    store.put_back(job.id, 1, "too late")
    assert store.attempts(job.id)[0].state is AttemptState.EVALUATED
    next_one = store.claim(job.id)
    assert next_one is not None
    assert next_one.number == 2
    assert store.claim(job.id) is None


def test_a_confirmation_is_kept_beside_the_evaluation(
    store: SqlStore, problem: Problem, proposal: Propose, evaluation: Callable[..., Evaluation]
) -> None:
    job = store.create(problem, Budget())
    store.add_proposal(job.id, proposal(1))
    store.claim(job.id)
    assert store.claim_confirmation(job.id, 1) is None
    store.record(job.id, 1, evaluation(problem, proposal(1), "first"))
    begun = store.claim_confirmation(job.id, 1)
    assert begun is not None
    assert (begun.state, begun.confirmation_tries) == (AttemptState.CONFIRMING, 1)
    assert store.recover(job.id) == 1
    store.claim_confirmation(job.id, 1)
    store.put_back(job.id, 1, "time", tried=False)
    assert store.attempts(job.id)[0].confirmation_tries == 1
    store.claim_confirmation(job.id, 1)
    second = evaluation(problem, proposal(1), "second")
    store.confirm(job.id, 1, second)
    store.confirm(job.id, 1, evaluation(problem, proposal(1), "third"))
    (kept,) = store.attempts(job.id)
    assert (kept.state, kept.confirmation, kept.confirmation_tries) == (AttemptState.EVALUATED, second, 2)
    assert kept.evaluation is not None
    assert kept.evaluation.reason == "first"
    assert [e.kind.value for e in store.events(job.id)][-1] == "confirmed"


def test_three_tries_and_it_is_abandoned(store: SqlStore, problem: Problem, proposal: Propose) -> None:
    job = store.create(problem, Budget())
    store.add_proposal(job.id, proposal(1))
    for tries in (1, 2, 3):
        claimed = store.claim(job.id)
        assert claimed is not None
        assert claimed.tries == tries
        store.put_back(job.id, 1, "the disk is full")
    assert store.attempts(job.id)[0].state is AttemptState.ABANDONED
    assert store.claim(job.id) is None
    assert store.reasons(job.id) == {1: "the disk is full"}


def test_recover_puts_back_what_a_dead_process_left(
    store: SqlStore, problem: Problem, proposal: Propose
) -> None:
    job = store.create(problem, Budget())
    store.add_proposal(job.id, proposal(1))
    store.claim(job.id)
    assert store.recover(job.id) == 1
    assert store.recover(job.id) == 0
    assert store.attempts(job.id)[0].state is AttemptState.PROPOSED


def test_seconds_add_up_and_the_end_is_kept(store: SqlStore, problem: Problem) -> None:
    job = store.create(problem, Budget())
    store.add_seconds(job.id, 1.5)
    store.add_seconds(job.id, 2.25)
    store.finish(job.id, JobState.STOPPED, "by a person")
    ended = store.job(job.id)
    assert (ended.seconds_used, ended.state, ended.reason) == (3.75, JobState.STOPPED, "by a person")
    reopened = store.reopen(job.id, Budget(9, 9.0))
    assert (reopened.state, reopened.budget) == (JobState.RUNNING, Budget(9, 9.0))


def test_events_tell_what_happened_in_order(store: SqlStore, problem: Problem, proposal: Propose) -> None:
    job = store.create(problem, Budget())
    store.add_proposal(job.id, proposal(1))
    store.claim(job.id)
    store.recover(job.id)
    store.finish(job.id, JobState.FINISHED, "done")
    events = store.events(job.id)
    assert [e.sequence for e in events] == [1, 2, 3, 4, 5]
    assert [e.kind.value for e in events] == ["job_created", "proposed", "claimed", "put_back", "job_ended"]
    assert [e.sequence for e in store.events(job.id, after=3)] == [4, 5]
    assert events[0].at.tzinfo is not None


@pytest.mark.parametrize(
    "ask",
    [
        lambda s: s.job("nope"),
        lambda s: s.claim("nope"),
        lambda s: s.add_seconds("nope", 1.0),
        lambda s: s.finish("nope", JobState.FINISHED, ""),
        lambda s: s.recover("nope"),
    ],
)
def test_an_unknown_job_is_named(store: SqlStore, ask: Callable[[SqlStore], Any]) -> None:
    with pytest.raises(UnknownJob, match="nope"):
        ask(store)


def test_an_unknown_attempt_is_an_error(store: SqlStore, problem: Problem) -> None:
    job = store.create(problem, Budget())
    with pytest.raises(SearchError, match="no attempt 7"):
        store.put_back(job.id, 7, "")


def claim_all(url: str, job_id: str, results: Any) -> None:
    """What a worker does: claim until nothing is left."""
    database = Database(url)
    store = SqlStore(database)
    numbers = []
    while (attempt := store.claim(job_id)) is not None:
        numbers.append(attempt.number)
    results.put(numbers)
    database.close()


def test_processes_that_claim_at_once_get_different_attempts(
    database: Database, store: SqlStore, problem: Problem, proposal: Propose
) -> None:
    job = store.create(problem, Budget())
    for n in range(30):
        store.add_proposal(job.id, proposal(n))
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    url = str(database.engine.url)
    workers = [context.Process(target=claim_all, args=(url, job.id, results)) for _ in range(3)]
    for worker in workers:
        worker.start()
    numbers = [results.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join()
    results.close()
    assert sorted(n for some in numbers for n in some) == list(range(1, 31))
    assert {a.tries for a in store.attempts(job.id)} == {1}
    assert [e.sequence for e in store.events(job.id)] == list(range(1, 62))


def test_a_failed_transaction_leaves_nothing(database: Database, store: SqlStore, problem: Problem) -> None:
    def broken() -> None:
        with database.writing() as session:
            Artifacts(session).put(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    with database.reading() as session:
        assert session.query(ArtifactRow).count() == 0


def test_artifacts_are_kept_once_and_checked(database: Database) -> None:
    with database.writing() as session:
        digest = Artifacts(session).put(b"x" * 10_000)
        assert Artifacts(session).put(b"x" * 10_000) == digest
        row = session.get_one(ArtifactRow, digest)
        assert (row.size, row.compressed_size) == (10_000, len(row.compressed))
        assert row.compressed_size < 100
    with database.writing() as session:
        session.get_one(ArtifactRow, digest).compressed = zlib.compress(b"other")
    with database.reading() as session, pytest.raises(RecordDamaged, match="other content"):
        Artifacts(session).get(digest)


def test_the_baseline_cache_keeps_the_last(database: Database) -> None:
    cache = BaselineCache(database)
    assert cache.get("k") is None
    cache.put("k", {"torch_eager": [1e-3, float("inf")]})
    cache.put("k", {"torch_eager": [2e-3]})
    assert cache.get("k") == {"torch_eager": [2e-3]}


def test_sqlite_is_opened_safely(database: Database) -> None:
    with database.reading() as session:
        assert session.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert session.execute(text("PRAGMA foreign_keys")).scalar() == 1


@pytest.mark.parametrize("url", ["nonsense", "oracle+nodriver://h/d"])
def test_a_wrong_url_is_a_setting(url: str) -> None:
    with pytest.raises(SettingsError, match="database URL"):
        Database(url)


def test_reopening_the_file_finds_everything(database: Database, store: SqlStore, problem: Problem) -> None:
    job = store.create(problem, Budget(), ("template",))
    url = str(database.engine.url)
    database.close()
    again = Database(url)
    assert SqlStore(again).record_of(job.id).proposers == ("template",)
    again.close()
    assert Path(url.removeprefix("sqlite:///")).stat().st_size > 0
