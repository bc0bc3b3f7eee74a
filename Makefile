# Everything needs Python 3.11 and make; nothing else, no Docker, no network but the package registry. Tests that use
# a tool of Debian's packages (promtool) are skipped without it; as root, make tools installs it.
PYTHON ?= python3.11
# Further arguments for pip, for example an index with CPU builds of PyTorch:
#   make install PIP_ARGS="--extra-index-url <address of the index>"
PIP_ARGS ?=
# Processes of the tests. Many tests wait for groups that form and leases that expire, so that two cores have work
# for three processes.
PROCESSES ?= 3
# Python keeps compiled modules, also where the environment forbids it: hundreds of processes of the tests would compile
# the same ones again.
export PYTHONDONTWRITEBYTECODE :=
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help lock install browser tools demo up test test-long test-deploy check docs format bench bench-analytics chaos clean

help: ## Show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

install: $(INSTALLED) ## Set up .venv with the pinned dependencies

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[worker,local,int8,tracing,dev]' $(PIP_ARGS)
	@touch $(INSTALLED)

demo: install ## Run the examples through everything and sum up
	$(BIN)/touchstone demo

up: install ## Start broker, Valkey, ClickHouse and all agents on this machine
	$(BIN)/touchstone up

APT := [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends

browser: ## Install Chromium for the browser tests, where that can be done; without it they are skipped
	@command -v chromium-headless-shell >/dev/null \
	|| { grep -qs '^ID=debian' /etc/os-release && $(APT) chromium-headless-shell >/dev/null 2>&1; } \
	|| command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	|| { $(APT) chromium >/dev/null; } \
	|| echo "no Chromium, so the browser tests are skipped; install it with: apt-get install chromium-headless-shell"

tools: ## As root: Debian's packages whose tools some tests use
	@command -v promtool >/dev/null && command -v prometheus-alertmanager >/dev/null || { [ "$$(id -u)" = 0 ] \
		&& apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
			prometheus prometheus-alertmanager >/dev/null; } \
		|| echo "promtool or Alertmanager is not installed; their tests are skipped"

test: install browser tools ## Run all tests, in processes with services of their own
	$(BIN)/python -m pytest -n $(PROCESSES) --dist loadscope --no-loadscope-reorder

test-long: install ## Run the long forms of tests, which make test leaves out (docs/testing.md)
	$(BIN)/python -m pytest -n $(PROCESSES) --dist loadscope --no-loadscope-reorder -m long

test-deploy: install tools ## As root, with Podman: start what is shipped for deployment, raise every alert; skipped where that cannot be done
	$(BIN)/python -m pip install --quiet 'podman-compose>=1.6,<2'
	$(BIN)/python -m pytest tests/deploy tests/chaos/test_alerts.py tests/chaos/test_further_alerts.py tests/e2e/test_dashboards.py \
		-m "containers or not containers"

check: install ## Lint, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lock: install ## Write the locks of the image in deploy: the versions of constraints.txt with the hashes of the package index
	$(BIN)/python -m pip install --quiet 'uv>=0.9,<1'
	$(BIN)/python deploy/lock.py

docs: install ## Build the documentation site in build/site; any warning is an error
	$(BIN)/mkdocs build --strict

format: install ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

chaos: install ## Play all fault scenarios with 10,000 answers each (hours)
	$(BIN)/touchstone chaos --json chaos.json

bench: install ## Measure, as ratios within one run
	$(BIN)/python -m benchmarks.seed
	$(BIN)/python -m benchmarks.limit
	$(BIN)/python -m benchmarks.stages --precision int8
	$(BIN)/python -m benchmarks.pipeline
	$(BIN)/python -m benchmarks.growth
	$(BIN)/python -m benchmarks.look_up_times
	$(BIN)/python -m benchmarks.grounding_times
	$(BIN)/python -m benchmarks.feedback_times
	$(BIN)/python -m benchmarks.masking
	$(BIN)/python -m benchmarks.check
	TOUCHSTONE_INFERENCE__PRECISION=int8 $(BIN)/python -m benchmarks.check
	$(BIN)/python -m benchmarks.review_queue
	$(BIN)/python -m benchmarks.queue_pages
	$(BIN)/python -m benchmarks.replay_speed
	$(BIN)/python -m benchmarks.rebuild
	$(BIN)/python -m benchmarks.callback
	$(BIN)/python -m benchmarks.shared_vectors

bench-analytics: install ## Ten million answers in ClickHouse: every question within its limit (half an hour)
	$(BIN)/python -m benchmarks.analytics --json docs/reference/analytics.json

clean: ## Remove local state and caches
	rm -rf .touchstone .mypy_cache .pytest_cache .ruff_cache .hypothesis
