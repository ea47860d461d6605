#!/bin/sh
# Debian packages of the last commit: esra, libesra0.1, libesra-dev and python3-esra, their tests run while they are built
# (DEB_BUILD_OPTIONS=nocheck leaves them out), then lintian, which must have nothing to say.
# usage: deb.sh FOLDER, which gets the packages
set -e
source=$(cd "$(dirname "$0")/.." && pwd)
for tool in dpkg-buildpackage:dpkg-dev dh:debhelper lintian:lintian fakeroot:fakeroot; do
    command -v "${tool%:*}" >/dev/null || { echo "deb.sh: please install ${tool#*:}" >&2; exit 1; }
done
mkdir -p "$1"
folder=$(cd "$1" && pwd)
tarball=$("$source/packaging/dist.sh" "$folder")
name=$(basename "$tarball" .tar.xz)
mv "$tarball" "$folder/esra_${name#esra-}.orig.tar.xz"

rm -rf "${folder:?}/$name" "$folder"/*.deb "$folder"/*.changes
tar -C "$folder" -xf "$folder/esra_${name#esra-}.orig.tar.xz"
cp -r "$folder/$name/packaging/debian" "$folder/$name/debian"
cd "$folder/$name"
DEB_BUILD_OPTIONS="parallel=${JOBS:-2} $DEB_BUILD_OPTIONS" dpkg-buildpackage -us -uc >"$folder/build.log" 2>&1 || {
    tail -n 60 "$folder/build.log"
    echo "deb.sh: the build failed; all of it is in $folder/build.log" >&2
    exit 1
}
sed -n 's/^.*\(tests passed, .*\)$/\1/p' "$folder/build.log"
cd "$folder"
lintian --fail-on error,warning --display-info ./*.changes
sha256sum ./*.deb ./*.orig.tar.xz >SHA256SUMS
ls -l ./*.deb
