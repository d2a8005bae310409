// A storm of signals, for programs that do not ask for one. Preloaded, this library gives the process a timer
// whose SIGALRM goes to any of its threads, and each thread a timer whose SIGPROF goes to it. The handler
// does as that of a profiler: it counts, and interrupted system calls are not restarted. When the process
// exits, it fails if there was no storm, or if PMIx's threads, which librma starts, take signals.
//
// STORM_MICROSECONDS is the interval of each timer, or 1000 if it is not set.

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

namespace {

constexpr int kFailed = 97;
constexpr int kNanoseconds = 1'000'000'000;

std::atomic<long> signals = 0;
std::atomic<bool> disturbed = false;  // a thread of PMIx takes signals
timespec begin = {};

extern "C" void count_signal(int /*signal*/) { signals.fetch_add(1, std::memory_order_relaxed); }

// Not setitimer(): exec keeps its timer, and forgets the handler.
void start_timer(sigevent event) {
  const char* const set = std::getenv("STORM_MICROSECONDS");
  const long microseconds = set != nullptr ? std::strtol(set, nullptr, 10) : 1000;
  const timespec time = {.tv_sec = microseconds / 1'000'000, .tv_nsec = microseconds % 1'000'000 * 1000};
  const itimerspec interval = {.it_interval = time, .it_value = time};
  timer_t timer = {};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) timer_settime(timer, 0, &interval, nullptr);
}

void start_timer_of_thread() {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  start_timer(event);
}

struct Started {
  void* (*run)(void*);
  void* argument;
  bool of_pmix;
};

void* run_thread(void* started) {
  const std::unique_ptr<Started> thread(static_cast<Started*>(started));
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  if (thread->of_pmix && sigismember(&blocked, SIGUSR1) == 0) disturbed.store(true);
  start_timer_of_thread();
  return thread->run(thread->argument);
}

bool is_in_pmix(const void* code) {
  Dl_info about = {};
  return dladdr(code, &about) != 0 && about.dli_fname != nullptr &&
         std::strstr(about.dli_fname, "libpmix") != nullptr;
}

[[gnu::constructor]] void start_storm() {
  clock_gettime(CLOCK_MONOTONIC, &begin);
  struct sigaction action = {};
  action.sa_handler = count_signal;
  sigaction(SIGALRM, &action, nullptr);
  sigaction(SIGPROF, &action, nullptr);
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  start_timer(event);
  start_timer_of_thread();
}

[[gnu::destructor]] void end_storm() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double seconds = static_cast<double>(now.tv_sec - begin.tv_sec) +
                         static_cast<double>(now.tv_nsec - begin.tv_nsec) / kNanoseconds;
  const bool calm = seconds > 1 && signals.load() == 0;
  if (!calm && !disturbed.load()) return;
  std::fprintf(stderr, "storm: process %d: %s\n", getpid(),
               calm ? "no signal came" : "PMIx's threads take signals");
  _exit(kFailed);
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) noexcept {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  // PMIx is loaded by librma, and makes its threads itself.
  auto started = std::make_unique<Started>(Started{run, argument, is_in_pmix(__builtin_return_address(0))});
  const int error = real(thread, attributes, run_thread, started.get());
  if (error == 0) started.release();  // NOLINT(bugprone-unused-return-value): the thread deletes it
  return error;
}
