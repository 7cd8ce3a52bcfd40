# SPDX-License-Identifier: BSD-3-Clause
# APEX_TEST_LIBS: Check for unit tests; OpenBLAS, zstd and LZ4 for the software
# GPU; and the instruction set that this machine can use for it (never installed).
AC_DEFUN([APEX_TEST_LIBS], [
  PKG_CHECK_MODULES([CHECK], [check >= 0.15], [have_check=yes], [have_check=no])
  PKG_CHECK_MODULES([OPENBLAS], [openblas], [have_openblas=yes], [have_openblas=no])
  PKG_CHECK_MODULES([ZSTD], [libzstd], [have_zstd=yes], [have_zstd=no])
  PKG_CHECK_MODULES([LZ4], [liblz4], [have_lz4=yes], [have_lz4=no])
  have_tests=yes
  for apex_lib in "$have_check" "$have_openblas" "$have_zstd" "$have_lz4"; do
    AS_IF([test "$apex_lib" = no], [have_tests=no])
  done
  AS_IF([test "$have_tests" = no],
    [AC_MSG_WARN([Check, OpenBLAS, zstd or LZ4 is missing: make works, make check does not (run tools/bootstrap)])])
  AM_CONDITIONAL([HAVE_TEST_LIBS], [test "$have_tests" = yes])
  SIMD_CFLAGS=
  AC_CACHE_CHECK([whether this machine runs AVX2, FMA and F16C code], [apex_cv_simd], [
    apex_save_cflags=$CFLAGS
    CFLAGS="$CFLAGS -mavx2 -mfma -mf16c"
    AC_RUN_IFELSE([AC_LANG_PROGRAM([[]], [[
      return !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));]])],
      [apex_cv_simd=yes], [apex_cv_simd=no], [apex_cv_simd=no])
    CFLAGS=$apex_save_cflags])
  AS_IF([test "$apex_cv_simd" = yes], [SIMD_CFLAGS="-mavx2 -mfma -mf16c"])
  AC_SUBST([SIMD_CFLAGS])
])
