"""Readers of raw values."""

from __future__ import annotations

import pytest

from evaluator.problem import schema
from evaluator.problem.contract import ContractError, NotSupportedYet


def test_a_table_names_the_path_of_an_unknown_key_and_the_nearest_known_one() -> None:
    read = schema.table({"outer": schema.table({"dtype": schema.text, "shape": schema.text})})
    with pytest.raises(ContractError, match="did you mean 'dtype'") as raised:
        read("", {"outer": {"dtpye": "x"}})
    assert raised.value.key == "outer.dtpye"


def test_a_table_lists_its_keys_where_none_is_near() -> None:
    with pytest.raises(ContractError, match="known: dtype, shape"):
        schema.table({"dtype": schema.text, "shape": schema.text})("", {"zzz": 1})


def test_a_table_tells_missing_keys_and_keys_of_later_versions() -> None:
    read = schema.table({"a": schema.flag}, required=("a",), later={"b": "do c instead"})
    with pytest.raises(ContractError, match="a: is missing"):
        read("", {})
    with pytest.raises(NotSupportedYet, match=r"x\.b: not supported yet: do c instead"):
        read("x", {"b": 1})


@pytest.mark.parametrize(
    ("read", "bad"),
    [
        (schema.text, ["", " ", 3, "x" * 201, "a\nb", None]),
        (schema.name, ["a b", "class", "1a", 3, ""]),
        (schema.flag, [1, "true", None]),
        (schema.integer(1, 9), [0, 10, True, 2.0, "2", 10**5000]),
        (schema.number(0, 9), [-1, 10, "2", True, float("nan"), float("inf"), 10**400]),
        (schema.number(positive=True), [0, -1.0]),
        (schema.choice(["a", "b"]), ["c", 1, None, ["a"]]),
        (schema.sequence(schema.flag, 1, 2), [[], [True] * 3, "ab", {}, [1]]),
        (schema.sequence(schema.flag, unique=True), [[True, True]]),
        (schema.mapping(schema.flag, 1), [{}, [], {"1a": True}, {2: True}, {"a": 1}]),
    ],
)
def test_a_value_of_the_wrong_kind_is_a_contract_error(
    read: schema.Reader[object], bad: list[object]
) -> None:
    for value in bad:
        with pytest.raises(ContractError) as raised:
            read("key", value)
        assert raised.value.key.startswith("key")


def test_list_items_are_named_by_their_place() -> None:
    with pytest.raises(ContractError, match=r"w\[1\]"):
        schema.sequence(schema.flag)("w", [True, 3])
