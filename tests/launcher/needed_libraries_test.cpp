#include "rmarun/needed_libraries.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "../bytes_read.hpp"
#include "rmarun/environment.hpp"

namespace rmarun {
namespace {

TEST(NeededLibraries, AreFoundWithoutReadingTheTablesOfTexts) {
  const long before = bytes_read();
  std::set<std::string> found;
  EXPECT_FALSE(needs_library("/proc/self/exe", Environment::inherited(), [&](std::string_view library) {
    found.emplace(library);
    return false;
  }));
  const long bytes = bytes_read() - before;
  EXPECT_TRUE(found.contains("libc.so.6"));
  EXPECT_TRUE(found.contains("libm.so.6")) << "libstdc++ needs it";
  // The dynamic section of each takes 2 to 3 KB. The table of libstdc++ alone has 300 KB.
  const auto most = static_cast<long>(found.size() + 1) * 8192;
  EXPECT_LT(bytes, most) << found.size() << " libraries";
}

TEST(NeededLibraries, OneIsEnough) {
  int asked = 0;
  EXPECT_TRUE(needs_library("/proc/self/exe", Environment::inherited(), [&](std::string_view library) {
    ++asked;
    return library == "libstdc++.so.6";
  }));
  EXPECT_GT(asked, 0);
}

TEST(NeededLibraries, AScriptHasNone) {
  EXPECT_FALSE(needs_library("/etc/passwd", Environment::inherited(), [](std::string_view) { return true; }));
}

TEST(NeededLibraries, NamesOfFunctionsAreFoundByTheirBeginning) {
  EXPECT_TRUE(names_function("/proc/self/exe", "__libc_start"));
  EXPECT_FALSE(names_function("/proc/self/exe", "no_such_function_"));
}

}  // namespace
}  // namespace rmarun
