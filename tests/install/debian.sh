#!/bin/sh
# Installs the Debian packages into a bare system made by debootstrap, runs their tests there, and removes them: what the
# packages need is all they find. Wants root, debootstrap and a mirror (MIRROR, SUITE; by default this system's).
# usage: debian.sh FOLDER_OF_PACKAGES
set -e
source=$(cd "$(dirname "$0")/../.." && pwd)
[ "$(id -u)" = 0 ] || { echo "skipped: only root can make a system of its own"; exit 77; }
command -v debootstrap >/dev/null || { echo "skipped: debootstrap is not installed"; exit 77; }
packages=$(ls "$1"/esra_*.deb "$1"/libesra0.1_*.deb "$1"/libesra-dev_*.deb "$1"/python3-esra_*.deb)
suite=${SUITE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}

work=$(mktemp -d)
cleanup() {
    umount "$work/root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$work"
}
trap cleanup EXIT
root=$work/root
debootstrap --variant=minbase "$suite" "$root" ${MIRROR:+"$MIRROR"} >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
mount -t proc proc "$root/proc" || echo "without /proc"
mkdir -p "$root/tmp/packages" "$root/tmp/source/tests/install" "$root/tmp/source/examples"
# shellcheck disable=SC2086
cp $packages "$root/tmp/packages"
cp -r "$source/packaging" "$root/tmp/source"
cp -r "$source"/examples/* "$root/tmp/source/examples"
cp "$source/tests/install/ten_lines.c" "$root/tmp/source/tests/install"
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true

inside() {
    chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 sh -ec "$1"
}
quietly() {
    inside "$1" >"$work/log" 2>&1 || { tail -n 30 "$work/log"; exit 1; }
}
quietly 'apt-get update && apt-get install -y --no-install-recommends /tmp/packages/esra_*.deb'
inside 'cd /tmp/source && sh packaging/debian/tests/separate'
echo "esra: installed and ran, with $(inside 'dpkg -l | grep -c ^ii') packages in all"
quietly 'apt-get install -y --no-install-recommends /tmp/packages/python3-esra_*.deb /tmp/packages/libesra0.1_*.deb'
inside 'cd /tmp/source && sh packaging/debian/tests/python'
echo "python3-esra: installed and ran"
quietly 'apt-get install -y --no-install-recommends /tmp/packages/lib*.deb gcc libc6-dev pkg-config'
inside 'cd /tmp/source && sh packaging/debian/tests/build'
quietly 'apt-get purge -y esra python3-esra libesra-dev libesra0.1'
left=$(inside 'find / -xdev -name "*esra*" -not -path "/tmp/*" -not -path "/proc/*" -not -path "/var/log/*" -not -path "/var/cache/*"')
[ -z "$left" ] || { echo "purging left: $left"; exit 1; }
echo "libesra-dev: a program was built and ran; purged without a trace"
