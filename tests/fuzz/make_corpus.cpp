// Writes the inputs with which the fuzzers start: valid requests of each kind, and answers; and two-sided
// messages.
//
// usage: fuzz-corpus DIRECTORY DIRECTORY-FOR-MESSAGES

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "atomics/remote_mutexes.hpp"
#include "channel/link.hpp"
#include "core/one_sided/layout.hpp"
#include "message_corpus.hpp"
#include "records.hpp"
#include "rma/rma.h"
#include "strided/host_assisted.hpp"

namespace librma::fuzz {
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

/// As in src/atomics/remote_mutexes.cpp, of the attacker.
Payload mutex(std::uintptr_t address, std::uint64_t rank, std::uint64_t id) {
  Payload payload;
  Writer::append(payload, std::uint64_t{address});
  Writer::append(payload, std::uint64_t{(rank + 1) << 32U});
  Writer::append(payload, id);
  return payload;
}

/// As in src/strided/host_assisted_peer.hpp.
struct Header {
  std::uint64_t stream = 1;
  std::uint32_t yours = 0;
  std::uint32_t granted = 0;
  std::int32_t status = 0;
  std::uint32_t segments = 0;
  std::uint64_t bytes = 0;
};
Payload message(std::uint16_t kind, const Header& header, const Payload& layout = {}) {
  Payload payload;
  Writer::append(payload, kind);
  Writer::append(payload, header);
  return payload + layout;
}
Payload count(std::uint16_t bytes) {
  Payload payload;
  return Writer::append(payload, bytes);
}

/// Locks of a free mutex and of a held one, and the following messages, in the right and in a wrong order.
Writer mutexes() {
  Writer writer;
  constexpr std::uintptr_t kNext = kMutexes + 64;
  for (const std::uint64_t id : {1U, 2U, 3U}) writer.request(RequestKind::lock, mutex(kMutexes, 1, id), 8);
  for (int i = 0; i < 4; ++i) writer.request(RequestKind::unlock, mutex(kMutexes, 1, 0), 0);
  writer.request(RequestKind::lock, mutex(kNext, 1, 4), 8);
  writer.request(RequestKind::poke, mutex(kNext, 1, 0), 0);
  writer.request(RequestKind::lock, mutex(kNext, 2, 4), 8);         // for another rank
  writer.request(RequestKind::lock, mutex(kNext, 1, 4), 4);         // no room for the answer
  writer.request(RequestKind::lock, mutex(kMutexes + 8, 1, 4), 8);  // in the middle of one
  writer.request(RequestKind::unlock, mutex(kMutexes + kMutexCount * 64, 1, 0), 0);
  writer.request(RequestKind::poke, mutex(kArena, 1, 0), 0);
  writer.request(RequestKind::holder, mutex(kNext, 1, 0), 16);
  writer.request(RequestKind::lock, mutex(kNext, 1, 5), 8);
  for (const std::uint64_t ticket : {std::uint64_t{1}, std::uint64_t{0}}) {  // the last is the holder's
    Payload leave = mutex(kNext, 1, 0);
    Writer::append(leave, std::uint64_t{2} << 32U);
    Writer::append(leave, ticket << 32U);
    writer.request(RequestKind::leave, leave, 8);
  }
  Payload locked = count(RemoteMutexes::kLockedMessage);
  writer.record(Act::message, Writer::append(locked, std::uint64_t{1}));
  return writer;
}

/// The attacker puts: its request for scatters, and the gathers for them.
Writer scatters(const Layout& layout, const Header& header) {
  Writer writer;
  writer.record(Act::message, message(HostAssisted::kScatterMessage, header, encoded(layout)));
  for (int i = 0; i < 3; ++i) writer.record(Act::gather, count(static_cast<std::uint16_t>(layout.bytes())));
  return writer;
}
/// The attacker gets: it posts scatters, and grants those and more.
Writer gathers(const Layout& layout, const Header& header) {
  Writer writer;
  for (int i = 0; i < 3; ++i) writer.record(Act::scatter, count(64));
  writer.record(Act::message, message(HostAssisted::kGatherMessage, header, encoded(layout)));
  writer.record(Act::message, message(HostAssisted::kGrantMessage, {.granted = 2}));
  return writer;
}
/// The victim puts and gets, and is granted, refused, and granted once more.
Writer answered_moves(std::uint32_t granted) {
  Writer writer;
  for (std::uint64_t stream = 1; stream <= 3; ++stream) {
    writer.record(Act::move, {static_cast<std::uint8_t>(stream % 2)});
    writer.record(Act::scatter, count(4096));
    writer.record(Act::message,
                  message(HostAssisted::kGrantMessage, {.stream = stream, .yours = 1, .granted = granted}));
    writer.record(Act::gather, count(256));
    writer.record(Act::message, message(HostAssisted::kRefuseMessage,
                                        {.stream = stream, .yours = 1, .status = RMA_ERR_ADDRESS}));
    writer.record(Act::message,
                  message(HostAssisted::kGrantMessage, {.stream = stream, .yours = 1, .granted = 1}));
  }
  return writer;
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
    save(std::string("scatter-") + name, scatters(layout, {.segments = 4, .bytes = 4096}));
    save(std::string("gather-") + name, gathers(layout, {.granted = 1, .segments = 4, .bytes = 32}));
  }
  save("mutexes", mutexes());
  const Layout outside = Layout::contiguous(kArena + kRegisteredBytes - 8, 64);
  save("scatter-outside", scatters(outside, {.segments = 2, .bytes = 4096}));
  save("gather-outside", gathers(outside, {.granted = 2, .segments = 2, .bytes = 16}));
  save("scatter-no-segments", scatters(Layout::contiguous(kArena, 64), {.bytes = 4096}));
  save("scatter-no-bytes", scatters(Layout::contiguous(kArena, 64), {.segments = 2}));
  save("gather-all", gathers(Layout::contiguous(kArena, 64), {.granted = 65536, .segments = 2, .bytes = 1}));
  save("granted", answered_moves(1));
  save("granted-too-often", answered_moves(100));
  save("granted-for-ever", answered_moves(0xffffffff));
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
  // The attacker's requests have numbers that it never used, so it gives the victim up because of the
  // answers. The victim still has a request to it.
  Writer given_up;
  for (int i = 0; i < 12; ++i) given_up.request(RequestKind::get, encoded(Layout::contiguous(kArena, 8)), 8);
  given_up.record(Act::ask, {8, 0});
  given_up.record(Act::move, {1});
  save("given-up", given_up);
  Writer kinds;
  for (std::uint8_t kind = 0; kind < 9; ++kind) kinds.record(Act::message, {kind, 0, 1, 2, 3, 4});
  save("kinds", kinds);
  return good;
}

}  // namespace
}  // namespace librma::fuzz

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: fuzz-corpus DIRECTORY DIRECTORY-FOR-MESSAGES\n");
    return 2;
  }
  return librma::fuzz::write_all(argv[1]) && librma::fuzz::write_message_corpus(argv[2]) ? 0 : 1;
}
