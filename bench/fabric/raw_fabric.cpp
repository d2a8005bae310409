/**
 * @file raw_fabric.cpp
 * raw-fabric: libfabric itself between two processes of this machine, in the rows that `network-bench --mode
 * complete` measures with librma. compare_ofi.sh runs both.
 */
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "harness/clock.hpp"
#include "harness/modes.hpp"
#include "network/ticks.hpp"

namespace rma::bench {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kWindow = 8;
constexpr std::size_t kWarmUp = 50;
constexpr std::uint64_t kKey = 1;

void need(long result, const char* call) {
  if (result >= 0) return;
  std::fprintf(stderr, "raw-fabric: %s: %s\n", call, fi_strerror(static_cast<int>(-result)));
  std::exit(EXIT_FAILURE);
}

/** What the two processes tell each other. */
struct Card {
  std::array<char, 64> name = {};
  std::size_t bytes = 0;
  std::uint64_t base = 0;
};

/** An endpoint with registered memory. */
struct Fabric {
  fi_info* info = nullptr;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_av* addresses = nullptr;
  fid_cq* queue = nullptr;
  fid_ep* endpoint = nullptr;
  fid_mr* region = nullptr;
  int fd = -1;
  fi_addr_t peer = FI_ADDR_UNSPEC;
  std::uint64_t remote = 0;  ///< how the peer's memory is addressed
  std::vector<char> memory = std::vector<char>(kWindow * kMegabyte);

  void open(const std::string& provider);
  [[nodiscard]] Card card() const;
  void connect(const Card& card);
  /** Reads completions. Returns how many. */
  std::size_t poll() const;
  void sleep() const;
};

void Fabric::open(const std::string& provider) {
  fi_info* const hints = fi_allocinfo();
  hints->caps = FI_RMA | FI_MSG;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED;
  hints->fabric_attr->prov_name = strdup(provider.c_str());
  need(fi_getinfo(FI_VERSION(1, 15), nullptr, nullptr, 0, hints, &info), "fi_getinfo");
  fi_freeinfo(hints);
  need(fi_fabric(info->fabric_attr, &fabric, nullptr), "fi_fabric");
  need(fi_domain(fabric, info, &domain, nullptr), "fi_domain");
  fi_av_attr vector = {};
  vector.type = FI_AV_TABLE;
  need(fi_av_open(domain, &vector, &addresses, nullptr), "fi_av_open");
  fi_cq_attr wanted = {};
  wanted.format = FI_CQ_FORMAT_CONTEXT;
  wanted.wait_obj = FI_WAIT_FD;
  wanted.size = 1024;
  need(fi_cq_open(domain, &wanted, &queue, nullptr), "fi_cq_open");
  need(fi_endpoint(domain, info, &endpoint, nullptr), "fi_endpoint");
  need(fi_ep_bind(endpoint, &addresses->fid, 0), "fi_ep_bind");
  need(fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  need(fi_enable(endpoint), "fi_enable");
  need(fi_control(&queue->fid, FI_GETWAIT, &fd), "FI_GETWAIT");
  need(fi_mr_reg(domain, memory.data(), memory.size(), FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE,
                 0, kKey, 0, &region, nullptr),
       "fi_mr_reg");
}

Card Fabric::card() const {
  Card card;
  card.bytes = card.name.size();
  need(fi_getname(&endpoint->fid, card.name.data(), &card.bytes), "fi_getname");
  const auto mode = static_cast<unsigned>(info->domain_attr->mr_mode);
  card.base = (mode & static_cast<unsigned>(FI_MR_VIRT_ADDR)) != 0
                  ? reinterpret_cast<std::uintptr_t>(memory.data())
                  : 0;
  return card;
}

void Fabric::connect(const Card& card) {
  need(fi_av_insert(addresses, card.name.data(), 1, &peer, 0, nullptr), "fi_av_insert");
  remote = card.base;
}

std::size_t Fabric::poll() const {
  std::array<fi_cq_entry, 32> entries;
  const ssize_t read = fi_cq_read(queue, entries.data(), entries.size());
  if (read == -FI_EAGAIN) return 0;
  need(read, "fi_cq_read");
  return static_cast<std::size_t>(read);
}

void Fabric::sleep() const {
  std::array<fid*, 1> queues = {&queue->fid};
  if (fi_trywait(fabric, queues.data(), 1) != 0) return;
  pollfd polled = {.fd = fd, .events = POLLIN, .revents = 0};
  static_cast<void>(::poll(&polled, 1, -1));
}

/** One transfer or several of the same kind. */
struct Transfers {
  Fabric& fabric;
  bool write = true;

  void post(std::size_t at, std::size_t bytes) const {
    iovec piece = {.iov_base = fabric.memory.data() + at, .iov_len = bytes};
    fi_rma_iov target = {.addr = fabric.remote + at, .len = bytes, .key = kKey};
    fi_msg_rma message = {};
    message.msg_iov = &piece;
    message.iov_count = 1;
    message.addr = fabric.peer;
    message.rma_iov = &target;
    message.rma_iov_count = 1;
    while (true) {
      const ssize_t posted =
          write ? fi_writemsg(fabric.endpoint, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE)
                : fi_readmsg(fabric.endpoint, &message, FI_COMPLETION);
      if (posted == 0) return;
      if (posted != -FI_EAGAIN) need(posted, "posting");
      static_cast<void>(fabric.poll());
    }
  }
  void finish(std::size_t count) const {
    while (count > 0) count -= std::min(count, fabric.poll());
  }
};

void measure(Fabric& fabric, Report& report, const std::string& target, std::size_t iterations,
             std::size_t megabytes) {
  for (const bool write : {true, false}) {
    const Transfers transfers = {.fabric = fabric, .write = write};
    const std::string verb = write ? "write" : "read";
    const auto record = [&](const std::string& size, std::size_t bytes, std::vector<double> samples) {
      report.rows.push_back({.name = {.suite = "complete",
                                      .row = fmt::format("{} {}, target {}", verb, size, target),
                                      .form = "",
                                      .bytes = bytes},
                             .unit = "ns",
                             .spread = summarize(std::move(samples))});
    };
    record("8 B", 8, time_each(iterations, kWarmUp, [&](std::size_t) {
             transfers.post(0, 8);
             transfers.finish(1);
           }));
    std::vector<double> times;
    for (std::size_t done = 0; done < megabytes + kWindow; done += kWindow) {
      const double begin = now_ns();
      for (std::size_t i = 0; i < kWindow; ++i) transfers.post(i * kMegabyte, kMegabyte);
      transfers.finish(kWindow);
      times.push_back((now_ns() - begin) / kWindow);
    }
    times.erase(times.begin());
    record("1 MiB", kMegabyte, std::move(times));
  }
}

/** The target: it lets its provider work, by polling or from sleep, until it is killed. */
[[noreturn]] void serve(const std::string& provider, int socket, bool sleeps) {
  Fabric fabric;
  fabric.open(provider);
  const Card mine = fabric.card();
  Card theirs;
  need(write(socket, &mine, sizeof mine), "write");
  need(read(socket, &theirs, sizeof theirs), "read");
  fabric.connect(theirs);
  while (true) {
    static_cast<void>(fabric.poll());
    if (sleeps) fabric.sleep();
  }
}

void run_pair(const std::string& provider, bool sleeps, Report& report, std::size_t iterations,
              std::size_t megabytes) {
  std::array<int, 2> sockets = {-1, -1};
  need(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets.data()), "socketpair");
  const pid_t target = fork();
  need(target, "fork");
  if (target == 0) serve(provider, sockets[1], sleeps);
  Fabric fabric;
  fabric.open(provider);
  const Card mine = fabric.card();
  Card theirs;
  need(read(sockets[0], &theirs, sizeof theirs), "read");
  need(write(sockets[0], &mine, sizeof mine), "write");
  fabric.connect(theirs);
  measure(fabric, report, sleeps ? "sleeps" : "polls", iterations, megabytes);
  kill(target, SIGKILL);
  waitpid(target, nullptr, 0);
  close(sockets[0]);
  close(sockets[1]);
}

int run(int argc, char** argv) {
  std::string provider = "net";
  std::string json;
  std::size_t iterations = 300;
  std::size_t megabytes = 64;
  CLI::App app{"Measures libfabric between two processes of this machine"};
  app.add_option("--provider", provider, "The provider, as fi_info names it")->capture_default_str();
  app.add_option("--iterations", iterations, "Operations of a latency")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  app.add_option("--megabytes", megabytes, "What a bandwidth moves")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--json", json, "Write the results as JSON to this file (- for standard output)");
  CLI11_PARSE(app, argc, argv);
  Report report;
  report.backend = "libfabric";
  report.ranks = 2;
  for (const bool sleeps : {false, true}) run_pair(provider, sleeps, report, iterations, megabytes);
  return publish(report, json, "raw-fabric");
}

}  // namespace
}  // namespace rma::bench

int main(int argc, char** argv) { return rma::bench::run(argc, argv); }
