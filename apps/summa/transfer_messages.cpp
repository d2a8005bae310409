// Transfers over librma's two-sided messages: the owner sends the panel to each of the other users.

#include <array>
#include <cstdint>
#include <rma/rma.hpp>
#include <vector>

#include "transfer.hpp"

namespace summa {

namespace {

// The library's collectives have other contexts. The order of the panels tells them apart, so one tag is
// enough.
constexpr std::uint32_t kContext = 0;
constexpr int kTag = 0;

}  // namespace

const char* communication() { return "librma, sends and receives"; }

struct Transfer::Implementation {
  std::vector<rma::Request> requests;

  void receive(const Panel& panel, double* to) {
    requests.push_back(
        rma::recv_nb(std::span(to, panel.elements()), panel.owner, {.tag = kTag, .context = kContext}));
  }
  void send(const Panel& panel, int user) {
    const double* const from = panel.block->local().data() + panel.first;
    if (panel.contiguous()) {
      requests.push_back(
          rma::send_nb(std::span(from, panel.elements()), user, {.tag = kTag, .context = kContext}));
      return;
    }
    const std::array<std::size_t, 2> counts{panel.width * sizeof(double), panel.rows};
    const std::array<std::ptrdiff_t, 1> stride{static_cast<std::ptrdiff_t>(panel.stride * sizeof(double))};
    rma_request_t request = RMA_REQUEST_NULL;
    rma::check(rma_send_strided_nb(from, stride.data(), counts.data(), 1, user, kTag, kContext, &request));
    requests.emplace_back(request);
  }
};

Transfer::Transfer() : implementation_(std::make_unique<Implementation>()) {}
Transfer::~Transfer() = default;
Transfer::Transfer(Transfer&&) noexcept = default;

void Transfer::start(const Panel& panel, double* to) {
  const int me = rma::rank();
  if (panel.owner != me) {
    if (panel.used_by(me)) implementation_->receive(panel, to);
    return;
  }
  for (const int user : panel.users) {
    if (user != me) implementation_->send(panel, user);
  }
  if (panel.used_by(me)) copy_own(panel, to);
}

void Transfer::finish() {
  rma::wait_all(implementation_->requests);
  implementation_->requests.clear();
}

}  // namespace summa
