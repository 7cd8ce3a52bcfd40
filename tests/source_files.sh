# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests that read the sources: goes to the top of the source tree and sets `files`,
# the list of all source files. A test that cannot tell sources from built files is skipped.
# shellcheck shell=sh
cd "${srcdir:-$(dirname "$0")/..}" || exit 99
if [ -e .git ] && command -v git >/dev/null; then
    files=$(git ls-files) || exit 99
elif [ -e config.status ]; then
    echo "skipped: an unpacked tree that was built in place mixes sources and built files"
    exit 77
else
    files=$(find src kernels tools tests m4 configure.ac Makefile.am -type f)
fi
export files
