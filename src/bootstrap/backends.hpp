#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bootstrap/bootstrap.hpp"
#include "rma/rma.h"
#include "util/status.hpp"

namespace rma {

/// Opens a job of one process, which needs no launcher. `remark`: see Bootstrap::remark().
std::unique_ptr<Bootstrap> open_single_bootstrap(std::string remark = {});

/// Joins the job of the launcher's PMIx server.
Result<std::unique_ptr<Bootstrap>> open_pmix_bootstrap(int incarnation);

/// Joins a job whose processes find each other by functions of the program (see rma_bootstrap_t). The caller
/// has checked `given`. Collective over the job.
Result<std::unique_ptr<Bootstrap>> open_given_bootstrap(const rma_bootstrap_t& given);

/// Writes `text` and a newline to stderr, unbuffered and without locks, so that any thread may call it at any
/// time.
void print_last_words(std::string_view text);

}  // namespace rma
