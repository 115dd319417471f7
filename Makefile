.PHONY: help run test test-all exams check fresh bench bench-quick versus chaos cluster real chat pages report-page pages-test package pictures site dev audit lock

KILLS ?= 300
RUNS ?= 300
OPTIONS ?=

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

run:  ## run the example of the README
	bin/supervise run "Compare the market capitalization of the top 3 cloud providers with year-over-year growth" --file teams/market_analysis/sample

test:  ## run the tests that need no server, database, sandbox or whole team
	bin/test

test-all:  ## run all tests and exams, offline and in parallel
	bin/test --all

exams:  ## let every shipped team sit its exam, offline
	bin/test tests/exams

check:  ## format, lint, types, tests, exams, a fresh machine: what CI runs
	.ci/run

fresh:  ## prove that a clone sets itself up: each Python found, pip and uv, either command first, all quick tests
	python3 tests/benchmarks/fresh_machine.py --whole

bench:  ## measure plans against the limit, a scheduler by hand and LangGraph's waves; an hour, OPTIONS="--repeat 1" a quarter
	bin/test --collect-only -q >/dev/null
	.venv/bin/python -m tests.benchmarks.performance $(OPTIONS)

bench-quick:  ## the same for a few plans and savers, once; about two minutes
	bin/test --collect-only -q >/dev/null
	.venv/bin/python -m tests.benchmarks.performance --quick $(OPTIONS)

versus:  ## the same task for one agent, LangGraph waves, deepagents and others, and ours; some minutes of set-up, then two or three
	bin/test --collect-only -q >/dev/null
	.venv/bin/python -m tests.benchmarks.versus --publish $(OPTIONS)

chaos:  ## kill runs, restart PostgreSQL, let many write at once; takes an hour or more, KILLS=5 RUNS=10 some minutes
	bin/test --collect-only -q >/dev/null
	.venv/bin/python -m tests.benchmarks.kills --kills $(KILLS)
	.venv/bin/python -m tests.benchmarks.kills --kills $(KILLS) --postgres
	.venv/bin/python -m tests.benchmarks.kills --kills $(KILLS) --times 3
	.venv/bin/python -m tests.benchmarks.restarts --runs $(RUNS)
	.venv/bin/python -m tests.benchmarks.writers
	.venv/bin/python -m tests.benchmarks.writers --postgres

cluster:  ## try two servers over one database: kills, pauses, the same answers; needs Python 3.12, redis-server; OPTIONS=--quick
	bin/test --collect-only -q >/dev/null
	.venv/bin/python -m tests.cluster $(OPTIONS)

real:  ## run every team with a small language model on a real server; an hour or more, OPTIONS=--quick some minutes
	bin/test --collect-only -q >/dev/null
	.venv/bin/python -m tests.real_model $(OPTIONS)

chat:  ## drive chat clients in Chromium against the server, with pictures; needs Node, npm and Chromium
	bin/test --collect-only -q >/dev/null
	.venv/bin/python -m tests.chat $(OPTIONS)

pages:  ## build the pages of graph/pages from web/; needs Node and npm
	cd web && npm ci --ignore-scripts && npm run check && npm test && npm run build

report-page:  ## open reports in Chromium: time, accessibility, keyboard, pictures; needs Node and Chromium
	bin/test --collect-only -q >/dev/null
	.venv/bin/python -m tests.report_page

pages-test:  ## drive the live page in Chromium, or OPTIONS="--browser firefox", against supervise ui and Aegra; needs Node, the browser and `make pages`
	bin/test --collect-only -q >/dev/null
	.venv/bin/python -m tests.pages $(OPTIONS)

pictures:  ## record the pictures of the report and the live page in docs/images; needs Node, npm and Chromium
	bin/test --collect-only -q >/dev/null
	docs/pictures/make

package:  ## build the sdist and the wheel into dist/, the same bytes for the same commit
	bin/package

site:  ## build the documentation as a site in site/; needs npm
	docs/site/make $(OPTIONS)

dev:  ## open the teams in LangGraph's development server
	bin/studio

audit:  ## look for known holes in the locked packages, and write the SBOM
	bin/audit

lock:  ## resolve the dependencies again
	bin/lock
