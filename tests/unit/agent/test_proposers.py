"""The proposers that ship."""

from agent.proposers import default_proposers


def test_templates_come_before_the_compiler():
    assert [p.name for p in default_proposers()] == ["template", "compiler"]
