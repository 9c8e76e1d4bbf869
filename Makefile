# Everything a person does has one command here; CI calls the same ones.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUICK := tests/unit tests/property tests/golden tests/repo tests/simulation
# Tests on control planes mostly wait, so those of several planes run side by side, each plane's in
# one process (tests/scheduling.py). What failed is tried once more, by itself and said so: a machine
# that stalled for seconds does not fail it twice, a fault of ours does.
REAL := tests/integration tests/conformance
.DEFAULT_GOAL := help
.PHONY: help setup lint test quick controlplane tools demo bench lock generate

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

setup: $(VENV)/.installed ## a virtual environment with everything that tests need

$(VENV)/.installed: requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

lint: setup ## ruff, mypy, import-linter
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: setup controlplane tools ## every test, the real control plane's too
	$(BIN)/pytest -n 2 $(QUICK) tests/deploy
	$(BIN)/pytest -n 3 --dist loadscope $(REAL) || $(BIN)/pytest --last-failed --last-failed-no-failures none $(REAL)

quick: setup ## the tests that need no control plane: before every commit
	$(BIN)/pytest -n 2 $(QUICK)

controlplane: ## build what is missing of the real control plane
	./hack/controlplane/build.sh

tools: ## build what is missing of helm and promtool
	./hack/tools/build.sh

demo: setup ## a LeaderWorkerSet's life, told and checked; DEMO=real on a real control plane
	@if [ "$(DEMO)" = real ]; then $(MAKE) controlplane; fi
	$(BIN)/python -m demo

bench: setup controlplane ## figures: time, CPU, memory, requests
	$(BIN)/python -m benchmarks.run

generate: setup ## write the generated files anew (CRDs, schema tables)
	$(BIN)/python scripts/generate.py

lock: ## pin the dependencies anew, hashes and no addresses
	$(BIN)/uv pip compile pyproject.toml --extra dev --generate-hashes --no-emit-index-url --python-version 3.11 --universal -q -o requirements/dev.txt --custom-compile-command "make lock"
	$(BIN)/uv pip compile pyproject.toml --generate-hashes --no-emit-index-url --python-version 3.11 --universal -q -o requirements/runtime.txt --custom-compile-command "make lock"
	grep -o 'hatchling>=[0-9.]*' pyproject.toml | head -1 | $(BIN)/uv pip compile - --generate-hashes --no-emit-index-url --python-version 3.11 --universal -q -o requirements/build.txt --custom-compile-command "make lock"
