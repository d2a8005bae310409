#pragma once

#include <memory>
#include <span>

#include "helper_thread/layout.hpp"
#include "rma/rma.h"
#include "strided/shape.hpp"

namespace rma {

/// Returns the layout of one side of a (not empty) strided transfer with this base address.
[[nodiscard]] std::shared_ptr<const Layout> layout_of(const void* base, Side side, const StridedShape& shape);
/// Returns the layout of one side of an I/O vector, whose pieces are not all empty. Neighbours that are
/// adjacent on both sides form one segment. So both sides have the same segments.
[[nodiscard]] std::shared_ptr<const Layout> layout_of(std::span<const rma_iov_t> iov, Side side);

}  // namespace rma
