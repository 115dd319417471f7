.PHONY: help run test check bench dev audit lock

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

run:  ## run the example of the README
	bin/supervise run "Compare the market capitalization of the top 3 cloud providers with year-over-year growth" --file examples/market_analysis

test:  ## run the tests, offline and in parallel
	bin/test

check:  ## format, lint, types, tests: what CI runs
	.ci/run

bench:  ## measure dispatch against waves, in memory and on SQLite
	bin/test --collect-only -q >/dev/null
	.venv/bin/python -m tests.benchmarks.dispatch

dev:  ## open the teams in LangGraph's development server
	bin/studio

audit:  ## look for known holes in the locked packages, and write the SBOM
	bin/audit

lock:  ## resolve the dependencies anew
	bin/lock
