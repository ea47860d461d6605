#!/bin/sh
# The source as one file, with the same bits whoever makes it: names sorted, the time of the last commit, no owner.
# usage: dist.sh FOLDER, which gets esra-VERSION.tar.xz; prints its name
set -e
umask 022
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
number() {
    sed -n "s/#define ESRA_VERSION_$1 //p" "$source/include/esra/version.h"
}
name=esra-$(number MAJOR).$(number MINOR).$(number PATCH)

cd "$source"
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "dist.sh: this is not a clone of the repository" >&2; exit 1; }
if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
    echo "dist.sh: there are changes that are not committed, and they will not be in $name.tar.xz" >&2
fi
# git archive writes the same bytes for the same commit; xz does with one thread, and in one block.
git -c tar.umask=0022 archive --format=tar --prefix="$name/" HEAD >"$folder/$name.tar"
xz -9 -T1 -f "$folder/$name.tar"
echo "$folder/$name.tar.xz"
