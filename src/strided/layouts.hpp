#pragma once

#include <memory>
#include <span>

#include "helper_thread/layout.hpp"
#include "rma/rma.h"
#include "strided/shape.hpp"
#include "strided/side.hpp"

namespace rma {

/// One side of a (not empty) strided transfer, from its base address.
[[nodiscard]] std::shared_ptr<const Layout> layout_of(const void* base, Side side, const Shape& shape);
/// One side of the pieces of an I/O vector, not all of them empty; neighbours that touch on both sides are
/// one segment, on either side alike.
[[nodiscard]] std::shared_ptr<const Layout> layout_of(std::span<const rma_iov_t> iov, Side side);

}  // namespace rma
