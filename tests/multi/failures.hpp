#pragma once

#include <string>

namespace multi {

/// What the loops of the tests follow from, for people.
std::string conditions();

/// Runs the tests that the command line asks for; a process prints only its failures, and which tests it
/// skipped if it is process 0. Returns how many tests it ran, and in `failed` whether one failed, or there
/// was none.
///
/// After testing::InitGoogleTest, and in all processes of a job, as tests are collective.
int run_tests(int& failed);

}  // namespace multi
