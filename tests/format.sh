#!/bin/sh
# Every C file is laid out as .clang-format has it. Versions of clang-format differ: Debian 12's, 14, is the measure.
# usage: format.sh SOURCE_FOLDER
cd "$1" || exit 2
program=$(command -v clang-format-14 || echo clang-format)
case $($program --version 2>/dev/null) in
*' 14.'*) ;;
*)
    echo "skipped: there is no clang-format 14"
    exit 77
    ;;
esac
find src include tools tests bench examples bindings -name node_modules -prune -o -name '*.[ch]' -print0 | xargs -0 $program --dry-run -Werror || {
    echo "clang-format -i lays these files out"
    exit 1
}
echo "every file is laid out as .clang-format has it"
