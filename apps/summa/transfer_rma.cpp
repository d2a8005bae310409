// Transfers over librma: each user gets the panel from the owner's block, and no other rank takes part.

#include <array>
#include <rma/rma.hpp>
#include <vector>

#include "transfer.hpp"

namespace summa {

const char* communication() { return "librma, one-sided gets"; }

struct Transfer::Implementation {
  std::vector<rma::Request> requests;
};

Transfer::Transfer() : implementation_(std::make_unique<Implementation>()) {}
Transfer::~Transfer() = default;
Transfer::Transfer(Transfer&&) noexcept = default;

void Transfer::start(const Panel& panel, double* to) {
  if (!panel.used_by(rma::rank())) return;
  const rma::GlobalPtr<double> from(panel.block->address(panel.owner) + panel.first, panel.owner);
  if (panel.contiguous()) {
    implementation_->requests.push_back(rma::get_nb({to, panel.elements()}, from));
    return;
  }
  const std::array<std::size_t, 2> counts{panel.width, panel.rows};
  const std::array<std::ptrdiff_t, 1> dst_stride{static_cast<std::ptrdiff_t>(panel.width)};
  const std::array<std::ptrdiff_t, 1> src_stride{static_cast<std::ptrdiff_t>(panel.stride)};
  implementation_->requests.push_back(rma::get_strided_nb(to, dst_stride, from, src_stride, counts));
}

void Transfer::finish() {
  rma::wait_all(implementation_->requests);
  implementation_->requests.clear();
}

}  // namespace summa
