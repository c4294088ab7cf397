#!/bin/bash
# Proves that a node's clock can be set: the preload alone (with a C compiler), then Redis, a replica and Sentinel under it
# (with Docker and the image). What cannot be tried is said, and counts as skipped; LOCKFAULT_REQUIRE=1 fails instead.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
image=${LOCKFAULT_REDIS_IMAGE:-lockfault/redis:7}
label=lockfault-clock-test-$$
scratch=$(mktemp -d)
passed=0 failed=0 skipped=0

cleanup() {
	rm -rf "$scratch"
	command -v docker >/dev/null || return
	docker ps --all --quiet --filter "label=$label" | xargs -r docker rm --force --volumes >/dev/null
	docker network ls --quiet --filter "label=$label" | xargs -r docker network rm >/dev/null
}
trap cleanup EXIT
trap 'exit 130' INT TERM

pass() { echo "ok   $1"; passed=$((passed + 1)); }
fail() { echo "FAIL $1"; failed=$((failed + 1)); }
check() { if [ "$2" "$3" "$4" ]; then pass "$1 ($2)"; else fail "$1: $2, want $3 $4"; fi; }

skip() {
	echo "SKIPPED: $1" >&2
	skipped=$((skipped + 1))
}

finish() {
	local note=
	[ $skipped = 0 ] || note=", $skipped skipped"
	echo "$passed passed, $failed failed$note"
	[ $failed = 0 ] && { [ $skipped = 0 ] || [ -z "${LOCKFAULT_REQUIRE:-}" ]; }
	exit
}

# --- the preload alone

preload_alone() {
	local flags="-std=gnu11 -O2 -Wall -Wextra -Werror"
	cc $flags -fPIC -shared -nostartfiles -fvisibility=hidden -Wl,-z,now -o "$scratch/clock.so" "$here/preload.c" &&
		cc $flags -o "$scratch/preload_test" "$here/preload_test.c" || { fail "the preload compiles"; return; }
	local out
	out=$(LOCKFAULT_CLOCK=$scratch/clock LD_PRELOAD=$scratch/clock.so timeout 60 "$scratch/preload_test")
	[ $? -lt 2 ] || fail "preload_test ended by itself"
	echo "$out" | sed '$d'
	passed=$((passed + $(grep -c '^ok ' <<<"$out")))
	failed=$((failed + $(grep -c '^FAIL ' <<<"$out")))

	out=$(LOCKFAULT_CLOCK=/dev/null/nowhere LD_PRELOAD=$scratch/clock.so date 2>&1 >/dev/null)
	case $out in
	*"cannot map"*) pass "a clock file that cannot be had is said" ;;
	*) fail "a clock file that cannot be had is said: '$out'" ;;
	esac
}

# --- Redis under it

start() { # NAME COMMAND...
	local name=$1
	shift
	docker run --detach --name "$label-$name" --label "$label" --network "$label" --network-alias "$name" "$image" "$@" \
		>/dev/null || fail "container $name starts"
}

on() { local name=$1; shift; docker exec "$label-$name" "$@"; }
redis() { local name=$1; shift; on "$name" redis-cli "$@"; }
clock() { local name=$1; shift; on "$name" lockfault-clock "$@"; }

# Whole seconds, read one after the other: give or take two.
ahead_s() { on "$1" sh -c 'unset LD_PRELOAD; echo $(($(redis-cli time | head -n 1) - $(date +%s)))'; }
is_ahead() { # LAW NODE SECONDS
	local got
	got=$(ahead_s "$2")
	got=${got:-999999999}
	if [ $((got - $3)) -ge -2 ] && [ $((got - $3)) -le 2 ]; then pass "$1 ($got s)"; else fail "$1: $got s, want $3"; fi
}

until_true() { # SECONDS COMMAND...: polls
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

answers() { [ "$(redis "$1" ping)" = PONG ]; }

# In one container, so that the engine's own time is not counted.
starts_fast() {
	local ms
	ms=$(docker run --rm --label "$label" "$image" sh -c 'unset LD_PRELOAD; from=$(date +%s%N)
		LD_PRELOAD=/usr/local/lib/lockfault-clock.so lockfault-redis >/dev/null &
		until redis-cli ping >/dev/null 2>&1; do sleep 0.01; done; echo $((($(date +%s%N) - from) / 1000000))')
	check "milliseconds until Redis answers" "${ms:-99999}" -lt 1000
}

steps() {
	is_ahead "an untouched clock is the machine's" node 0
	redis node set lease me px 30000 >/dev/null
	clock node step 31s >/dev/null
	is_ahead "TIME follows a step of 31 s" node 31
	check "a key of 30 s is gone after it" "$(redis node exists lease)" = 0
	redis node set lease me px 10000 >/dev/null
	clock node step -20s >/dev/null
	check "a step back by 20 s lengthens a TTL of 10 s" "$(redis node pttl lease)" -gt 25000
	clock node reset >/dev/null
	is_ahead "reset gives the machine's time" node 0
}

rates() {
	redis node set lease me px 20000 >/dev/null
	clock node set --rate 20 >/dev/null
	sleep 1.5
	check "at rate 20 a key of 20 s is gone in under 2 s" "$(redis node exists lease)" = 0
	clock node set --rate 0 >/dev/null
	local before after
	before=$(redis node time | tr '\n' .)
	sleep 0.1
	after=$(redis node time | tr '\n' .)
	check "at rate 0 TIME stands still" "$before" = "$after"
	if until_true 5 answers node; then pass "and Redis still answers"; else fail "Redis answers at rate 0"; fi
	clock node set --offset 0 --rate 1 >/dev/null
	is_ahead "offset 0 and rate 1 are the machine's time" node 0
}

serves() {
	local lines
	lines=$(printf 'set --offset 1h\nnonsense\nget\n' | docker exec --interactive "$label-node" lockfault-clock serve)
	check "serve answers each line" "$(wc -l <<<"$lines")" = 3
	check "and refuses one that it does not know" "$(grep -c error <<<"$lines")" = 1
	is_ahead "serve sets the clock" node 3600
	on node lockfault-clock set --offset 31 >/dev/null 2>&1
	check "an offset without unit is refused" $? = 2
}

survives() {
	redis node set kept yes >/dev/null
	docker kill --signal KILL "$label-node" >/dev/null
	docker start "$label-node" >/dev/null
	until_true 10 answers node || fail "Redis comes back after SIGKILL"
	check "a killed node comes back with its append-only file" "$(redis node get kept)" = yes
	is_ahead "and with its clock" node 3600
}

link_is_up() { redis replica info replication | grep -q master_link_status:up; }
replicated() { [ "$(redis replica get both)" = yes ]; }

replicates() {
	start replica lockfault-redis --replicaof primary 6379
	until_true 15 link_is_up || fail "the replica's link comes up"
	clock replica step 10m >/dev/null
	redis primary set both yes >/dev/null
	if until_true 5 replicated; then pass "a replica under the preload follows its primary"; else fail "the replica follows"; fi
	is_ahead "a replica has a clock of its own" replica 600
	is_ahead "and its primary keeps its own" primary 0
}

quorum_is_there() { redis sentinel1 -p 26379 sentinel ckquorum locks | grep -q '^OK 3'; }
sentinel_sees_replica() { [ "$(redis sentinel1 -p 26379 sentinel replicas locks | grep -c '^runid$')" = 1 ]; }
replica_leads() { redis replica role | head -n 1 | grep -q master; }

fails_over() {
	for i in 1 2 3; do
		start "sentinel$i" lockfault-sentinel locks primary 6379 2 'sentinel down-after-milliseconds locks 1000'
	done
	until_true 30 quorum_is_there || { fail "three Sentinels find each other"; return; }
	until_true 30 sentinel_sees_replica || { fail "Sentinel finds the replica"; return; }
	pass "three Sentinels under the preload find each other and the replica"
	docker kill --signal KILL "$label-primary" >/dev/null
	if until_true 30 replica_leads; then pass "Sentinel fails over when the primary dies"; else fail "Sentinel fails over"; fi
}

if command -v cc >/dev/null; then preload_alone; else skip "no C compiler: the preload was not tried alone"; fi
if ! docker version >/dev/null 2>&1; then
	skip "no Docker engine answers: Redis was not tried under the preload"
	finish
fi
if ! docker image inspect "$image" >/dev/null 2>&1; then
	skip "no image $image (make images): Redis was not tried under the preload"
	finish
fi
docker network create --label "$label" "$label" >/dev/null || exit 1
start node lockfault-redis --appendonly yes --appendfsync always
start primary lockfault-redis
until_true 10 answers node && until_true 10 answers primary || fail "Redis answers"
starts_fast
steps
rates
serves
survives
replicates
fails_over
finish
