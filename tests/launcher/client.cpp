// A rank that uses only the bootstrap. Its first argument names the case.

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "bootstrap/bootstrap.hpp"

namespace {

/// Returns a card whose bytes and length depend on the rank and the round.
std::vector<std::byte> card(int rank, int round) {
  const auto size = static_cast<size_t>(16 + rank);
  return std::vector<std::byte>(size, static_cast<std::byte>(rank * 31 + round + 1));
}

int die(std::string_view what, const librma::Status& status) {
  fmt::print(stderr, "{}: {}\n", what, status.text());
  return 1;
}

/// Joins the job once: every rank reads every card.
int exchange(int round) {
  auto opened = librma::open_bootstrap(round);
  if (!opened.ok()) return die("open_bootstrap", opened.status());
  auto& job = *opened.value();
  if (auto status = job.publish(card(job.rank(), round)); !status.ok()) return die("publish", status);
  if (auto status = job.fence(); !status.ok()) return die("fence", status);
  for (int peer = 0; peer < job.size(); ++peer) {
    const auto got = job.card_of(peer);
    if (!got.ok()) return die("card_of", got.status());
    if (got.value() != card(peer, round)) {
      fmt::print(stderr, "round {}: rank {} got a wrong card of rank {}\n", round, job.rank(), peer);
      return 1;
    }
  }
  if (job.card_of(job.size()).status().code() != RMA_ERR_RANK) return 1;
  if (auto status = job.fence(); !status.ok()) return die("second fence", status);
  fmt::print("round {} rank {} of {} local {}\n", round, job.rank(), job.size(), job.local_ranks().size());
  return 0;
}

/// Joins the job and leaves it. Then rank 0 waits for the end of its stdin, and each other rank ends with a
/// failure, as `how` says.
int leave_and_fail(std::string_view how) {
  int rank = 0;
  {
    auto opened = librma::open_bootstrap(0);
    if (!opened.ok()) return die("open_bootstrap", opened.status());
    rank = opened.value()->rank();
    if (auto status = opened.value()->fence(); !status.ok()) return die("fence", status);
  }
  fmt::print("rank {} has left\n", rank);
  if (rank == 0) {
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    fmt::print("the result\n");
    return 0;
  }
  std::fflush(stdout);
  if (how == "_exit") std::_Exit(10 + rank);
  if (how == "silent") std::_Exit(0);
  if (how == "segv") std::raise(SIGSEGV);
  return 10 + rank;
}

int print_program() {
  auto opened = librma::open_bootstrap(0);
  if (!opened.ok()) return die("open_bootstrap", opened.status());
  fmt::print("rank {} program {}\n", opened.value()->rank(), opened.value()->program());
  return 0;
}

int fence_only() {
  auto opened = librma::open_bootstrap(0);
  if (!opened.ok()) return die("open_bootstrap", opened.status());
  auto& job = *opened.value();
  if (auto status = job.publish(card(job.rank(), 0)); !status.ok()) return die("publish", status);
  if (auto status = job.fence(); !status.ok()) return die("fence", status);
  return 0;
}

bool launcher_is_stopped() {
  std::ifstream file(fmt::format("/proc/{}/stat", ::getppid()));
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  return name_end != std::string::npos && line.compare(name_end, 3, ") T") == 0;
}

/// All but rank 0 leave while the launcher is stopped; rank 0 leaves when its stdin has ended.
int leave_stopped() {
  auto opened = librma::open_bootstrap(0);
  if (!opened.ok()) return die("open_bootstrap", opened.status());
  if (auto status = opened.value()->fence(); !status.ok()) return die("fence", status);
  fmt::print("ready\n");
  std::fflush(stdout);
  if (opened.value()->rank() == 0) {
    while (std::getchar() != EOF) {
    }
  } else {
    while (!launcher_is_stopped()) ::usleep(1000);
  }
  return 0;
}

/// Joins the job and leaves it. The last rank then ends when the file `until` exists, and the others at once.
int linger(const char* until) {
  int rank = 0;
  int size = 0;
  {
    auto opened = librma::open_bootstrap(0);
    if (!opened.ok()) return die("open_bootstrap", opened.status());
    rank = opened.value()->rank();
    size = opened.value()->size();
    if (auto status = opened.value()->fence(); !status.ok()) return die("fence", status);
  }
  while (rank == size - 1 && ::access(until, F_OK) != 0) ::usleep(1000);
  return 0;
}

/// Joins the job, and starts a process in another network namespace that tries to be the same rank.
int join_twice(const std::string& self) {
  auto opened = librma::open_bootstrap(0);
  if (!opened.ok()) return die("open_bootstrap", opened.status());
  const int child = std::system(fmt::format("unshare --net '{}' fence", self).c_str());
  if (auto status = opened.value()->fence(); !status.ok()) return die("fence", status);
  return child != 0 ? 0 : 1;
}

/// All ranks join the job and leave it. Then rank 0 joins it again, and the others end.
int come_back_alone() {
  for (int round = 0; round < 2; ++round) {
    auto opened = librma::open_bootstrap(round);
    if (!opened.ok()) return die("open_bootstrap", opened.status());
    if (auto status = opened.value()->fence(); !status.ok()) return die("fence", status);
    if (opened.value()->rank() != 0) return 0;
  }
  return 0;
}

/// The last rank ends in the way `what`, while the others wait for it.
int misbehave(std::string_view what) {
  auto opened = librma::open_bootstrap(0);
  if (!opened.ok()) return die("open_bootstrap", opened.status());
  auto& job = *opened.value();
  if (auto status = job.fence(); !status.ok()) return die("fence", status);
  if (job.rank() == job.size() - 1) {
    if (what == "abort") job.abort(9, "the last rank has had enough");
    if (what == "abort_well") job.abort(0, "the last rank is content");
    if (what == "vanish") std::exit(0);  // `opened` is never closed
    if (what == "vanish_forked") {
      if (::fork() != 0) std::_Exit(0);  // the child holds the connection too
    }
    if (what == "segv") std::raise(SIGSEGV);
  }
  ::pause();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "exchange") {
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 1;
    for (int round = 0; round < rounds; ++round) {
      if (const int code = exchange(round); code != 0) return code;
    }
    return 0;
  }
  if (what == "fence") return fence_only();
  if (what == "program") return print_program();
  if (what == "leave_and_fail") return leave_and_fail(argc > 2 ? argv[2] : "");
  if (what == "linger") return linger(argc > 2 ? argv[2] : "");
  if (what == "twice") return join_twice(argv[0]);
  if (what == "come_back_alone") return come_back_alone();
  if (what == "leave_stopped") return leave_stopped();
  return misbehave(what);
}
