#pragma once

#include <string_view>

#include "rma/rma.h"

// What the cases of rma-multi-job share. A case runs between rma_init and rma_finalize, at every rank.

/// The number of expectations that have failed in this process.
extern int failures;

void expect(bool good, const char* what);
void expect_ok(rma_status_t status, const char* what);
/// Returns whether the text of the last error has `word`.
bool error_names(std::string_view word);
void barrier();
/// Allocates memory at every rank, and checks a put to the next rank.
void some_traffic();

// job_outside.cpp
/// All calls outside of rma_init ... rma_finalize, or in a forked child, return the error for it.
void refuse_everything(rma_status_t expected = RMA_ERR_NOT_INITIALIZED);
/// Every call of a forked child of a member fails at once, except for accesses that do not need the library.
/// The parent goes on.
void forked();

// job_flood.cpp
/// Two ranks send each other more than their windows for messages take, before either of them receives.
void flood_both_ways();

// job_beyond_4_gib.cpp
/// One put and one get of more than 4 GiB.
void beyond_4_gib();
