// Writes the inputs that the fuzzer starts from: valid requests of each kind, and answers.
//
// usage: fuzz-corpus DIRECTORY

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "channel/link.hpp"
#include "helper_thread/layout.hpp"
#include "records.hpp"
#include "rma/rma.h"

namespace rma::fuzz {
namespace {

using Payload = Writer::Payload;

Payload encoded(const Layout& layout) {
  std::vector<std::byte> wire(layout.encoded_bytes(0, layout.bytes()));
  layout.encode(0, layout.bytes(), wire);
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(wire.data());
  return {bytes, bytes + wire.size()};
}

Payload operator+(Payload front, const Payload& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

/// As in src/atomics/remote_atomics.cpp.
Payload atomic(std::uint32_t op, std::uint32_t width) {
  Payload payload;
  Writer::append(payload, op);
  Writer::append(payload, width);
  Writer::append(payload, std::uint64_t{kArena + 64});
  Writer::append(payload, std::uint64_t{3});
  Writer::append(payload, std::uint64_t{0});
  return payload;
}
Payload accumulate_prefix(std::uint32_t type, bool scaled) {
  Payload payload;
  Writer::append(payload, type);
  Writer::append(payload, std::uint32_t{scaled ? 1U : 0U});
  Writer::append(payload, std::array<std::uint8_t, 16>{});
  return payload;
}

bool write(const std::string& path, const Writer& writer) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(writer.bytes().data()),
             static_cast<std::streamsize>(writer.bytes().size()));
  return file.good();
}

bool write_all(const std::string& directory) {
  const std::array<Layout::Dimension, 2> dimensions = {
      {{.count = 3, .stride = 32}, {.count = 2, .stride = -1024}}};
  const std::array<std::pair<const char*, Layout>, 3> layouts = {
      {{"contiguous", Layout::contiguous(kArena + 8, 48)},
       {"strided", Layout::strided(kArena + 4096, 16, dimensions)},
       {"list", Layout::list({{.address = kArena, .bytes = 16}, {.address = kArena + 100, .bytes = 24}})}}};
  bool good = true;
  const auto save = [&](const std::string& name, const Writer& writer) {
    good = write(directory + "/" + name, writer) && good;
  };
  for (const auto& [name, layout] : layouts) {
    Writer decode;
    decode.record(Act::layout, encoded(layout));
    save(std::string("layout-") + name, decode);
    Writer put;
    put.request(RequestKind::put, encoded(layout) + Payload(layout.bytes(), 7), 0);
    save(std::string("put-") + name, put);
    Writer get;
    get.request(RequestKind::get, encoded(layout), static_cast<std::uint32_t>(layout.bytes()));
    get.request(RequestKind::get, encoded(layout), 4000);
    save(std::string("get-") + name, get);
  }
  Writer accumulate;
  for (std::uint32_t type = 0; type < 8; ++type) {
    accumulate.request(RequestKind::accumulate,
                       accumulate_prefix(type, type % 2 == 0) +
                           encoded(Layout::contiguous(kArena + 256, 32)) + Payload(32, 1),
                       0);
  }
  save("accumulate", accumulate);
  Writer atomics;
  for (std::uint32_t op = 0; op < 8; ++op) {
    atomics.request(RequestKind::atomic, atomic(op, 4), 8);
    atomics.request(RequestKind::atomic, atomic(op, 8), 8);
  }
  save("atomic", atomics);
  Writer far;
  far.request(RequestKind::put, Payload(3000), 0, true);
  far.request(RequestKind::get, Payload(88), 4096, true);
  far.request(RequestKind::put, Payload(5000), 0, true);
  save("far-bodies", far);
  Writer answers;
  answers.record(Act::ask, {8, 0});
  answers.record(Act::ask, {0, 16});
  Payload answer;
  Writer::append(answer, ReplyHeader{.token = std::uint64_t{1} << 32U, .bytes = 8});
  answer.resize(answer.size() + 8);
  answers.record(Act::reply, answer);
  Payload written;
  Writer::append(written, ReplyHeader{.token = std::uint64_t{1} << 32U | 1U, .bytes = 4096, .written = 1});
  answers.record(Act::reply, written);
  save("answers", answers);
  Writer raw;
  for (const std::uint32_t ahead : {1U, 0U, 2U}) {
    Payload message;
    Writer::append(message, MessageHeader{.sequence = Link::kFirstSequence + ahead, .credits = 1});
    raw.record(Act::raw, message);
  }
  save("raw", raw);
  Writer kinds;
  for (std::uint8_t kind = 0; kind < 9; ++kind) kinds.record(Act::message, {kind, 0, 1, 2, 3, 4});
  save("kinds", kinds);
  return good;
}

}  // namespace
}  // namespace rma::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz-corpus DIRECTORY\n");
    return 2;
  }
  return rma::fuzz::write_all(argv[1]) ? 0 : 1;
}
