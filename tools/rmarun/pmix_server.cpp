#include "rmarun/pmix_server.hpp"

#include <fmt/format.h>
#include <pmix.h>
#include <pmix_server.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "rmarun/spawn.hpp"

namespace rmarun {

struct PmixServer::News {
  mutable std::mutex mutex;
  std::vector<Stage> stages;
  std::optional<AbortRequest> abort;
  Descriptor wakeup;

  void note_stage(int rank, Stage stage) {
    {
      const std::lock_guard lock(mutex);
      stages.at(static_cast<size_t>(rank)) = stage;
    }
    ring();
  }

  void note_abort(AbortRequest request) {
    {
      const std::lock_guard lock(mutex);
      if (!abort) abort = request;
    }
    ring();
  }

 private:
  void ring() const {
    const uint64_t one = 1;
    // Fails only when the counter is about to overflow: then it is readable anyway.
    [[maybe_unused]] const ssize_t written = ::write(wakeup.get(), &one, sizeof one);
  }
};

namespace {

using News = PmixServer::News;

rma::Status failure(const char* what, pmix_status_t code) {
  return {RMA_ERR_LAUNCH, fmt::format("{} failed: {} ({})", what, PMIx_Error_string(code), code)};
}

/// Success, whether PMIx is done already or was done at once.
bool succeeded(pmix_status_t code) { return code == PMIX_SUCCESS || code == PMIX_OPERATION_SUCCEEDED; }

// What PMIx calls, on its own thread. PMIX_OPERATION_SUCCEEDED says that no callback will follow.

pmix_status_t on_connected(const pmix_proc_t* proc, void* news, pmix_info_t* /*info*/, size_t /*ninfo*/,
                           pmix_op_cbfunc_t /*done*/, void* /*cookie*/) {
  if (news != nullptr) static_cast<News*>(news)->note_stage(static_cast<int>(proc->rank), Stage::kJoined);
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_finalized(const pmix_proc_t* proc, void* news, pmix_op_cbfunc_t /*done*/, void* /*cookie*/) {
  if (news != nullptr) static_cast<News*>(news)->note_stage(static_cast<int>(proc->rank), Stage::kLeft);
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_abort(const pmix_proc_t* proc, void* news, int code, const char /*text*/[],
                       pmix_proc_t* /*procs*/, size_t /*nprocs*/, pmix_op_cbfunc_t /*done*/,
                       void* /*cookie*/) {
  if (news != nullptr) static_cast<News*>(news)->note_abort({static_cast<int>(proc->rank), code});
  return PMIX_OPERATION_SUCCEEDED;
}

/// Called when every rank has arrived: all are here, so nothing needs to be fetched from elsewhere.
pmix_status_t on_fence(const pmix_proc_t* /*procs*/, size_t /*nprocs*/, const pmix_info_t* /*info*/,
                       size_t /*ninfo*/, char* data, size_t size, pmix_modex_cbfunc_t done, void* cookie) {
  done(PMIX_SUCCESS, data, size, cookie, nullptr, nullptr);
  return PMIX_SUCCESS;
}

/// Asks for data of ranks on other hosts: there are none.
pmix_status_t on_direct_modex(const pmix_proc_t* /*proc*/, const pmix_info_t* /*info*/, size_t /*ninfo*/,
                              pmix_modex_cbfunc_t /*done*/, void* /*cookie*/) {
  return PMIX_ERR_NOT_FOUND;
}

pmix_server_module_t& callbacks() {
  static pmix_server_module_t module = [] {
    pmix_server_module_t m{};
    m.client_connected2 = on_connected;
    m.client_finalized = on_finalized;
    m.abort = on_abort;
    m.fence_nb = on_fence;
    m.direct_modex = on_direct_modex;
    return m;
  }();
  return module;
}

/// Facts about the job, in the form that PMIx takes them.
class InfoList {
 public:
  InfoList() = default;
  InfoList(const InfoList&) = delete;
  InfoList& operator=(const InfoList&) = delete;
  ~InfoList() {
    for (pmix_info_t& info : infos_) PMIX_INFO_DESTRUCT(&info);
  }

  void add(const char* key, const std::string& text) { load(key, text.c_str(), PMIX_STRING); }
  void add(const char* key, uint32_t number) { load(key, &number, PMIX_UINT32); }
  void add(const char* key, bool truth) { load(key, &truth, PMIX_BOOL); }
  /// A regular expression that PMIx itself generated: a text, to be taken as its own type.
  void add_regex(const char* key, const char* regex) { load(key, regex, PMIX_REGEX); }

  pmix_info_t* data() { return infos_.data(); }
  [[nodiscard]] size_t size() const { return infos_.size(); }

 private:
  void load(const char* key, const void* value, pmix_data_type_t type) {
    infos_.emplace_back();
    PMIx_Info_load(&infos_.back(), key, value, type);
  }

  std::vector<pmix_info_t> infos_;
};

struct Free {
  void operator()(char* text) const { std::free(text); }  // PMIx allocates with malloc
};
using Text = std::unique_ptr<char, Free>;

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::string all_ranks(int ranks) {
  std::string list = "0";
  for (int rank = 1; rank < ranks; ++rank) list += fmt::format(",{}", rank);
  return list;
}

}  // namespace

PmixServer::PmixServer() : news_(std::make_unique<News>()) {}

PmixServer::~PmixServer() {
  if (initialized_) PMIx_server_finalize();
}

rma::Result<std::unique_ptr<PmixServer>> PmixServer::start(int ranks, const std::string& directory) {
  std::unique_ptr<PmixServer> server(new PmixServer);
  News& news = *server->news_;
  news.stages.assign(static_cast<size_t>(ranks), Stage::kNone);
  news.wakeup = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!news.wakeup.open()) return rma::system_failure(RMA_ERR_SYSTEM, "eventfd", errno);

  // The directory's random name makes the job's name unique on this host, too.
  server->job_ = fmt::format("{}-{}", host_name(), directory.substr(directory.rfind('/') + 1));
  InfoList infos;
  infos.add(PMIX_SERVER_NSPACE, "server-" + server->job_);
  infos.add(PMIX_SERVER_TMPDIR, directory);
  infos.add(PMIX_SYSTEM_TMPDIR, directory);
  infos.add(PMIX_HOSTNAME, host_name());
  if (const auto code = PMIx_server_init(&callbacks(), infos.data(), infos.size()); !succeeded(code)) {
    return failure("PMIx_server_init", code);
  }
  server->initialized_ = true;
  if (auto status = server->register_job(ranks); !status.ok()) return status;
  return server;
}

rma::Status PmixServer::register_job(int ranks) {
  char* raw = nullptr;
  if (const auto code = PMIx_generate_regex(host_name().c_str(), &raw); !succeeded(code)) {
    return failure("PMIx_generate_regex", code);
  }
  const Text hosts(raw);
  raw = nullptr;
  if (const auto code = PMIx_generate_ppn(all_ranks(ranks).c_str(), &raw); !succeeded(code)) {
    return failure("PMIx_generate_ppn", code);
  }
  const Text ranks_by_host(raw);

  const auto count = static_cast<uint32_t>(ranks);
  InfoList infos;
  infos.add(PMIX_JOBID, job_);
  infos.add(PMIX_JOB_SIZE, count);
  infos.add(PMIX_UNIV_SIZE, count);
  infos.add(PMIX_MAX_PROCS, count);
  infos.add(PMIX_LOCAL_SIZE, count);
  infos.add(PMIX_SPAWNED, false);
  infos.add(PMIX_LOCAL_PEERS, all_ranks(ranks));
  infos.add_regex(PMIX_NODE_MAP, hosts.get());
  infos.add_regex(PMIX_PROC_MAP, ranks_by_host.get());
  if (const auto code =
          PMIx_server_register_nspace(job_.c_str(), ranks, infos.data(), infos.size(), nullptr, nullptr);
      !succeeded(code)) {
    return failure("PMIx_server_register_nspace", code);
  }
  for (uint32_t rank = 0; rank < count; ++rank) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, job_.c_str(), rank);
    if (const auto code =
            PMIx_server_register_client(&proc, ::getuid(), ::getgid(), news_.get(), nullptr, nullptr);
        !succeeded(code)) {
      return failure("PMIx_server_register_client", code);
    }
  }
  return {};
}

rma::Result<std::vector<std::string>> PmixServer::environment_of(int rank) {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, job_.c_str(), static_cast<pmix_rank_t>(rank));
  char** added = nullptr;
  if (const auto code = PMIx_server_setup_fork(&proc, &added); !succeeded(code)) {
    return failure("PMIx_server_setup_fork", code);
  }
  std::vector<std::string> environment;
  for (char** entry = added; entry != nullptr && *entry != nullptr; ++entry) {
    environment.emplace_back(*entry);
    std::free(*entry);
  }
  std::free(static_cast<void*>(added));
  return environment;
}

int PmixServer::wakeup() const noexcept { return news_->wakeup.get(); }

void PmixServer::clear_wakeup() {
  uint64_t count = 0;
  // EAGAIN when there was no news.
  [[maybe_unused]] const ssize_t got = ::read(news_->wakeup.get(), &count, sizeof count);
}

Stage PmixServer::stage(int rank) const {
  const std::lock_guard lock(news_->mutex);
  return news_->stages.at(static_cast<size_t>(rank));
}

std::optional<AbortRequest> PmixServer::abort_request() const {
  const std::lock_guard lock(news_->mutex);
  return news_->abort;
}

}  // namespace rmarun
