#pragma once

#include "armci.h"

/// ARMCI_X as a weak name of PARMCI_X, which this file defines: the declaration in armci.h has to have the
/// same type.
#define RMA_ARMCI_WEAK(strong, name) \
  extern "C" [[gnu::weak, gnu::alias(#strong), gnu::visibility("default")]] decltype(strong) name
#define RMA_ARMCI(name) RMA_ARMCI_WEAK(PARMCI_##name, ARMCI_##name)
