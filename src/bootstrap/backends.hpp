#pragma once

#include <memory>
#include <string_view>

#include "bootstrap/bootstrap.hpp"
#include "rma/rma.h"
#include "util/status.hpp"

namespace rma {

/// A job of one process, that needs no launcher.
std::unique_ptr<Bootstrap> open_single_bootstrap();

/// The job that the launcher's PMIx server knows.
Result<std::unique_ptr<Bootstrap>> open_pmix_bootstrap(int incarnation);

/// The job whose processes find each other by calls of the program's (see rma_bootstrap_t), which are
/// complete. Collective over it.
Result<std::unique_ptr<Bootstrap>> open_given_bootstrap(const rma_bootstrap_t& given);

/// Writes `text` and a newline to stderr, unbuffered and without locks, so that any thread may call it at any
/// time.
void print_last_words(std::string_view text);

}  // namespace rma
