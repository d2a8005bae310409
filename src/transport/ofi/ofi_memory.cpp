#include "transport/ofi/ofi_memory.hpp"

#include <fmt/format.h>

#include "transport/ofi/mapped_memory.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::transport {
namespace {

constexpr std::uint64_t kFabricAccess =
    FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
constexpr std::uintptr_t kEndOfAddresses = std::uintptr_t{1} << 47U;

}  // namespace

Result<OfiRegion> OfiMemory::make(std::byte* address, std::size_t bytes) {
  const auto base = reinterpret_cast<std::uintptr_t>(address);
  const std::uint64_t number = number_.fetch_add(1, std::memory_order_relaxed) + 1;
  const Key wanted = traits_.provider_keys ? 0 : traits_.offsets ? offset_key(base, number) : number;
  fid_mr* made = nullptr;
  long error = 0;
  change_table(
      [&] { error = fi_mr_reg(domain_, address, bytes, kFabricAccess, 0, wanted, 0, &made, nullptr); });
  OfiRegion region(made);
  if (error == 0 && traits_.bound_regions) {
    error = fi_mr_bind(made, &endpoint_->fid, 0);
    if (error == 0) error = fi_mr_enable(made);
  }
  if (error == 0) return region;
  return fabric_failure(error == -FI_EFAULT ? RMA_ERR_ADDRESS : RMA_ERR_NO_MEMORY,
                        fmt::format("registering {} bytes with {}", bytes, name_), error);
}

Result<Registration> OfiMemory::add(std::byte* address, std::size_t bytes) {
  const auto base = reinterpret_cast<std::uintptr_t>(address);
  if (base >= kEndOfAddresses) return Status(RMA_ERR_NO_MEMORY, "an address above 2^47");
  RMA_TRY(check_mapped(address, bytes));
  // First, because a region that found no place here would end without change_table().
  std::map<Key, OfiRegion> place;
  place.emplace(0, nullptr);
  auto node = place.extract(place.begin());
  RMA_TRY_ASSIGN(region, make(address, bytes));
  if (fi_mr_key(region.get()) == 0) {
    // 0 stands for "no key". The provider gives another one while this registration holds 0.
    RMA_TRY_ASSIGN(again, make(address, bytes));
    change_table([&] { region = std::move(again); });
  }
  const Registration registration = {.base = base,
                                     .bytes = bytes,
                                     .local = reinterpret_cast<std::uintptr_t>(region.get()),
                                     .remote = fi_mr_key(region.get())};
  const std::lock_guard guard(lock_);
  node.key() = registration.local;
  node.mapped() = std::move(region);
  regions_.insert(std::move(node));
  return registration;
}

void OfiMemory::remove(const Registration& registration) {
  OfiRegion region;
  {
    const std::lock_guard guard(lock_);
    const auto found = regions_.find(registration.local);
    if (found == regions_.end()) return;
    region = std::move(found->second);
    regions_.erase(found);
  }
  change_table([&] { region.reset(); });
}

}  // namespace librma::transport
