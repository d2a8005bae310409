/**
 * @file client_suite.hpp
 * The rows of a client. If this ARMCI shows the targets' memory, the bare pass stands beside each.
 */
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "armci/bare_client.hpp"
#include "armci/client.hpp"
#include "armci/member.hpp"

namespace rma::bench {

inline void client_suite(ArmciMeasure& measure) {
  ArmciMember& member = measure.backend();
  const std::string ranks = " " + ranks_text(member.size());
  const auto row = [&](const char* what, const ClientCounts& counts) {
    RowName name{"client", std::string("armci small strided ") + what + " of a client" + ranks, "", 0};
    Client client(member, counts);
    std::fill_n(member.local() + Arena::kData, kMatrixWords * sizeof(double), '\0');
    member.sync();
    const bool right = member.rank() != 0 || client.is_right();
    if (!measure.agree(name, right)) return;
    const auto pass = [&](std::size_t) { client(); };
    BareClient bare(member, counts);
    if (measure.all(bare.possible())) {
      measure_acting_beside(
          measure, name, pass, [&](std::size_t) { bare(); }, client.size());
    } else {
      measure_acting(measure, std::move(name), pass, client.size());
    }
  };
  row("puts", {128, 0, 0, 0});
  row("accumulates", {0, 128, 0, 0});
  row("mix", {257, 285, 37, 1});
}

}  // namespace rma::bench
