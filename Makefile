# Everything that is done here, by name. `make help` lists it.
.DEFAULT_GOAL := help
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
RUN := $(VENV)/bin/python
STAMP := $(VENV)/.set-up
COMPILE := $(RUN) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock" $(if $(UPGRADE),--upgrade) pyproject.toml
# As many test processes as cores, four at most; a file stays in one process. WORKERS=0 for one process and a debugger.
WORKERS ?= auto
CODE := shared runtime_svc runtimes_svc tests $(wildcard bench)

.PHONY: help setup run test lint format lock bench bench-recall soak clients page-shots

help: ## List what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv with everything that running, testing and measuring need

$(STAMP): requirements/dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=… setup")'
	test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --require-hashes -r requirements/dev.lock
	$(RUN) -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

run: setup ## Start both services on an embedded PostgreSQL in .run/, with a development token (ARGS=--help for other ports)
	@exec $(RUN) -m shared.development $(ARGS)

test: lint ## Check the code, then run every test (ARGS='-k words' WORKERS=0 for some, in one process)
	$(RUN) -m pytest -n $(WORKERS) --maxprocesses 4 --dist loadfile $(ARGS)

lint: setup ## Style, types and layers
	$(RUN) -m ruff check $(CODE)
	$(RUN) -m ruff format --check $(CODE)
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports

format: setup ## Lay the code out and mend what ruff can
	$(RUN) -m ruff format $(CODE)
	$(RUN) -m ruff check --fix $(CODE)

lock: setup ## Write requirements/*.lock from pyproject.toml (UPGRADE=1 for the newest releases it allows)
	$(COMPILE) --extra dev -o requirements/dev.lock
	$(COMPILE) --constraint requirements/dev.lock -o requirements/platform.lock
	$(COMPILE) --constraint requirements/dev.lock --extra runtime -o requirements/runtime.lock

bench: setup ## Measure everything, ours beside stock mem0, and write bench/README.md (ARGS=stores for a part; half an hour)
	$(RUN) -m bench $(ARGS)

bench-recall: setup ## Measure whether the right memory is found (DATA=file of conversations and questions)
	@test -n "$(DATA)" || { echo "Say which data: make bench-recall DATA=file.json" >&2; exit 2; }
	$(RUN) -m bench.recall $(DATA) $(ARGS)

soak: setup ## Drive both services for a while and watch memory, connections and latency
	$(RUN) -m bench.soak $(ARGS)

clients: setup ## Drive every released client, unmodified, against the running services
	CLIENTS=all $(RUN) -m pytest tests/acceptance $(ARGS)

page-shots: setup ## Photograph the memory page in each of its states
	$(RUN) -m bench.page_shots $(ARGS)
