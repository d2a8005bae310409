#include "util/system/background_thread.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstddef>

namespace librma {
namespace {

/// The properties that a thread finds of itself.
struct Found {
  bool takes_signals = true;
  std::size_t stack_bytes = 0;
  int runs = 0;
};

void find_out(void* context) {
  auto& found = *static_cast<Found*>(context);
  ++found.runs;
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  found.takes_signals = sigismember(&blocked, SIGTERM) == 0 || sigismember(&blocked, SIGUSR1) == 0;
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void* stack = nullptr;
  pthread_attr_getstack(&attributes, &stack, &found.stack_bytes);
  pthread_attr_destroy(&attributes);
}

TEST(BackgroundThread, HasASmallStackAndTakesNoSignals) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  BackgroundThread thread;
  EXPECT_FALSE(thread.running());
  Found found;
  ASSERT_EQ(thread.start("rma-test", find_out, &found), 0);
  EXPECT_TRUE(thread.running());
  thread.join();
  EXPECT_FALSE(thread.running());
  EXPECT_EQ(found.runs, 1);
  EXPECT_FALSE(found.takes_signals);
  // The stack is too small for a huge page. ThreadSanitizer adds its data of each thread to it.
  EXPECT_LT(found.stack_bytes, std::size_t{2} << 20U);
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
  thread.join();  // no thread runs, so this returns at once
}

TEST(BackgroundThread, HasItsName) {
  struct Named {
    pthread_barrier_t known;
    std::array<char, 16> name = {};
  } named;
  pthread_barrier_init(&named.known, nullptr, 2);
  BackgroundThread thread;
  const auto read_name = [](void* context) {
    auto& self = *static_cast<Named*>(context);
    pthread_barrier_wait(&self.known);  // start() has returned
    pthread_getname_np(pthread_self(), self.name.data(), self.name.size());
  };
  ASSERT_EQ(thread.start("rma-test", read_name, &named), 0);
  pthread_barrier_wait(&named.known);
  thread.join();
  EXPECT_STREQ(named.name.data(), "rma-test");
  pthread_barrier_destroy(&named.known);
}

TEST(BackgroundThread, StartsAgainAfterItsEnd) {
  BackgroundThread thread;
  Found found;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(thread.start("rma-test", find_out, &found), 0);
    thread.join();
  }
  EXPECT_EQ(found.runs, 3);
}

}  // namespace
}  // namespace librma
