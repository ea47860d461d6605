/* bindings/wasm/src/module.c - the job of a module. */
#include "module.h"

struct job module_job;
