#include "transport/verbs/handshake.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace librma::transport {
namespace {

using testing::HasSubstr;

template <typename Object>
std::vector<std::byte> bytes_of(const Object& object) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&object);
  return {begin, begin + sizeof object};
}

PortCard sample_card() {
  PortCard card;
  for (std::size_t i = 0; i < card.address.gid.size(); ++i) {
    card.address.gid[i] = static_cast<std::uint8_t>(i + 1);
    card.secret[i] = static_cast<std::byte>(0x40 + i);
  }
  card.address.queue_pair = 0x010203;
  card.address.queue_key = 0x11223344;
  card.address.lid = 0x5566;
  return card;
}

Handshake sample_handshake() {
  Handshake handshake;
  handshake.from = 3;
  handshake.to = 4;
  handshake.call = 5;
  handshake.reply_to = sample_card().address;
  handshake.endpoint.data_queue_pair = 6;
  handshake.endpoint.message_first_packet = 7;
  handshake.endpoint.mtu = 5;
  return handshake;
}

TEST(PortCard, ComesBackAsItWas) {
  const PortCard card = sample_card();
  const auto decoded = PortCard::decode(card.encode());
  ASSERT_TRUE(decoded.ok()) << decoded.status().text();
  EXPECT_EQ(bytes_of(decoded.value()), bytes_of(card));
  EXPECT_LE(card.encode().size(), 64U) << "there is no more room in a process's card";
}

TEST(PortCard, OfAnyOtherLengthIsRefused) {
  std::vector<std::byte> bytes = sample_card().encode();
  bytes.push_back(std::byte{0});
  EXPECT_EQ(PortCard::decode(bytes).status().code(), RMA_ERR_LAUNCH);
  bytes.pop_back();
  while (!bytes.empty()) {
    bytes.pop_back();
    const std::vector<std::byte> cut(bytes.begin(), bytes.end());  // exact, for a sanitizer to see its end
    EXPECT_EQ(PortCard::decode(cut).status().code(), RMA_ERR_LAUNCH) << cut.size();
  }
}

TEST(PortCard, OfAnotherFormatIsRefused) {
  PortCard card = sample_card();
  card.magic ^= 1;
  EXPECT_EQ(PortCard::decode(card.encode()).status().code(), RMA_ERR_LAUNCH);
  card = sample_card();
  card.version = 77;
  const auto refused = PortCard::decode(card.encode());
  EXPECT_EQ(refused.status().code(), RMA_ERR_VERSION);
  EXPECT_THAT(std::string(refused.status().text()), HasSubstr("77"));
}

TEST(Handshake, ComesBackAsItWas) {
  Handshake handshake = sample_handshake();
  for (const Handshake::Kind kind : {Handshake::Kind::hello, Handshake::Kind::welcome}) {
    handshake.kind = kind;
    const auto decoded = Handshake::decode(bytes_of(handshake));
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(bytes_of(*decoded), bytes_of(handshake));
  }
}

TEST(Handshake, OfAnotherLengthFormatOrKindIsNone) {
  std::vector<std::byte> bytes = bytes_of(sample_handshake());
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(Handshake::decode(bytes));
  bytes.pop_back();
  while (!bytes.empty()) {
    bytes.pop_back();
    const std::vector<std::byte> cut(bytes.begin(), bytes.end());
    EXPECT_FALSE(Handshake::decode(cut)) << cut.size();
  }
  Handshake handshake = sample_handshake();
  handshake.magic ^= 1;
  EXPECT_FALSE(Handshake::decode(bytes_of(handshake)));
  handshake = sample_handshake();
  handshake.version = Handshake::kVersion + 1;
  EXPECT_FALSE(Handshake::decode(bytes_of(handshake)));
  for (const int kind : {0, 3, 0xffff}) {
    bytes = bytes_of(sample_handshake());
    const auto word = static_cast<std::uint16_t>(kind);
    std::memcpy(bytes.data() + offsetof(Handshake, kind), &word, sizeof word);
    EXPECT_FALSE(Handshake::decode(bytes)) << kind;
  }
}

TEST(Handshake, ItsTokenDependsOnEveryByteBeforeIt) {
  const Secret secret = sample_card().secret;
  const Handshake handshake = sample_handshake();
  const std::uint64_t token = handshake.expected_token(secret);
  const std::vector<std::byte> bytes = bytes_of(handshake);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Handshake other;
    std::vector<std::byte> changed = bytes;
    changed[i] ^= std::byte{0x10};
    std::memcpy(&other, changed.data(), changed.size());
    if (i < offsetof(Handshake, token)) {
      EXPECT_NE(other.expected_token(secret), token) << "byte " << i;
    } else {
      EXPECT_EQ(other.expected_token(secret), token) << "the token itself";
    }
  }
  EXPECT_NE(handshake.expected_token({}), token) << "under another secret";
}

}  // namespace
}  // namespace librma::transport
