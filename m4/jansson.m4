# SPDX-License-Identifier: BSD-3-Clause
# APEX_JANSSON: Jansson reads and writes JSON in the command apexshim; without it (--without-jansson)
# that has no bench and no report. The preloaded object never links it. Defines HAVE_JANSSON.
AC_DEFUN([APEX_JANSSON], [
  AC_ARG_WITH([jansson],
    [AS_HELP_STRING([--without-jansson], [no apexshim bench and report])],
    [], [with_jansson=yes])
  AS_IF([test "$with_jansson" = no], [have_jansson=no],
    [PKG_CHECK_MODULES([JANSSON], [jansson >= 2.7], [have_jansson=yes],
      [AC_MSG_ERROR([Jansson is missing: run tools/bootstrap, or configure --without-jansson])])])
  AS_IF([test "$have_jansson" = yes],
    [AC_DEFINE([HAVE_JANSSON], [1], [Jansson is linked into the command.])])
  AC_SUBST([JANSSON_CFLAGS])
  AC_SUBST([JANSSON_LIBS])
  AM_CONDITIONAL([HAVE_JANSSON], [test "$have_jansson" = yes])
])
