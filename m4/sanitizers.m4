# SPDX-License-Identifier: BSD-3-Clause
# APEX_SANITIZERS: --enable-sanitizers=address,undefined builds everything with them.
AC_DEFUN([APEX_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers=LIST],
      [build with -fsanitize=LIST, for example address,undefined])],
    [], [enable_sanitizers=no])
  SAN_CFLAGS=
  AS_IF([test "$enable_sanitizers" = yes], [enable_sanitizers=address,undefined])
  AS_IF([test "$enable_sanitizers" != no],
    [SAN_CFLAGS="-fsanitize=$enable_sanitizers -fno-omit-frame-pointer -fno-sanitize-recover=all"])
  AC_SUBST([SAN_CFLAGS])
  AC_SUBST([SANITIZERS], [$enable_sanitizers])
  AM_CONDITIONAL([WITH_SANITIZERS], [test "$enable_sanitizers" != no])
])
