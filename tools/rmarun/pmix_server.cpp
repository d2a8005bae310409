#include "rmarun/pmix_server.hpp"

#include <fmt/format.h>
#include <pmix.h>
#include <pmix_server.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

#include "rmarun/pmix_names.hpp"

namespace rmarun {

namespace {

librma::Status failure(const char* what, pmix_status_t code) {
  return {RMA_ERR_LAUNCH, fmt::format("{} failed: {} ({})", what, PMIx_Error_string(code), code)};
}

/// Returns whether PMIx succeeded, or will succeed: it may have done the work at once.
bool succeeded(pmix_status_t code) { return code == PMIX_SUCCESS || code == PMIX_OPERATION_SUCCEEDED; }

// PMIx calls these functions on its own thread. PMIX_OPERATION_SUCCEEDED says that no callback will follow.

void note(void* server, const pmix_proc_t& proc, Stage stage) {
  if (server != nullptr)
    static_cast<PmixServer*>(server)->reports().note_stage(static_cast<int>(proc.rank), stage);
}

pmix_status_t on_connected(const pmix_proc_t* proc, void* server, pmix_info_t* /*info*/, size_t /*ninfo*/,
                           pmix_op_cbfunc_t /*done*/, void* /*cookie*/) {
  note(server, *proc, Stage::kJoined);
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_finalized(const pmix_proc_t* proc, void* server, pmix_op_cbfunc_t /*done*/,
                           void* /*cookie*/) {
  note(server, *proc, Stage::kLeft);
  return PMIX_OPERATION_SUCCEEDED;
}

/// The rank waits for `done` and then ends.
pmix_status_t on_abort(const pmix_proc_t* proc, void* server, int code, const char /*text*/[],
                       pmix_proc_t* /*procs*/, size_t /*nprocs*/, pmix_op_cbfunc_t done, void* cookie) {
  if (server == nullptr || done == nullptr) return PMIX_OPERATION_SUCCEEDED;
  static_cast<PmixServer*>(server)->reports().note_abort({static_cast<int>(proc->rank), code},
                                                         [=] { done(PMIX_SUCCESS, cookie); });
  return PMIX_SUCCESS;
}

/// PMIx calls this when all ranks have arrived. All run on this host, so no data has to be fetched.
pmix_status_t on_fence(const pmix_proc_t* /*procs*/, size_t /*nprocs*/, const pmix_info_t* /*info*/,
                       size_t /*ninfo*/, char* data, size_t size, pmix_modex_cbfunc_t done, void* cookie) {
  done(PMIX_SUCCESS, data, size, cookie, nullptr, nullptr);
  return PMIX_SUCCESS;
}

/// Notes connections that have ended: that of `source` and, if PMIx reports several at once, those in
/// `infos`.
void on_lost(size_t /*handler*/, pmix_status_t /*status*/, const pmix_proc_t* source, pmix_info_t infos[],
             size_t ninfo, pmix_info_t /*results*/[], size_t /*nresults*/,
             pmix_event_notification_cbfunc_fn_t done, void* cookie) {
  void* server = nullptr;
  for (size_t i = 0; i < ninfo; ++i) {
    if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_RETURN_OBJECT)) server = infos[i].value.data.ptr;
  }
  note(server, *source, Stage::kLost);
  for (size_t i = 0; i < ninfo; ++i) {
    if (infos[i].value.type == PMIX_PROC && infos[i].value.data.proc != nullptr)
      note(server, *infos[i].value.data.proc, Stage::kLost);
  }
  if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, cookie);
}

/// Answers requests for data of ranks on other hosts. There are none.
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

/// Facts about the job, in the form that PMIx expects.
class InfoList {
 public:
  InfoList() = default;
  InfoList(InfoList&&) = default;
  InfoList& operator=(InfoList&&) = delete;
  ~InfoList() {
    for (pmix_info_t& info : infos_) PMIX_INFO_DESTRUCT(&info);
  }

  void add(const char* key, const std::string& text) { load(key, text.c_str(), PMIX_STRING); }
  void add(const char* key, uint32_t number) { load(key, &number, PMIX_UINT32); }
  void add(const char* key, bool truth) { load(key, &truth, PMIX_BOOL); }
  void add_pointer(const char* key, void* pointer) { load(key, pointer, PMIX_POINTER); }
  void add_rank(const char* key, pmix_rank_t rank) { load(key, &rank, PMIX_PROC_RANK); }
  /// Adds the elements of another list as one element.
  void add_list(const char* key, InfoList list) {
    pmix_data_array_t array{PMIX_INFO, list.size(), list.data()};
    load(key, &array, PMIX_DATA_ARRAY);  // copies
  }
  /// Adds a regular expression that PMIx itself generated. It is a text with a type of its own.
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
  if (::gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
  return pmix_host_name(name.data());
}

std::string all_ranks(int ranks) {
  std::string list = "0";
  for (int rank = 1; rank < ranks; ++rank) list += fmt::format(",{}", rank);
  return list;
}

}  // namespace

void PmixServer::set_environment() {
  // PMIx reports connections that end at once, instead of collecting them for a second.
  ::setenv("PMIX_MCA_pmix_event_caching_window", "0", 0);  // NOLINT(concurrency-mt-unsafe): one thread
}

librma::Result<PmixServer*> PmixServer::start(const std::vector<int>& programs, int seats,
                                              const std::string& directory) {
  // The object is never deleted, because PMIx's thread uses it as long as the process runs.
  static PmixServer& server = *new PmixServer;
  Descriptor wakeup(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wakeup.open()) return librma::system_failure(RMA_ERR_SYSTEM, "eventfd", errno);
  server.reports_.emplace(seats, std::move(wakeup));

  // The directory's random name makes the job's name unique on this host, too. librma knows by it that rmarun
  // has started the job (src/bootstrap/rmarun_bootstrap.cpp).
  server.job_ = fmt::format("{}-{}", host_name(), directory.substr(directory.rfind('/') + 1));
  InfoList infos;
  infos.add(PMIX_SERVER_NSPACE, "server-" + server.job_);
  infos.add(PMIX_SERVER_TMPDIR, directory);
  infos.add(PMIX_SYSTEM_TMPDIR, directory);
  infos.add(PMIX_HOSTNAME, host_name());
  if (const auto code = PMIx_server_init(&callbacks(), infos.data(), infos.size()); !succeeded(code)) {
    return failure("PMIx_server_init", code);
  }
  if (auto status = server.watch_connections(); !status.ok()) return status;
  if (auto status = server.register_job(programs); !status.ok()) return status;
  return &server;
}

librma::Status PmixServer::watch_connections() {
  pmix_status_t lost = PMIX_ERR_LOST_CONNECTION;
  InfoList infos;
  infos.add_pointer(PMIX_EVENT_RETURN_OBJECT, this);
  // Without a callback PMIx returns the handler's number, which is not negative, or an error.
  const auto code =
      PMIx_Register_event_handler(&lost, 1, infos.data(), infos.size(), on_lost, nullptr, nullptr);
  if (code < 0) return failure("PMIx_Register_event_handler", code);
  return {};
}

librma::Status PmixServer::register_job(const std::vector<int>& programs) {
  const auto ranks = static_cast<int>(programs.size());
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
  // The usual job is of one program, whose number is 0 where PMIx has none.
  for (uint32_t rank = 0; programs.back() != 0 && rank < count; ++rank) {
    InfoList about;
    about.add_rank(PMIX_RANK, rank);
    about.add(PMIX_APPNUM, static_cast<uint32_t>(programs[rank]));
    infos.add_list(PMIX_PROC_DATA, std::move(about));
  }
  if (const auto code =
          PMIx_server_register_nspace(job_.c_str(), ranks, infos.data(), infos.size(), nullptr, nullptr);
      !succeeded(code)) {
    return failure("PMIx_server_register_nspace", code);
  }
  for (uint32_t rank = 0; rank < count; ++rank) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, job_.c_str(), rank);
    if (const auto code = PMIx_server_register_client(&proc, ::getuid(), ::getgid(), this, nullptr, nullptr);
        !succeeded(code)) {
      return failure("PMIx_server_register_client", code);
    }
  }
  return {};
}

librma::Result<std::vector<std::string>> PmixServer::environment_of(int rank) {
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

}  // namespace rmarun
