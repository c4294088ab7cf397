#!/bin/sh
# Makes base images on a machine that reaches no image registry.
#
#   docker/base/make.sh redis|postgres|clients|toxiproxy ...
#
# prints the name of each image as it becomes ready. The first three come from Debian's packages, through the mirror
# that this machine is configured with (sources.sh); Toxiproxy comes from its Go module. What exists is not made again
# (docker image rm lockfault/base:bookworm makes it so), and two runs at once wait for each other.
set -eu

suite=bookworm
base=lockfault/base:$suite
toxiproxy_version=2.5.0
here=$(cd "$(dirname "$0")" && pwd)

fail() {
	echo "docker/base: $*" >&2
	exit 1
}

say() {
	echo "docker/base: $*" >&2
}

exists() {
	docker image inspect "$1" >/dev/null 2>&1
}

need() {
	command -v "$1" >/dev/null 2>&1 || fail "needs $1: $2"
}

# Runs a function while no other make.sh runs it, on this machine.
alone() {
	(
		flock 9
		"$@"
	) 9>"${TMPDIR:-/tmp}/lockfault-base-$(id -u)-$1.lock"
}

# What is small and fast matters more here than what a person would miss: no documentation, no translations, no JIT.
configure() {
	install -m 0644 "$here/apt.conf" "$1/etc/apt/apt.conf.d/90lockfault"
	install -m 0644 "$here/dpkg.cfg" "$1/etc/dpkg/dpkg.cfg.d/90lockfault"
	"$here/sources.sh" "$suite" >"$1/etc/apt/sources.list"
	# A mirror that is frozen in time is configured so on the machine.
	apt-config dump Acquire::Check-Valid-Until Acquire::Check-Date >"$1/etc/apt/apt.conf.d/91machine"
}

pack() {
	tar -C "$1" -c --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' \
		--exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' --exclude='./var/log/*' .
}

bootstrap() {
	exists "$base" && return
	[ "$(id -u)" = 0 ] || fail "debootstrap needs root: run it with sudo"
	need debootstrap "apt-get install debootstrap"
	sources=$("$here/sources.sh" "$suite") || exit 1
	mirror=$(echo "$sources" | sed -n '1s/.* \([^ ]*\) [^ ]* main$/\1/p')
	check=
	case $(echo "$sources" | head -n 1) in *trusted=yes*) check=--no-check-gpg ;; esac
	root=$(mktemp -d "${TMPDIR:-/tmp}/lockfault-base.XXXXXX")
	trap 'rm -rf --one-file-system "$root"' EXIT
	trap 'exit 130' INT TERM
	say "debootstrap of $suite (about 45 s)"
	debootstrap $check --variant=minbase --include=ca-certificates "$suite" "$root/system" "$mirror" >"$root/log" 2>&1 || {
		tail -n 20 "$root/log" >&2
		fail "debootstrap failed; LOCKFAULT_DEBIAN_MIRROR names another mirror"
	}
	configure "$root/system"
	pack "$root/system" | docker import - "$base" >/dev/null
}

# What these add is cached by the engine.
from_packages() {
	alone bootstrap
	log=$(mktemp)
	docker build --network=host --tag "$2" --file "$here/$1.Dockerfile" "$here" >"$log" 2>&1 || {
		cat "$log" >&2
		rm -f "$log"
		fail "docker build failed"
	}
	rm -f "$log"
	echo "$2"
}

# The same two programs as in the public image, under the same names.
toxiproxy() {
	exists "$1" && return
	need go "install Go"
	module=github.com/Shopify/toxiproxy/v2
	root=$(mktemp -d "${TMPDIR:-/tmp}/lockfault-base.XXXXXX")
	trap 'rm -rf "$root"' EXIT
	trap 'exit 130' INT TERM
	say "building Toxiproxy $toxiproxy_version from its Go module (about 50 s the first time)"
	GOFLAGS= GOBIN=$root CGO_ENABLED=0 go install \
		-ldflags "-s -w -X $module.Version=$toxiproxy_version" \
		"$module/cmd/server@v$toxiproxy_version" "$module/cmd/cli@v$toxiproxy_version" || fail "go install failed"
	mv "$root/server" "$root/toxiproxy"
	mv "$root/cli" "$root/toxiproxy-cli"
	tar -C "$root" -c toxiproxy toxiproxy-cli | docker import - "$1" >/dev/null
}

[ $# -gt 0 ] || fail "which image? redis, postgres, clients or toxiproxy"
need docker "install Docker Engine, or a client and DOCKER_HOST"
docker version >/dev/null 2>&1 || fail "no Docker engine answers"
need flock "apt-get install util-linux"
for image in "$@"; do
	case $image in
	redis | postgres | clients) from_packages "$image" "lockfault/base-$image:$suite" ;;
	toxiproxy)
		alone toxiproxy "lockfault/base-toxiproxy:$toxiproxy_version"
		echo "lockfault/base-toxiproxy:$toxiproxy_version"
		;;
	*) fail "no base image called $image: redis, postgres, clients and toxiproxy are known" ;;
	esac
done
