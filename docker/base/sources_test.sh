#!/bin/sh
# The mirror is found in either of apt's formats, and what is not Debian's archive is not taken for it.
set -u

here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/sources.list.d"
passed=0 failed=0
unset LOCKFAULT_DEBIAN_MIRROR

# LAW WANT: compares what sources.sh prints for the files in $scratch, and empties them.
expect() {
	got=$(LOCKFAULT_APT=$scratch "$here/sources.sh" 2>&1)
	if [ "$got" = "$2" ]; then
		echo "ok   $1"
		passed=$((passed + 1))
	else
		printf 'FAIL %s\n--- got\n%s\n--- want\n%s\n' "$1" "$got" "$2"
		failed=$((failed + 1))
	fi
	rm -f "$scratch/sources.list" "$scratch"/sources.list.d/*
}

cat >"$scratch/sources.list" <<'EOF'
# deb http://commented.example/debian bookworm main
deb-src http://source.example/debian bookworm main
deb	[ arch=amd64 ] http://one.example/debian stable main contrib # a remark
deb http://one.example/debian stable-updates main
deb http://sec.example/debian-security stable-security main
EOF
expect "one-line format" 'deb http://one.example/debian bookworm main
deb http://sec.example/debian-security bookworm-security main'

cat >"$scratch/sources.list.d/debian.sources" <<'EOF'
Types: deb deb-src
# a remark
URIs: http://two.example/debian
 http://three.example/debian
Suites: trixie
 trixie-updates
Components: main

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: trixie-security
Components: main
EOF
expect "deb822 format, on more than one line, a stanza switched off" 'deb http://two.example/debian bookworm main'

cat >"$scratch/sources.list.d/a.list" <<'EOF'
deb https://vendor.example/php bookworm main
deb https://vendor.example/linux/debian bookworm stable
deb https://vendor.example/debian cloud-bookworm main
deb [trusted=yes] http://inside.example/mirror/debian bookworm main
EOF
expect "other people's packages are passed over, trust is kept" \
	'deb [trusted=yes] http://inside.example/mirror/debian bookworm main'

expect "no mirror" "no Debian archive among the sources in $scratch: name one in LOCKFAULT_DEBIAN_MIRROR"

LOCKFAULT_DEBIAN_MIRROR=http://named.example/debian
export LOCKFAULT_DEBIAN_MIRROR
expect "a mirror named by hand" 'deb http://named.example/debian bookworm main'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
