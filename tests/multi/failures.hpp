#pragma once

#include <string>

namespace multi {

/// A text that says what the loops of the tests depend on.
std::string conditions();

/// Runs the tests that the command line selects. A process prints only its failures; process 0 also prints
/// the skipped tests. Returns how many tests it ran. Sets `failed` if a test failed or if there was none.
///
/// Called after testing::InitGoogleTest, in all processes of a job, because tests are collective.
int run_tests(int& failed);

}  // namespace multi
