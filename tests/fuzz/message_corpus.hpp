#pragma once

#include <string>

namespace librma::fuzz {

/// Writes the inputs with which fuzz-messages starts: messages as honest processes send them. Returns whether
/// that was possible.
[[nodiscard]] bool write_message_corpus(const std::string& folder);

}  // namespace librma::fuzz
