#include "armci/messages.hpp"

#include <fmt/format.h>

#include "armci/outcome.hpp"
#include "rma/rma.h"

namespace librma::armci {
namespace {

/// The contexts of ARMCI begin here; those of MPI end before.
constexpr std::uint32_t kFirstContext = 0x80000000;
/// An incarnation takes four contexts. The number of incarnations wraps around long before they reach
/// contexts of others.
constexpr std::uint32_t kIncarnations = 1U << 24U;

/// ARMCI allows any tag, librma only those from 0 on. Negative tags have a context of their own.
int tag_of(Label label) { return label.tag & INT32_MAX; }

}  // namespace

std::uint32_t Messages::context(Label label) const {
  return kFirstContext + 4 * (incarnation_ % kIncarnations) + 2 * static_cast<std::uint32_t>(label.space) +
         (label.tag < 0 ? 1U : 0U);
}

// Messages that nobody received are lost. Their copies must not go before librma has forgotten the sends, so
// they are received now.
Messages::~Messages() {
  for (Copy& copy : copies_) {
    int done = 0;
    while (copy.request != RMA_REQUEST_NULL && rma_test(&copy.request, &done) == RMA_SUCCESS && done == 0) {
      rma_message_info_t info = {};
      for (std::uint32_t which = 0; which < 4; ++which) {
        int found = 0;
        const std::uint32_t context = kFirstContext + 4 * (incarnation_ % kIncarnations) + which;
        if (rma_iprobe(rma_rank(), RMA_ANY_TAG, context, &found, &info) != RMA_SUCCESS || found == 0)
          continue;
        static_cast<void>(rma_recv(nullptr, 0, rma_rank(), info.tag, context, nullptr));
      }
    }
  }
}

Status Messages::send(Label label, std::span<const std::byte> data, int to) {
  if (to < 0 || to >= rma_size()) {
    return {RMA_ERR_RANK, fmt::format("there is no process {} in a job of {}", to, rma_size())};
  }
  if (to == rma_rank()) return send_self(label, data);
  return outcome(rma_send(data.data(), data.size(), to, tag_of(label), context(label)));
}

Status Messages::send_self(Label label, std::span<const std::byte> data) {
  const std::lock_guard guard(lock_);
  std::erase_if(copies_, [](Copy& copy) {
    int done = 0;
    return rma_test(&copy.request, &done) != RMA_SUCCESS || done != 0;
  });
  Copy& copy = copies_.emplace_back();
  copy.data.assign(data.begin(), data.end());
  return outcome(rma_send_nb(copy.data.data(), copy.data.size(), rma_rank(), tag_of(label), context(label),
                             &copy.request));
}

Status Messages::receive(Label label, std::span<std::byte> room, int from, rma_message_info_t* info) {
  const rma_status_t status = rma_recv(room.data(), room.size(), from, tag_of(label), context(label), info);
  if (status != RMA_ERR_TRUNCATED) return outcome(status);
  return {status,
          fmt::format("the message with tag {} from process {} has {} bytes, and there is room for only {}",
                      label.tag, info->source, info->bytes, room.size())};
}

}  // namespace librma::armci
