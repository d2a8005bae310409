#pragma once

#include <cstdint>
#include <string>

#include "twosided_compat/communicators/communicator.hpp"

namespace librma::mpi {

/// Agrees on the context of a communicator that a group makes without a parent. All members call it with the
/// same text. Calls of several threads, whose texts differ, do not disturb each other.
///
/// The first member draws the context and invites the others. An invitation has the text and the members,
/// because invitations to different communicators arrive in one context; those that a thread finds and that
/// are for another thread wait in a list.
[[nodiscard]] int agree_by_invitation(const Members& members, const std::string& text,
                                      std::uint32_t& context);

}  // namespace librma::mpi
