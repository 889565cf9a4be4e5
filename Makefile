# The one set of commands for people, hooks and CI. Every target does its own set-up.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.NOTPARALLEL:
.DEFAULT_GOAL := help

PY := .venv/bin/python
PYTEST := $(PY) -m pytest
DEMO_OUT := demo-out
DEMO_PROBLEM := examples/softmax.py

# pytest ends with 5 where nothing matched; that is no failure of a run by marker.
define run_tests
$(PYTEST) $(1) || [ $$? -eq 5 ]
endef

.PHONY: help
help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

.venv/.installed: pyproject.toml constraints.txt scripts/make-venv.sh
	@scripts/make-venv.sh

.PHONY: setup
setup: .venv/.installed ## make .venv, install everything (the other targets do this themselves)
	@scripts/system-packages.sh

.PHONY: demo
# 1 is an honest "nothing better found", which other machines may come to; anything above is a failure.
demo: setup ## the main job: search for a faster row softmax, report in demo-out/
	@mkdir -p $(DEMO_OUT)
	.venv/bin/kernelwright optimize $(DEMO_PROBLEM) --evaluations 12 --seconds 300 \
		--data $(DEMO_OUT)/data --report $(DEMO_OUT)/report.html || [ $$? -eq 1 ]
	@test -s $(DEMO_OUT)/report.html
	@echo "The report is at $(DEMO_OUT)/report.html"

.PHONY: check
check: setup ## format, lint, types, layers
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	.venv/bin/lint-imports --no-logo

.PHONY: test
test: setup ## all tests; those that time something run alone, after the others
	$(call run_tests,-m "not judge and not gpu and not docker" -n 2)
	$(call run_tests,-m "judge and not gpu and not docker")

.PHONY: test-gpu
# With SYSTEM_PYTHON=python3 it takes an interpreter that has torch, triton, cuda-bindings and pytest already.
test-gpu: $(if $(SYSTEM_PYTHON),,setup) ## the tests that need an NVIDIA GPU; skipped with a reason where there is none
	$(if $(SYSTEM_PYTHON),$(SYSTEM_PYTHON) -m pytest -p no:benchmark,$(PYTEST)) tests/gpu || [ $$? -eq 5 ]

.PHONY: test-docker
test-docker: setup ## what needs a Docker engine; installs and starts one where it may, else says why not
	scripts/docker-test.sh

.PHONY: soak
soak: setup ## a thousand evaluations in a row, hostile and honest; takes a quarter of an hour
	$(PY) -m tests.adversarial.soak

.PHONY: bench
bench: setup ## measure what is promised: start-up, time to a verdict
	for script in benchmarks/*.py; do $(PY) "$$script"; done

.PHONY: migrate
migrate: setup ## bring the database to the newest schema
	.venv/bin/kernelwright db upgrade

.PHONY: clean
clean: ## remove what was built or cached; keeps .venv and data/
	rm -rf build dist $(DEMO_OUT) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -path ./.venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
