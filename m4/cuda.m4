# SPDX-License-Identifier: BSD-3-Clause
# APEX_CUDA: finds the toolkit (--with-cuda=DIR, CUDA_HOME, .cuda, nvcc on PATH,
# /usr/local/cuda) and which GPU architectures its nvcc supports.
# Sets NVCC, CUDA_DIR, CUDA_CPPFLAGS, CUDA_LIBDIR, CUDA_GENCODE.
AC_DEFUN([APEX_CUDA], [
  AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda=DIR], [CUDA toolkit: DIR/bin/nvcc, DIR/include])],
    [], [with_cuda=])
  AC_MSG_CHECKING([for a CUDA toolkit])
  CUDA_DIR=
  apex_srcdir_abs=`cd "$srcdir" && pwd`
  apex_nvcc_path=`command -v nvcc 2>/dev/null`
  for apex_dir in "$with_cuda" "$CUDA_HOME" "$apex_srcdir_abs/.cuda" \
      "${apex_nvcc_path%/bin/nvcc}" /usr/local/cuda; do
    AS_IF([test -n "$apex_dir" && test -x "$apex_dir/bin/nvcc" && test -f "$apex_dir/include/cublasLt.h"],
      [CUDA_DIR=$apex_dir; break])
  done
  AS_IF([test -z "$CUDA_DIR"],
    [AC_MSG_RESULT([none])
     AC_MSG_ERROR([no CUDA toolkit found (nvcc and the cuBLAS headers): run tools/bootstrap, or name one by --with-cuda=DIR])])
  AC_MSG_RESULT([$CUDA_DIR])
  NVCC=$CUDA_DIR/bin/nvcc
  CUDA_CPPFLAGS="-isystem $CUDA_DIR/include"
  AS_IF([test -d "$CUDA_DIR/lib64"], [CUDA_LIBDIR=$CUDA_DIR/lib64], [CUDA_LIBDIR=$CUDA_DIR/lib])
  AC_MSG_CHECKING([which GPU architectures nvcc supports])
  apex_codes=" `$NVCC --list-gpu-code | tr '\n' ' '` "
  apex_archs=" `$NVCC --list-gpu-arch | tr '\n' ' '` "
  CUDA_GENCODE=
  apex_found=
  for apex_sm in 75 80 86 89 90 100 120; do
    AS_CASE([$apex_codes], [*" sm_$apex_sm "*],
      [CUDA_GENCODE="$CUDA_GENCODE -gencode arch=compute_$apex_sm,code=sm_$apex_sm"
       apex_found="$apex_found sm_$apex_sm"])
  done
  for apex_sm in 75 90; do
    AS_CASE([$apex_archs], [*" compute_$apex_sm "*],
      [CUDA_GENCODE="$CUDA_GENCODE -gencode arch=compute_$apex_sm,code=compute_$apex_sm"
       apex_found="$apex_found compute_$apex_sm"])
  done
  AC_MSG_RESULT([$apex_found])
  AC_SUBST([NVCC])
  AC_SUBST([CUDA_DIR])
  AC_SUBST([CUDA_CPPFLAGS])
  AC_SUBST([CUDA_LIBDIR])
  AC_SUBST([CUDA_GENCODE])
])
