# lockfault. `make test` is what CI runs; `make compare` is the main job.

GO ?= go
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Testcontainers: its reaper image may be out of reach, and lockfault removes what it starts by itself (`lockfault clean`).
# A machine that is itself a container reaches published ports on loopback.
export TESTCONTAINERS_RYUK_DISABLED ?= true
export TESTCONTAINERS_HOST_OVERRIDE ?= 127.0.0.1

.PHONY: all check check-slow bench-checkers test test-docker test-endurance test-adapters test-browser testbeds pictures libraries adapters adapters-deps bench compare clean

all: check test

# check: formatting, vet and staticcheck.
check:
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not gofmt-clean:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(STATICCHECK) ./...

# test: every test that needs nothing but Go, with the race detector. Those on containers have targets of their own, since
# they run in real time.
test:
	$(GO) test -race -timeout 20m ./...

# test-docker: the container testbed, about eight minutes; without an engine or its images what needs them is skipped, and the last line says so.
# LOCKFAULT_REQUIRE_DOCKER=1 makes a failure of that. go test does not show what a test that passes has to say, hence the file.
CONTAINER_TESTS ?= ./docker/...
test-docker:
	@notes=$$(mktemp); \
	echo "LOCKFAULT_TEST_DOCKER=1 $(GO) test -count 1 -p 1 -timeout 20m $(CONTAINER_TESTS)"; \
	LOCKFAULT_TEST_DOCKER=1 LOCKFAULT_NOTES=$$notes $(GO) test -count 1 -p 1 -timeout 20m $(CONTAINER_TESTS); status=$$?; \
	if [ -s $$notes ]; then echo; sort -u $$notes; fi; rm -f $$notes; exit $$status

# test-endurance: 5 clients, 200 sections each, under faults drawn from a seed, on containers; about five minutes.
test-endurance:
	LOCKFAULT_ENDURANCE=1 $(MAKE) --no-print-directory test-docker CONTAINER_TESTS='-run Endurance ./docker/aftermath'

# test-browser: the page in a real browser, which is installed from the distribution's packages if it is not there and we
# may. Screenshots for review go to results/page/screenshots.
test-browser:
	@if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; fi
	LOCKFAULT_REQUIRE_BROWSER=1 $(GO) test -count 1 -timeout 20m ./results/page ./results/serve

# pictures: A1 on redlock for the README; a test holds them to what the command makes.
PICTURES = results/pictures
pictures:
	mkdir -p $(PICTURES)
	dir=$$(mktemp -d) && $(GO) run ./cmd/lockfault run --lock redlock --scenario A1 --quiet --out $$dir && \
	$(GO) run ./cmd/lockfault report $$dir --svg --fencing off > $(PICTURES)/a1-redlock-unfenced.svg && \
	$(GO) run ./cmd/lockfault report $$dir --svg --fencing on > $(PICTURES)/a1-redlock-fenced.svg && rm -r $$dir

# test-adapters: the adapters in Python and PHP, by adapter-check and on containers (about ten minutes); skipped, and says so,
# without the interpreters, an engine or images. LOCKFAULT_REQUIRE_DOCKER=1 makes a failure of that.
test-adapters:
	LOCKFAULT_TEST_DOCKER=1 $(GO) test -count 1 -v -timeout 60m ./locks/adapters

# adapters-deps: the interpreters with their Redis clients, from the distribution.
adapters-deps:
	apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3-redis php-cli php-redis

# adapters: what the catalogue says of the adapters, on containers.
LOCKFAULT_PYTHON ?= /usr/bin/python3
ADAPTERS = $(foreach f,redis_py redlock naive,--lock "exec:$(LOCKFAULT_PYTHON) locks/adapters/python/$(f).py") \
	$(foreach f,redlock naive,--lock "exec:php locks/adapters/php/$(f).php")
adapters:
	@printf '%s\n' '# The adapters in Python and PHP under the catalogue' '' 'Made by `make adapters`, on containers. The' \
		'programs and the locks in Go that they should behave as: [locks/adapters](../locks/adapters/README.md). None of' \
		'them mints fences, so that only the half without fences can be judged.' '' > results/adapters.md.new
	$(GO) run ./cmd/lockfault compare $(ADAPTERS) --fencing off --format markdown >> results/adapters.md.new
	mv results/adapters.md.new results/adapters.md

# testbeds: the catalogue in virtual time and on containers, side by side.
testbeds:
	$(GO) run ./docker/testbeds -out results/testbeds.md

# libraries: the catalogue's verdicts on third-party locks, and the other outputs that stand in pages.
libraries:
	$(GO) test -count 1 ./cmd/lockfault -run Readme -update

# check-slow: the special-purpose checkers against porcupine, on a million random histories each (about 40 minutes).
HISTORIES ?= 1000000
check-slow:
	LOCKFAULT_HISTORIES=$(HISTORIES) $(GO) test -count 1 -timeout 3h -run Agree ./checker
	LOCKFAULT_HISTORIES=$(HISTORIES) $(GO) test -count 1 -v -timeout 3h -run 'TestMany|TestPruning|TestTies' ./checker/linear

# bench: schedules and commands per second in virtual time, checkers, codecs. A larger heap costs less collecting.
bench:
	LOCKFAULT_TEST_DOCKER=1 GOGC=400 $(GO) test -run '^$$' -bench . -benchtime 2s -timeout 2h ./...

# bench-checkers: the special-purpose checkers beside porcupine, which gets PORCUPINE_TIME for each history, as the table in
# results/checkers.md. SIDE_BY_SIDE chooses histories.
PORCUPINE_TIME ?= 10s
SIDE_BY_SIDE ?= Mutex/(valid|violated)/clients=20/ops=(1000|10000|100000)$$/
bench-checkers:
	PORCUPINE_TIME=$(PORCUPINE_TIME) GOGC=400 $(GO) test -run '^$$' -bench '$(SIDE_BY_SIDE)' -benchtime 20x -timeout 6h ./checker/linear | \
		awk -f checker/linear/table.awk

# compare: every lock in every scenario, without and with fencing.
compare:
	$(GO) run ./cmd/lockfault compare

clean:
	rm -rf results/runs

-include docker/images.mk
