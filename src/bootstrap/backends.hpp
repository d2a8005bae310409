#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bootstrap/bootstrap.hpp"
#include "rma/rma.h"
#include "util/status.hpp"

namespace librma {

/// Opens a job of one process, which needs no launcher. `remark`: see Bootstrap::remark().
std::unique_ptr<Bootstrap> open_single_bootstrap(std::string remark = {});

/// Joins the job of the launcher's PMIx server.
Result<std::unique_ptr<Bootstrap>> open_pmix_bootstrap(int incarnation);

/// Returns the directory of the rmarun that has started `job`; empty if another launcher has.
std::string rmarun_directory(std::string_view job);
/// Joins the job of rmarun. Its ranks do not use PMIx: libpmix connects by TCP within one network namespace,
/// takes no user that a namespace has mapped to another number, and confuses a rank's program with the next
/// one that the rank executes. Collective over the job.
Result<std::unique_ptr<Bootstrap>> open_rmarun_bootstrap(const std::string& directory, const char* job,
                                                         std::string_view rank);

/// Joins a job whose processes find each other by functions of the program (see rma_bootstrap_t). The caller
/// has checked `given`. Collective over the job.
Result<std::unique_ptr<Bootstrap>> open_given_bootstrap(const rma_bootstrap_t& given);

/// Writes `text` and a newline to stderr, unbuffered and without locks, so that any thread may call it at any
/// time.
void print_last_words(std::string_view text);

}  // namespace librma
