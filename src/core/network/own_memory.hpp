#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "fabric/registrar.hpp"

namespace rma {

/// Returns the registration of this process's heap that an address lies in.
using OwnMemory = std::function<std::optional<Registered>(const std::byte* address)>;

}  // namespace rma
