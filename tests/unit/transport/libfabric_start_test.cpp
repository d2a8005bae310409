#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "../../bytes_read.hpp"
#include "transport/ofi/fabric_choice.hpp"
#include "transport/ofi/kernel_symbols_guard.hpp"
#include "transport/ofi/libfabric.hpp"
#include "transport/ofi/timer_slack_guard.hpp"

namespace librma::transport {
namespace {

constexpr const char* kSymbols = "/proc/kallsyms";
constexpr const char* kOtherFile = "/proc/self/stat";
constexpr const char* kNoDevices = "/there/is/no/such/folder";

struct FileCloser {
  void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};
using OpenedFile = std::unique_ptr<std::FILE, FileCloser>;

/// A library that opens files, linked as distributions link libfabric.
class FileOpener {
 public:
  FileOpener() : handle(dlopen(FILE_OPENER, RTLD_NOW | RTLD_LOCAL)) {
    if (handle != nullptr)
      open_ = reinterpret_cast<std::FILE* (*)(const char*)>(dlsym(handle, "open_by_library"));
  }
  ~FileOpener() {
    if (handle != nullptr) dlclose(handle);
  }
  FileOpener(const FileOpener&) = delete;
  FileOpener& operator=(const FileOpener&) = delete;

  [[nodiscard]] OpenedFile open(const char* path) const { return OpenedFile(open_(path)); }

  void* const handle;

 private:
  std::FILE* (*open_)(const char* path) = nullptr;
};

TEST(KernelSymbolsGuard, KeepsOneLibraryFromTheListWhileItExists) {
  const FileOpener library;
  ASSERT_NE(library.handle, nullptr) << dlerror();
  if (library.open(kSymbols) == nullptr) GTEST_SKIP() << kSymbols << " is not to be had here";
  {
    const KernelSymbolsGuard guard(library.handle, kNoDevices);
    EXPECT_EQ(library.open(kSymbols), nullptr);
    EXPECT_EQ(errno, ENOENT);
    EXPECT_NE(library.open(kOtherFile), nullptr);
    EXPECT_NE(OpenedFile(std::fopen(kSymbols, "r")), nullptr) << "this program is not that library";
  }
  EXPECT_NE(library.open(kSymbols), nullptr);
}

TEST(KernelSymbolsGuard, LeavesTheListToAHostWithDevices) {
  const FileOpener library;
  ASSERT_NE(library.handle, nullptr) << dlerror();
  if (library.open(kSymbols) == nullptr) GTEST_SKIP() << kSymbols << " is not to be had here";
  const KernelSymbolsGuard guard(library.handle, "/proc/self");  // a folder that has something
  EXPECT_NE(library.open(kSymbols), nullptr);
}

TEST(ImportReplacement, IsNothingForAFunctionThatIsNotImported) {
  const FileOpener library;
  ASSERT_NE(library.handle, nullptr) << dlerror();
  const ImportReplacement replacement(library.handle, "no_such_function", nullptr);
  EXPECT_NE(library.open(kOtherFile), nullptr);
}

/// The list of the kernel's functions has 5 to 12 MB. Ends with the status of a success if less was read.
[[noreturn]] void look_for_fabrics() {
  constexpr long kMost = 2'000'000;
  const long before = bytes_read();
  const auto found = find_fabrics({.providers = "net,tcp", .devices = ""});
  const long bytes = bytes_read() - before;
  std::fprintf(stderr, "%ld bytes were read\n", bytes);
  std::exit(found.ok() && bytes < kMost ? EXIT_SUCCESS : EXIT_FAILURE);
}

TEST(KernelSymbolsGuardDeathTest, LibfabricDoesNotReadTheList) {
  if (std::filesystem::exists("/sys/class/infiniband")) GTEST_SKIP() << "libfabric may read it on this host";
  if (bytes_read() < 0) GTEST_SKIP() << "this system does not count what a process reads";
  // libfabric reads it once in a process, so this takes a new one.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(look_for_fabrics(), testing::ExitedWithCode(EXIT_SUCCESS), "bytes were read");
}

TEST(FindFabrics, LeavesTheProgramsEnvironmentAsItWas) {
  ASSERT_TRUE(find_fabrics({.providers = "net,tcp", .devices = ""}).ok());
  EXPECT_EQ(std::getenv("FI_PROVIDER_PATH"), nullptr);
  ASSERT_EQ(::setenv("FI_PROVIDER_PATH", "/there", 1), 0);
  ASSERT_TRUE(find_fabrics({.providers = "net,tcp", .devices = ""}).ok());
  EXPECT_STREQ(std::getenv("FI_PROVIDER_PATH"), "/there");
  ::unsetenv("FI_PROVIDER_PATH");
}

TEST(TimerSlackGuard, LetsAThreadSleepLongerWhileItExists) {
  const int before = ::prctl(PR_GET_TIMERSLACK);
  {
    const TimerSlackGuard guard;
    EXPECT_GT(::prctl(PR_GET_TIMERSLACK), 1'000'000) << "nanoseconds; short naps become one";
  }
  EXPECT_EQ(::prctl(PR_GET_TIMERSLACK), before);
}

TEST(TimerSlackGuard, EndsOnceLibfabricIsLoaded) {
  const int before = ::prctl(PR_GET_TIMERSLACK);
  ASSERT_TRUE(Libfabric::get().ok());
  EXPECT_EQ(::prctl(PR_GET_TIMERSLACK), before) << "the program's sleeps are as they were";
}

}  // namespace
}  // namespace librma::transport
