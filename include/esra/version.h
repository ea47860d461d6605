/* version.h - the one place where the version stands; the build reads it, and the soname follows from it. */
#ifndef ESRA_VERSION_H
#define ESRA_VERSION_H

#define ESRA_VERSION_MAJOR 0
#define ESRA_VERSION_MINOR 1
#define ESRA_VERSION_PATCH 0

#endif
