#!/bin/sh
# Prints the Debian mirrors that this machine is configured with, as sources for SUITE (bookworm):
#   deb [trusted=yes] URI SUITE main
# The first line is the archive, the second, if the machine has one, the security archive. LOCKFAULT_DEBIAN_MIRROR
# replaces the archive. LOCKFAULT_APT names another folder than apt's own; the test uses it.
set -eu

suite=${1:-bookworm}
here=$(dirname "$0")
apt=${LOCKFAULT_APT:-/etc/apt}

configured() {
	find "$apt/sources.list" "$apt/sources.list.d" -maxdepth 1 -type f \( -name '*.list' -o -name '*.sources' \) \
		2>/dev/null | sort | xargs -r awk -f "$here/sources.awk"
}

# Other people's packages also live in suites with a component "main"; Debian's own mirrors have "debian" in their path.
archive() {
	awk '$1 ~ /^https?:/ && $1 ~ /debian/ && $1 !~ /security/ && $2 !~ /-|\// && "," $3 "," ~ /,main,/'
}

security() {
	awk '$1 ~ /^https?:/ && $2 ~ /security/ && "," $3 "," ~ /,main,/'
}

source_line() {
	awk -v suite="$1" 'NR == 1 { print "deb " ($4 == "yes" ? "[trusted=yes] " : "") $1 " " suite " main" }'
}

if [ -n "${LOCKFAULT_DEBIAN_MIRROR:-}" ]; then
	echo "deb $LOCKFAULT_DEBIAN_MIRROR $suite main"
else
	found=$(configured | archive | source_line "$suite")
	if [ -z "$found" ]; then
		echo "no Debian archive among the sources in $apt: name one in LOCKFAULT_DEBIAN_MIRROR" >&2
		exit 1
	fi
	echo "$found"
fi
configured | security | source_line "$suite-security"
