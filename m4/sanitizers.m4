# SPDX-License-Identifier: BSD-3-Clause
# APEX_SANITIZERS: --enable-sanitizers=address,undefined builds everything with them.
# SAN_RUNTIME is the library that must come first in a program that was built without them.
AC_DEFUN([APEX_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers=LIST],
      [build with -fsanitize=LIST, for example address,undefined])],
    [], [enable_sanitizers=no])
  SAN_CFLAGS=
  AS_IF([test "$enable_sanitizers" = yes], [enable_sanitizers=address,undefined])
  AS_IF([test "$enable_sanitizers" != no],
    [SAN_CFLAGS="-fsanitize=$enable_sanitizers -fno-omit-frame-pointer -fno-sanitize-recover=all"])
  SAN_RUNTIME=
  AS_CASE([",$enable_sanitizers,"], [*,address,*],
    [SAN_RUNTIME=`$CC -print-file-name=libasan.so`
     AS_IF([test ! -f "$SAN_RUNTIME"],
       [AC_MSG_ERROR([the address sanitizer needs the runtime of gcc as a shared library])])])
  AC_SUBST([SAN_CFLAGS])
  AC_SUBST([SAN_RUNTIME])
  AC_SUBST([SANITIZERS], [$enable_sanitizers])
  AM_CONDITIONAL([WITH_SANITIZERS], [test "$enable_sanitizers" != no])
])
