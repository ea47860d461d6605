#!/bin/sh
# What a release consists of: the source, made twice to see that its bits are the same, the packages, and checksums.
# usage: release.sh FOLDER_OF_PACKAGES FOLDER
set -e
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$2"
first=$("$here/dist.sh" "$2")
again=$("$here/dist.sh" "$2/again")
cmp "$first" "$again"
rm -r "$2/again"
cmp "$first" "$1"/esra_*.orig.tar.xz || { echo "release.sh: the packages in $1 are of another source; make deb" >&2; exit 1; }
cp "$1"/*.deb "$2"
cd "$2"
sha256sum ./* >SHA256SUMS
cat SHA256SUMS
