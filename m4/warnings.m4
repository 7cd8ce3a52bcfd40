# SPDX-License-Identifier: BSD-3-Clause
# APEX_WARNINGS: each warning flag is probed; --enable-werror makes them errors.
AC_DEFUN([APEX_TRY_CFLAG], [
  AS_VAR_PUSHDEF([cachevar], [apex_cv_cflag_$1])
  AC_CACHE_CHECK([whether $CC takes $1], [cachevar], [
    apex_save_cflags=$CFLAGS
    CFLAGS="$CFLAGS -Werror $1"
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int apex_probe;]])],
      [AS_VAR_SET([cachevar], [yes])], [AS_VAR_SET([cachevar], [no])])
    CFLAGS=$apex_save_cflags])
  AS_VAR_IF([cachevar], [yes], [WARN_CFLAGS="$WARN_CFLAGS $1"])
  AS_VAR_POPDEF([cachevar])
])
AC_DEFUN([APEX_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [make warnings errors (CI)])],
    [], [enable_werror=no])
  WARN_CFLAGS=
  m4_foreach_w([flag], [-Wall -Wextra -Wshadow -Wstrict-prototypes
    -Wmissing-prototypes -Wpointer-arith -Wvla -Wundef -Wformat=2
    -Wno-unused-parameter], [APEX_TRY_CFLAG(flag)])
  AS_IF([test "$enable_werror" = yes], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
  AC_SUBST([WARN_CFLAGS])
])
