#pragma once

#include "armci.h"

/// Defines ARMCI_X as a weak alias of PARMCI_X, which the including file defines. The compiler checks that
/// the declaration in armci.h has the same type.
#define RMA_ARMCI_WEAK(strong, name) \
  extern "C" [[gnu::weak, gnu::alias(#strong), gnu::visibility("default")]] decltype(strong) name
#define RMA_ARMCI(name) RMA_ARMCI_WEAK(PARMCI_##name, ARMCI_##name)
