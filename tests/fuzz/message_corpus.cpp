#include "message_corpus.hpp"

#include <fstream>
#include <initializer_list>

#include "hostile/message_world.hpp"

namespace librma::fuzz {
namespace {

using hostile::MessageAct;
using hostile::MessageInput;
using hostile::name_of;

constexpr std::uint16_t kLong = 6000;

/// Numbers of the ways in fuzz_messages.cpp.
enum Way : std::uint8_t { copy, read, pipeline, caching_pipeline, rings };

MessageInput::Payload data(std::size_t bytes) { return MessageInput::Payload(bytes, 0x11); }

/// A victim in the middle of everything: receives that wait, kept messages, and a short and a long send.
MessageInput busy() {
  MessageInput input;
  input.receive(0, 4, 0, 300).receive(1, 5, 1, 500).send(false, 1, 0, 100).send(true, 1, 1, kLong);
  for (std::uint8_t tag = 2; tag < 6; ++tag) {
    MessageInput::Payload payload = data(40U * tag);
    payload[0] = static_cast<std::uint8_t>(MessageType::eager);
    payload[1] = tag;
    input.add(MessageAct::message, payload);
  }
  return input;
}

MessageInput fragments() {
  MessageInput input = busy();
  input.message(MessageType::clear,
                ClearHead{.sender = name_of(0), .receiver = 7, .begin = 10, .end = kLong});
  input.receive(0, 1, 0, 1000).announce(RendezvousForm::opaque, 0, 0, 700);
  input.message(MessageType::fragment, FragmentHead{.receiver = name_of(2)}, data(400));
  input.message(MessageType::fragment, FragmentHead{.receiver = name_of(2), .offset = 400}, data(300));
  return input;
}

MessageInput announcements(std::initializer_list<RendezvousForm> forms) {
  MessageInput input;
  for (const RendezvousForm each : forms) {
    const auto form = static_cast<std::uint8_t>(each);
    const bool with_data = each == RendezvousForm::inlined;
    input.receive(0, static_cast<std::uint8_t>(form + 1), 0, 900);
    input.announce(each, form, 100, with_data ? 50 : 800, with_data ? data(50) : MessageInput::Payload());
  }
  input.add(MessageAct::take, {200, 1});
  return input;
}

MessageInput layouts() {
  const Layout::Dimension rows = {.count = 10, .stride = 100};
  // As in src/core/one_sided/layout.cpp.
  struct {
    std::uint32_t listed = 0, entries = 1;
    std::uint64_t start = 0, segment_bytes = 20, from = 0, bytes = 200;
  } const header;
  MessageInput::Payload encoded;
  MessageInput::append(encoded, header);
  MessageInput::append(encoded, rows);
  MessageInput input;
  input.receive(0, 1, 0, 900).announce(RendezvousForm::laid_out, 0, 0, 200, encoded);
  return input;
}

MessageInput written() {
  MessageInput input = busy();
  input.ready(0, 300, 4000).ready(0, 4300, 1000, true);
  input.message(MessageType::finished, FinishedHead{.sender = name_of(0)});
  input.receive(0, 1, 0, kLong).announce(RendezvousForm::piped, 0, 0, kLong, data(100));
  for (std::uint64_t place = 0; place < 3; ++place) {
    input.message(MessageType::written, WrittenHead{.receiver = name_of(2), .offset = 100 + 4096 * place});
  }
  return input;
}

MessageInput rings_of_chance() {
  MessageInput input = busy();
  MessageInput::Payload line = {4};
  MessageInput::append(line, std::uint64_t{1} << 60U | std::uint64_t{20} << 32U | 5U);
  MessageInput::append(line, Envelope{.context = 1, .tag = 3});
  input.add(MessageAct::line, line).add(MessageAct::slots, {0, 1, 2, 3, 4});
  MessageInput::Payload counts;
  for (const std::uint64_t one : {2U, 64U, 700U, 0U}) MessageInput::append(counts, one);
  input.add(MessageAct::feedback, counts).add(MessageAct::place, {64, 0, 0, 0, 0, 0, 0, 0});
  return input.add(MessageAct::cancel, {0});
}

}  // namespace

bool write_message_corpus(const std::string& folder) {
  bool good = true;
  const auto save = [&](const std::string& name, Way way, const MessageInput& input) {
    std::ofstream file(folder + "/" + name, std::ios::binary);
    file.put(static_cast<char>(way));
    file.write(reinterpret_cast<const char*>(input.bytes().data()),
               static_cast<std::streamsize>(input.bytes().size()));
    good = good && file.good();
  };
  save("fragments", copy, fragments());
  save("fragments-by-ring", rings, fragments());
  save("announcements", read,
       announcements(
           {RendezvousForm::inlined, RendezvousForm::keyed, RendezvousForm::piped, RendezvousForm::opaque}));
  save("announcements-by-ring", rings,
       announcements({RendezvousForm::inlined, RendezvousForm::plain, RendezvousForm::opaque}));
  save("layouts-by-ring", rings, layouts());
  save("pieces", pipeline, written());
  save("pieces-kept", caching_pipeline, written());
  save("ring", rings, rings_of_chance());
  MessageInput heads = busy();
  MessageInput::Payload payload;
  MessageInput::append(payload, ChannelHead{.envelope = {.context = 1, .tag = 3}, .type = 1});
  save("heads", copy,
       heads.add(MessageAct::envelope, payload).message(MessageType::released, ReleasedHead{.cost = 356}));
  return good;
}

}  // namespace librma::fuzz
