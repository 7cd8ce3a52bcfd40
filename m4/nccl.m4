# SPDX-License-Identifier: BSD-3-Clause
# APEX_NCCL: looks for NCCL's header (--with-nccl=DIR, else in the CUDA toolkit), of 2.28 or newer.
# With it the software GPU gets a libnccl. Sets NCCL_CPPFLAGS and the conditional HAVE_NCCL.
AC_DEFUN([APEX_NCCL], [
  AC_ARG_WITH([nccl],
    [AS_HELP_STRING([--with-nccl=DIR], [NCCL's header for the tests: DIR/include/nccl.h])],
    [], [with_nccl=])
  NCCL_CPPFLAGS=
  AS_CASE([$with_nccl], [""|yes|no], [], [NCCL_CPPFLAGS="-isystem $with_nccl/include"])
  AC_MSG_CHECKING([for nccl.h])
  apex_save_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $NCCL_CPPFLAGS $CUDA_CPPFLAGS"
  apex_nccl=no
  AS_IF([test "$with_nccl" != no],
    [AC_PREPROC_IFELSE([AC_LANG_SOURCE([[
       #include <nccl.h>
       #if NCCL_VERSION_CODE < 22800
       #error
       #endif
       ]])], [apex_nccl=yes])])
  CPPFLAGS=$apex_save_CPPFLAGS
  AS_IF([test "$apex_nccl" = no],
    [AC_MSG_RESULT([none of 2.28 or newer: the software GPU gets no libnccl])],
    [AC_MSG_RESULT([yes])])
  AC_SUBST([NCCL_CPPFLAGS])
  AM_CONDITIONAL([HAVE_NCCL], [test "$apex_nccl" = yes])
])
