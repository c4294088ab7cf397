#!/bin/sh
# Builds the testbed's images.
#
#   docker/images/build.sh [redis] [toxiproxy] [postgres]      (all of them without a name)
#
# Each image stands on the public one that its Dockerfile names, or on the one named by REDIS_BASE, TOXIPROXY_BASE or
# POSTGRES_BASE. Where no registry answers, docker/base makes the base from packages. OFFLINE=1 does not ask a registry,
# OFFLINE=0 does not do without.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
offline=${OFFLINE:-auto}

say() {
	echo "$image: $*" >&2
}

tag() {
	case $1 in
	redis) echo lockfault/redis:7 ;;
	toxiproxy) echo lockfault/toxiproxy:2 ;;
	postgres) echo lockfault/postgres:15 ;;
	*) return 1 ;;
	esac
}

chosen_base() {
	case $1 in
	redis) echo "${REDIS_BASE:-}" ;;
	toxiproxy) echo "${TOXIPROXY_BASE:-}" ;;
	postgres) echo "${POSTGRES_BASE:-}" ;;
	esac
}

public_base() {
	sed -n 's/^ARG BASE=//p' "$here/$1/Dockerfile"
}

reachable() {
	docker image inspect "$1" >/dev/null 2>&1 || docker pull --quiet "$1" >/dev/null
}

# Prints the base to build on. A base that somebody asked for is never replaced by another.
base_of() {
	base=$(chosen_base "$1")
	if [ -n "$base" ]; then
		echo "$base"
		return
	fi
	base=$(public_base "$1")
	case $base in lockfault/base-*) # no public image: it is made here
		"$here/../base/make.sh" "$1"
		return
		;;
	esac
	if [ "$offline" != 1 ] && reachable "$base"; then
		echo "$base"
	elif [ "$offline" = 0 ]; then
		say "cannot have $base; without OFFLINE=0 its base is made from packages"
		return 1
	else
		[ "$offline" = 1 ] || say "cannot have $base; making its base from packages"
		"$here/../base/make.sh" "$1"
	fi
}

build() {
	image=$1
	started=$(date +%s)
	base=$(base_of "$image")
	say "building $(tag "$image") on $base"
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	# The machine's own network, since a mirror may be known by a name that only the machine resolves.
	docker build --network=host --build-arg BASE="$base" --tag "$(tag "$image")" "$here/$image" >"$log" 2>&1 || {
		cat "$log" >&2
		say "docker build failed"
		return 1
	}
	size=$(docker image inspect --format '{{.Size}}' "$(tag "$image")")
	say "$(tag "$image") is ready: $((size / 1000000)) MB, $(($(date +%s) - started)) s"
}

docker version >/dev/null 2>&1 || {
	echo "docker/images: no Docker engine answers; install one, or set DOCKER_HOST" >&2
	exit 1
}
[ $# -gt 0 ] || set -- redis toxiproxy postgres
for image in "$@"; do
	tag "$image" >/dev/null || {
		echo "docker/images: no image called $image: redis, toxiproxy and postgres are known" >&2
		exit 1
	}
done

builds=
for image in "$@"; do
	(build "$image") &
	builds="$builds $!"
done
failed=0
for build in $builds; do
	wait "$build" || failed=1
done
exit $failed
