#include "transport/ofi/fabric_choice.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "transport/ofi/kernel_symbols_guard.hpp"
#include "transport/ofi/signal_guard.hpp"
#include "util/try_assign.hpp"

namespace librma::transport {
namespace {

constexpr std::uint32_t kInterface = FI_VERSION(1, 15);
constexpr std::uint64_t kOrder = FI_ORDER_SAS | FI_ORDER_WAW | FI_ORDER_RAW | FI_ORDER_SAW | FI_ORDER_WAS;
/// Most bytes of one write or read: so that a message behind it does not wait for long.
constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 20U;
constexpr std::size_t kMostPieces = 16;
constexpr std::size_t kKeyBytes = sizeof(std::uint64_t);

/// Splits a list with commas, and blanks around its words.
std::vector<std::string> words_of(std::string_view list) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), part.size() + 1));
    const std::size_t begin = part.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) continue;
    words.emplace_back(part.substr(begin, part.find_last_not_of(kBlanks) + 1 - begin));
  }
  return words;
}

/// Returns the interface of the route to everywhere, or an empty text.
std::string default_interface() {
  std::ifstream routes("/proc/net/route");
  std::string line;
  while (std::getline(routes, line)) {
    const std::size_t tab = line.find('\t');
    if (tab != std::string::npos && line.compare(tab + 1, 8, "00000000") == 0) return line.substr(0, tab);
  }
  return {};
}

/// Without this a TCP provider reads the next bytes of a connection into a buffer of its own and copies them,
/// and ends the process if a peer writes to memory that the program has unmapped.
void refuse_prefetching() {
  for (const char* const name : {"FI_NET_PREFETCH_RBUF_SIZE", "FI_TCP_PREFETCH_RBUF_SIZE"}) {
    static_cast<void>(setenv(name, "0", 0));  // NOLINT(concurrency-mt-unsafe): before the job has threads
  }
}

/// Lets libfabric look for providers that are files of their own only in its own folder, and not for each of
/// 22 names in all folders of the dynamic linker: a rank's start would pay a tenth of its processor time for
/// that. (libfabric itself does so if it was configured with --enable-restricted-dl.) A path of the user
/// stays. Other libraries and children of this process do not see this one.
class ProviderPathGuard {
 public:
  // NOLINTBEGIN(concurrency-mt-unsafe): before the job has threads
  ProviderPathGuard() : set_(std::getenv(kName) == nullptr && ::setenv(kName, kOwnFolder, 0) == 0) {}
  ~ProviderPathGuard() {
    if (set_) ::unsetenv(kName);
  }
  // NOLINTEND(concurrency-mt-unsafe)
  ProviderPathGuard(const ProviderPathGuard&) = delete;
  ProviderPathGuard& operator=(const ProviderPathGuard&) = delete;

 private:
  static constexpr const char* kName = "FI_PROVIDER_PATH";
  static constexpr const char* kOwnFolder = "@";
  const bool set_;
};

FabricInfo hints_for(const Libfabric& library, const std::string& provider, std::uint64_t order) {
  FabricInfo hints(library.duplicate_info(nullptr));
  if (hints == nullptr) return nullptr;
  hints->caps = FI_MSG | FI_TAGGED | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->tx_attr->msg_order = order;
  hints->rx_attr->msg_order = order;
  hints->fabric_attr->prov_name = strdup(provider.c_str());  // freed with the hints
  return hints;
}

/// Returns how good an address is; less is better. An IPv4 address is best; others of the same interface lead
/// to the same device.
int rank_of_format(const fi_info& info) {
  return info.addr_format == FI_SOCKADDR_IN ? 0 : info.addr_format == FI_SOCKADDR_IN6 ? 2 : 1;
}

bool link_local(std::string_view fabric) { return fabric.substr(0, 4) == "fe80"; }

/// Returns whether an interface of this process's network namespace is up. The list names interfaces that are
/// down, too, and libfabric offers these.
bool is_up(std::string_view device) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return true;  // then a failure to connect says more
  bool up = false;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next)
    up = up || (entry->ifa_name == device && (entry->ifa_flags & static_cast<unsigned>(IFF_UP)) != 0);
  ::freeifaddrs(list);
  return up;
}

bool by_sockets(std::string_view provider) { return provider.find("tcp") == 0 || provider.find("net") == 0; }

void add_candidates(const Libfabric& library, const std::string& provider,
                    std::vector<FabricCandidate>& candidates) {
  fi_info* found = nullptr;
  for (const std::uint64_t order : {kOrder, std::uint64_t{0}}) {
    const FabricInfo hints = hints_for(library, provider, order);
    if (hints == nullptr) return;
    if (library.get_info(kInterface, nullptr, nullptr, 0, hints.get(), &found) == 0) break;
    found = nullptr;
  }
  const FabricInfo all(found);
  const std::size_t first = candidates.size();
  for (const fi_info* info = found; info != nullptr; info = info->next) {
    // 1.17 answers a question for "tcp" with "tcp;ofi_rxm".
    if (provider != info->fabric_attr->prov_name) continue;
    const std::string device = info->domain_attr->name;
    const auto same = std::find_if(
        candidates.begin() + static_cast<std::ptrdiff_t>(first), candidates.end(),
        [&](const FabricCandidate& fabric_candidate) { return fabric_candidate.device == device; });
    if (link_local(info->fabric_attr->name)) continue;
    if (same != candidates.end() && rank_of_format(*same->info) <= rank_of_format(*info)) continue;
    FabricCandidate candidate = {.provider = provider,
                                 .device = device,
                                 .fabric = info->fabric_attr->name,
                                 .info = FabricInfo(library.duplicate_info(info)),
                                 .traits = {},
                                 .unusable = {}};
    auto traits = FabricTraits::of(*info);
    if (traits.ok()) {
      candidate.traits = traits.value();
      if (by_sockets(provider) && !is_up(device)) candidate.unusable = "it is down";
    } else {
      candidate.unusable = std::string(traits.status().text());
    }
    if (same != candidates.end()) {
      *same = std::move(candidate);
    } else {
      candidates.push_back(std::move(candidate));
    }
  }
}

}  // namespace

void InfoFreer::operator()(fi_info* info) const {
  const auto library = Libfabric::get();
  if (library.ok()) library.value()->free_info(info);
}

Result<FabricTraits> FabricTraits::of(const fi_info& info) {
  const auto refuse = [](std::string text) { return Status(RMA_ERR_UNSUPPORTED, std::move(text)); };
  const auto mode = static_cast<unsigned>(info.domain_attr->mr_mode);
  FabricTraits traits;
  traits.offsets = (mode & static_cast<unsigned>(FI_MR_VIRT_ADDR)) == 0;
  traits.provider_keys = (mode & static_cast<unsigned>(FI_MR_PROV_KEY)) != 0;
  traits.local_keys = (mode & static_cast<unsigned>(FI_MR_LOCAL)) != 0;
  traits.bound_regions = (mode & static_cast<unsigned>(FI_MR_ENDPOINT)) != 0;
  if ((mode & static_cast<unsigned>(FI_MR_RAW)) != 0)
    return refuse("its keys are longer than 8 bytes (FI_MR_RAW)");
  if (traits.offsets && (traits.provider_keys || info.domain_attr->mr_key_size < kKeyBytes)) {
    return refuse(
        fmt::format("it names memory by offsets, with keys of {} bytes that {} chooses: librma needs "
                    "keys of 8 bytes of its own for that",
                    info.domain_attr->mr_key_size, traits.provider_keys ? "it" : "librma"));
  }
  if (info.domain_attr->mr_key_size > kKeyBytes) return refuse("its keys are longer than 8 bytes");
  if ((info.mode & ~(FI_CONTEXT | FI_CONTEXT2)) != 0) {
    return refuse(fmt::format("it demands the mode bits {:#x}", info.mode));
  }
  traits.ordered = (info.tx_attr->msg_order & kOrder) == kOrder;
  traits.inline_bytes = info.tx_attr->inject_size;
  traits.gather = std::min({info.tx_attr->iov_limit, info.rx_attr->iov_limit, kMostPieces});
  if (traits.gather < 2) return refuse("its messages have one piece of memory, and 2 are needed (iov_limit)");
  traits.max_message = std::min<std::uint64_t>(info.ep_attr->max_msg_size, kMostBytes);
  return traits;
}

void choose_fabrics(std::vector<FabricCandidate>& candidates, std::string_view devices,
                    std::string_view default_interface) {
  const std::vector<std::string> wanted = words_of(devices);
  const auto merit = [&](const FabricCandidate& candidate) {
    return candidate.device == default_interface ? 0 : candidate.device == "lo" ? 2 : 1;
  };
  const auto place = [&](const FabricCandidate& candidate) {
    return std::find(wanted.begin(), wanted.end(), candidate.device) - wanted.begin();
  };
  // Candidates of one provider stay together.
  for (auto first = candidates.begin(); first != candidates.end();) {
    const auto last = std::find_if(first, candidates.end(), [&](const FabricCandidate& candidate) {
      return candidate.provider != first->provider;
    });
    std::stable_sort(first, last, [&](const FabricCandidate& a, const FabricCandidate& b) {
      return wanted.empty() ? merit(a) < merit(b) : place(a) < place(b);
    });
    first = last;
  }
  const FabricCandidate* used = nullptr;
  for (FabricCandidate& candidate : candidates) {
    if (!candidate.unusable.empty()) continue;
    const bool named = std::find(wanted.begin(), wanted.end(), candidate.device) != wanted.end();
    if (!wanted.empty() && !named) {
      candidate.unusable = "RMA_DEVICES does not name it";
    } else if (used != nullptr && used->provider != candidate.provider) {
      candidate.unusable = fmt::format("provider {} comes first (RMA_OFI_PROVIDER)", used->provider);
    } else if (used != nullptr && wanted.empty() && by_sockets(candidate.provider)) {
      candidate.unusable = fmt::format("{} is used; name both in RMA_DEVICES to use both", used->device);
    } else if (used == nullptr) {
      used = &candidate;
    }
  }
}

Result<std::vector<FabricCandidate>> find_fabrics(const FabricChoice& choice) {
  refuse_prefetching();
  const SignalGuard guard;  // the first question loads more libraries
  const ProviderPathGuard path;
  RMA_TRY_ASSIGN(library, Libfabric::get());
  const KernelSymbolsGuard symbols(library->handle);  // and reads files
  std::vector<FabricCandidate> candidates;
  for (const std::string& provider : words_of(choice.providers)) {
    add_candidates(*library, provider, candidates);
  }
  choose_fabrics(candidates, choice.devices, default_interface());
  return candidates;
}

}  // namespace librma::transport
