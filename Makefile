# Everything a user or a developer does from the command line; 'make help' lists it. Each target installs
# the Debian packages it needs (scripts/packages.txt) and builds what it runs.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

JOBS ?= $(shell nproc)
# How many tests run at the same time: the long ones wait most of the time.
TEST_JOBS ?= $(shell echo $$((3 * $(JOBS))))
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
# For make noise: no suite begins after that time, nor with a seed above this one. Some suites: NOISE_SUITES="controllers loops".
NOISE_SECONDS ?= 900
NOISE_SEEDS ?= 20
NOISE_SUITES ?=
# Where zsh looks for completions; Debian's own packages have another place.
ZSH_COMPLETIONS ?= $(PREFIX)/share/zsh/site-functions
# For make image: which programs, and what stands before their names, such as registry.example/karmada.
IMAGES ?= karmada-controller-manager karmada-search karmada-agent
IMAGE_REPOSITORY ?=
# Debian's own Python: the one that Debian's python3-yaml belongs to.
PYTHON ?= /usr/bin/python3

BIN := build/release/bin
BINARIES := karmada-controller-manager karmada-agent karmada-sandbox karmada-interpret karmada-lens karmada-search
WEBHOOK_EXAMPLE := karmada-webhook-example
# For make run-webhook-example: flags of the program, such as --host=10.0.0.7 (it prints them with --help).
WEBHOOK_FLAGS ?=
CHARTS := karmada-controller-manager karmada-search karmada-agent
# Packages have the version of the images.
CHART_VERSION = $(if $(wildcard scripts/version.sh),$(patsubst %,--%=$(shell scripts/version.sh semver),version app-version))
# The version that the end-to-end tests pin.
HELM ?= go -C tests/e2e/testbed/helm tool helm
# $(call ctest,preset,arguments): shows the log of what fails, and in the end what runs it again.
ctest = $(PYTHON) -u tests/run_ctest.py build/$(1) --timeout 600 --no-tests=error -j $(TEST_JOBS) $(2)
empty :=
export NINJA_STATUS := [%f/%t, %es] $(empty)

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# $(call build,preset,targets): configures and builds a preset of CMakePresets.json.
define build
	@echo "== build ($(1)), $(JOBS) jobs"
	@cmake --preset $(1) > build/$(1)-configure.log 2>&1 || { cat build/$(1)-configure.log; \
	  echo "make: cmake could not configure the build, see above"; exit 1; }
	@cmake --build --preset $(1) -j $(JOBS) $(if $(2),--target $(2))
endef

.PHONY: setup
setup: ## Install the Debian packages that the build needs (asks for root only if one is missing)
	@scripts/setup.sh build
	@mkdir -p build

.PHONY: build
build: setup ## Build the programs and tests into build/release
	$(call build,release)

.PHONY: run
run: setup ## See a Deployment land in three clusters
	$(call build,release,karmada-controller-manager karmada-sandbox karmada-lens)
	@$(BIN)/karmada-sandbox demo

.PHONY: run-webhook-example
run-webhook-example: setup ## Start an interpreter webhook to try out (examples/webhook/README.md)
	$(call build,release,$(WEBHOOK_EXAMPLE))
	@$(BIN)/$(WEBHOOK_EXAMPLE) $(WEBHOOK_FLAGS)

.PHONY: test
test: build ## Run the unit tests, the behaviour tests on the sandbox and the lint
	@echo "== test"
	@$(call ctest,release)

.PHONY: retest
retest: build ## Run those tests again that failed the last time
	@echo "== retest"
	@$(call ctest,release,--rerun-failed)

.PHONY: test-release
test-release: build ## Run the behaviour tests as another release of Karmada than v1.18 (make test-release RELEASE=v1.19)
	@echo "== test-release"
	@BEHAVIOUR_RELEASE=$(or $(RELEASE),v1.19) $(call ctest,release,-R behaviour)

.PHONY: e2e
e2e: build ## Run the tests on real Kubernetes and Karmada servers (needs Go 1.25.10 or newer; some: make e2e CASES="flux samples")
	@scripts/setup.sh e2e image
	@echo "== e2e"
	@$(PYTHON) -u tests/e2e/run.py $(if $(E2E_PART),--part $(E2E_PART)) $(CASES)

.PHONY: compat
compat: build ## Replay what upstream did where clusters change, take its place with everything in use, and work with older servers (needs Go; long)
	@scripts/setup.sh e2e image
	@echo "== compat"
	@$(if $(BEFORE),BEFORE=$(abspath $(BEFORE))) $(PYTHON) -u tests/e2e/run.py --compat

.PHONY: record
record: setup ## Record again what upstream does in tests/data/scenarios (needs Go; some: make record SCENARIOS="a b")
	@scripts/setup.sh e2e
	@echo "== record"
	@$(PYTHON) -u tests/e2e/record.py $(SCENARIOS)

.PHONY: chaos
chaos: setup ## Kill controller manager and agent for twice three minutes while servers fail and 300 apps change (CHAOS_SEED=n: another run)
	$(call build,release,behaviour_test)
	@echo "== chaos"
	@CHAOS_APPS=$${CHAOS_APPS:-300} CHAOS_SECONDS=$${CHAOS_SECONDS:-180} $(BIN)/behaviour_test '[chaos]'

.PHONY: noise
noise: build ## Run the tests with their threads held up at random (15 minutes; NOISE_SECONDS=60, NOISE_SEEDS=1, NOISE_SUITES="loops works": less)
	@echo "== noise"
	@$(PYTHON) -u tests/noise/run.py --seconds $(NOISE_SECONDS) --seeds $(NOISE_SEEDS) --jobs $(JOBS) $(if $(NOISE_SEED),--seed $(NOISE_SEED)) $(NOISE_SUITES)

.PHONY: prove
prove: setup ## Prove that nothing is lost: every crash, every lag, every error (hours; goes on where it was stopped; QUICK=1: five minutes, others each day)
	$(call build,release,prove_worker prove_search_worker karmada-controller-manager karmada-search)
	@echo "== prove"
	@mkdir -p build/release/prove
	@failed=0; \
	  $(PYTHON) -u tests/prove/run.py $(if $(QUICK),--seconds 240 --runs 12 --seed $(shell date +%F),--journal build/release/prove/journal) || failed=1; \
	  $(PYTHON) -u tests/prove/run.py --search $(if $(QUICK),--seconds 60 --runs 12 --seed $(shell date +%F),--journal build/release/prove/search) || failed=1; \
	  exit $$failed

.PHONY: prove-upstream
prove-upstream: setup ## Try upstream's controller manager by the same means, as far as crashes, errors and old reads go (needs Go; hours; goes on)
	$(call build,release,prove_worker)
	@scripts/setup.sh e2e
	@echo "== prove-upstream"
	@mkdir -p build/release/prove
	@tests/prove/time/go/build.py build/release/prove/upstream-controller-manager tests/e2e/testbed/karmada github.com/karmada-io/karmada/cmd/controller-manager
	@$(PYTHON) -u tests/prove/run.py --class crash error stale --program build/release/prove/upstream-controller-manager --journal build/release/prove/upstream

.PHONY: hostile
hostile: setup ## Attack karmada-search and the controller manager over the sandbox, and see that they stay within their bounds (some attacks: HOSTILE="sort slow")
	$(call build,release,karmada-search karmada-controller-manager karmada-sandbox search_load)
	@echo "== hostile"
	@$(PYTHON) -u tests/hostile/run.py $(HOSTILE)

.PHONY: bench
bench: setup ## Measure against upstream's controller manager, interpreter and search (needs Go; N apps: make bench N=300)
	$(call build,release,$(BINARIES) interpreter_bench search_load)
	@scripts/setup.sh e2e
	@echo "== bench"
	@$(PYTHON) -u tests/bench/run.py $(if $(N),--apps $(N))
	@$(PYTHON) -u tests/bench/apply.py $(if $(N),--apps $(N))
	@$(PYTHON) -u tests/bench/interpreter.py
	@$(PYTHON) -u tests/bench/search.py

.PHONY: bench-agent
bench-agent: setup ## Measure the agent of a pull cluster against upstream's (needs Go; 8 minutes; N Works: make bench-agent N=100)
	$(call build,release,karmada-controller-manager karmada-agent)
	@scripts/setup.sh e2e
	@echo "== bench-agent"
	@$(PYTHON) -u tests/bench/agent.py $(if $(N),--works $(N))

.PHONY: bench-agent-fleet
bench-agent-fleet: setup ## Measure one agent of many clusters on the sandbox (no Go; 10 minutes; N clusters at most: make bench-agent-fleet N=300)
	$(call build,release,karmada-sandbox karmada-agent)
	@echo "== bench-agent-fleet"
	@$(PYTHON) -u tests/bench/agent_fleet.py $(if $(N),--clusters 1,20,$(N))

.PHONY: bench-apply
bench-apply: setup ## Measure server-side apply to members against updates (needs Go; 5 minutes; N apps: make bench-apply N=300)
	$(call build,release,karmada-controller-manager)
	@scripts/setup.sh e2e
	@echo "== bench-apply"
	@$(PYTHON) -u tests/bench/apply.py $(if $(N),--apps $(N))

.PHONY: bench-interpreter
bench-interpreter: setup ## Measure the interpreter alone against upstream's (needs Go, no servers; 3 rounds: ROUNDS=1 for one)
	$(call build,release,interpreter_bench)
	@scripts/setup.sh e2e
	@echo "== bench-interpreter"
	@$(PYTHON) -u tests/bench/interpreter.py $(if $(ROUNDS),--rounds $(ROUNDS))

.PHONY: bench-search
bench-search: setup ## Measure karmada-search against upstream's (needs Go; 6 minutes; no Go: SEARCH_ARGS="--only fleet")
	$(call build,release,karmada-search karmada-sandbox karmada-controller-manager search_load)
	@scripts/setup.sh e2e
	@echo "== bench-search"
	@$(PYTHON) -u tests/bench/search.py $(SEARCH_ARGS)

.PHONY: test-page
test-page: setup ## Try the page of karmada-lens serve in Chromium (some cases: make test-page CASES="token keyboard"; PICTURES=1: those of docs/)
	$(call build,release,karmada-controller-manager karmada-sandbox karmada-lens)
	@scripts/setup.sh page
	@echo "== test-page"
	@$(PYTHON) -u tests/page/run.py $(if $(PICTURES),--pictures docs/serve) $(CASES)

.PHONY: bench-fleet
bench-fleet: setup ## Measure karmada-lens why -A with 100 clusters and 5,000 templates; fails above 2 s or 150 MB
	$(call build,release,karmada-lens)
	@echo "== bench-fleet"
	@$(PYTHON) -u tests/bench/fleet.py

.PHONY: bench-page
bench-page: setup ## Measure the page of karmada-lens serve with 100 clusters and 5,000 templates, and with a hundred viewers
	$(call build,release,karmada-lens)
	@scripts/setup.sh page
	@echo "== bench-page"
	@$(PYTHON) -u tests/bench/page.py

.PHONY: bench-scale
bench-scale: setup ## Measure with a hundred members and thousands of apps on the sandbox (no Go; 5 minutes; QUICK=1 for a look)
	$(call build,release,$(BINARIES))
	@echo "== bench-scale"
	@$(PYTHON) -u tests/bench/scale.py $(if $(QUICK),--quick) $(if $(OUTPUT),--output $(OUTPUT))

.PHONY: asan
asan: setup ## Run the unit and sandbox tests under AddressSanitizer and UBSan
	$(call build,asan)
	@echo "== test (asan)"
	@$(call ctest,asan,-LE lint -j $(JOBS))

.PHONY: tsan
tsan: setup ## Run the unit and sandbox tests under ThreadSanitizer
	$(call build,tsan)
	@echo "== test (tsan)"
	@$(call ctest,tsan,-LE lint -j $(JOBS))

.PHONY: fuzz
fuzz: setup ## Fuzz each parser for a minute (make fuzz FUZZ_SECONDS=600 for longer)
	@scripts/setup.sh fuzz
	$(call build,fuzz,fuzz_targets)
	@tests/fuzz/run.sh build/fuzz/bin $(FUZZ_SECONDS)

.PHONY: lint
lint: setup ## Check the rules of docs/development.md and the formatting, without building
	@$(PYTHON) tests/lint/lint_tree.py
	@$(PYTHON) tests/lint/event_reasons.py
	@$(PYTHON) tests/lint/tenancy_table.py
	@$(PYTHON) tests/lint/upstream_reports.py
	@$(PYTHON) tests/lint/workloads_table.py
	@tests/lint/check_format.sh

.PHONY: compare
compare: setup ## Say what a release of Karmada changes, and what the tables here lack of it (make compare UPSTREAM=DIR SINCE=v1.18.2; COMPARE_ARGS="--output json")
	@$(if $(UPSTREAM),,echo "make: say where upstream's sources are: make compare UPSTREAM=DIR SINCE=REF|DIR"; exit 2)
	@$(PYTHON) scripts/compare-upstream $(UPSTREAM) $(if $(SINCE),--since $(SINCE)) $(COMPARE_ARGS)

.PHONY: tidy
tidy: setup ## Run clang-tidy over the sources (slow)
	@scripts/setup.sh tidy
	$(call build,release)
	@git ls-files '*.cc' | xargs -P $(JOBS) -n 1 clang-tidy-19 -p build/release --quiet

.PHONY: format
format: setup ## Format the C++ sources in place
	@tests/lint/check_format.sh --fix

.PHONY: install
install: setup ## Install the programs, the kubectl plugins, manual pages, completions, CRDs and the demo under PREFIX (default /usr/local; DESTDIR is honoured)
	$(call build,release,$(BINARIES))
	@$(MAKE) --no-print-directory install-files

# What `install` does behind the build. Manual pages and completions come from the programs themselves.
.PHONY: install-files
install-files:
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/karmada/crds/v1.19 \
	  $(DESTDIR)$(PREFIX)/share/karmada/samples/demo $(DESTDIR)$(PREFIX)/share/karmada/samples/dependencies \
	  $(DESTDIR)$(PREFIX)/share/karmada/opensearch $(DESTDIR)$(PREFIX)/share/karmada/search \
	  $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man8 $(DESTDIR)$(ZSH_COMPLETIONS) \
	  $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 755 $(BINARIES:%=$(BIN)/%) $(DESTDIR)$(PREFIX)/bin/
	@for plugin in interpret lens; do \
	  ln -sf karmada-$$plugin $(DESTDIR)$(PREFIX)/bin/kubectl-karmada_$$plugin; \
	  printf '#!/bin/sh\nexec karmada-%s __complete "$$@"\n' $$plugin > $(DESTDIR)$(PREFIX)/bin/kubectl_complete-karmada_$$plugin; \
	  chmod 755 $(DESTDIR)$(PREFIX)/bin/kubectl_complete-karmada_$$plugin; \
	done
	@rm -rf build/man
	@for program in $(BINARIES); do \
	  $(PYTHON) packaging/man/pages.py --program $(BIN)/$$program --output build/man; \
	  $(BIN)/$$program completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/$$program; \
	  $(BIN)/$$program completion zsh > $(DESTDIR)$(ZSH_COMPLETIONS)/_$$program; \
	  $(BIN)/$$program completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/$$program.fish; \
	done
	install -m 644 build/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 build/man/*.8 $(DESTDIR)$(PREFIX)/share/man/man8/
	install -m 644 config/crds/*.yaml $(DESTDIR)$(PREFIX)/share/karmada/crds/
	install -m 644 config/crds/v1.19/*.yaml $(DESTDIR)$(PREFIX)/share/karmada/crds/v1.19/
	install -m 644 config/opensearch/saved-objects.ndjson $(DESTDIR)$(PREFIX)/share/karmada/opensearch/
	install -m 644 config/search/*.yaml $(DESTDIR)$(PREFIX)/share/karmada/search/
	install -m 644 config/samples/demo/*.yaml $(DESTDIR)$(PREFIX)/share/karmada/samples/demo/
	install -m 644 config/samples/dependencies/*.yaml $(DESTDIR)$(PREFIX)/share/karmada/samples/dependencies/

.PHONY: charts
charts: ## Package the Helm charts, with the definitions and rights that they install, into build/charts (needs Go; HELM=helm: yours)
	@mkdir -p build/charts
	@rm -f $(CHARTS:%=build/charts/%-*.tgz)
	@for chart in $(CHARTS); do $(HELM) package $(CURDIR)/charts/$$chart $(CHART_VERSION) --destination $(CURDIR)/build/charts; done 2> >(grep -v "found symbolic link" >&2)

.PHONY: image
image: setup ## Write OCI images of the daemons to build/image, without Docker (one: make image IMAGES=karmada-search)
	@scripts/setup.sh image
	$(call build,release,$(IMAGES))
	@for program in $(IMAGES); do \
	  $(PYTHON) packaging/image/build.py --binary $(BIN)/$$program --output build/image --repository "$(IMAGE_REPOSITORY)"; \
	done

# The file system of one image in build/image/root, for the Dockerfile.
.PHONY: image-root
image-root: setup
	@scripts/setup.sh image
	$(call build,release,$(IMAGES))
	@rm -rf build/image/root
	@$(PYTHON) packaging/image/build.py --binary $(BIN)/$(IMAGES) --output build/image --root build/image/root

.PHONY: package
package: setup ## Write Debian packages of all programs to build/packages
	@scripts/setup.sh package
	$(call build,release,$(BINARIES))
	@$(PYTHON) packaging/debian/build.py --output build/packages

.PHONY: test-package
test-package: image package ## Run the programs from their images, and from their packages in a clean Debian (needs root)
	@scripts/setup.sh package-test
	@echo "== test-package"
	@$(PYTHON) -u tests/packaging/run.py

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf build
