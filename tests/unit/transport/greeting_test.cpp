#include "transport/verbs/greeting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace rma::transport {
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

Greeting sample_greeting() {
  Greeting greeting;
  greeting.from = 3;
  greeting.to = 4;
  greeting.call = 5;
  greeting.reply_to = sample_card().address;
  greeting.endpoint.data_queue_pair = 6;
  greeting.endpoint.message_first_packet = 7;
  greeting.endpoint.mtu = 5;
  return greeting;
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

TEST(Greeting, ComesBackAsItWas) {
  Greeting greeting = sample_greeting();
  for (const Greeting::Kind kind : {Greeting::Kind::hello, Greeting::Kind::welcome}) {
    greeting.kind = kind;
    const auto decoded = Greeting::decode(bytes_of(greeting));
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(bytes_of(*decoded), bytes_of(greeting));
  }
}

TEST(Greeting, OfAnotherLengthFormatOrKindIsNone) {
  std::vector<std::byte> bytes = bytes_of(sample_greeting());
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(Greeting::decode(bytes));
  bytes.pop_back();
  while (!bytes.empty()) {
    bytes.pop_back();
    const std::vector<std::byte> cut(bytes.begin(), bytes.end());
    EXPECT_FALSE(Greeting::decode(cut)) << cut.size();
  }
  Greeting greeting = sample_greeting();
  greeting.magic ^= 1;
  EXPECT_FALSE(Greeting::decode(bytes_of(greeting)));
  greeting = sample_greeting();
  greeting.version = Greeting::kVersion + 1;
  EXPECT_FALSE(Greeting::decode(bytes_of(greeting)));
  for (const int kind : {0, 3, 0xffff}) {
    bytes = bytes_of(sample_greeting());
    const auto word = static_cast<std::uint16_t>(kind);
    std::memcpy(bytes.data() + offsetof(Greeting, kind), &word, sizeof word);
    EXPECT_FALSE(Greeting::decode(bytes)) << kind;
  }
}

TEST(Greeting, ItsTokenDependsOnEveryByteBeforeIt) {
  const Secret secret = sample_card().secret;
  const Greeting greeting = sample_greeting();
  const std::uint64_t token = greeting.expected_token(secret);
  const std::vector<std::byte> bytes = bytes_of(greeting);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Greeting other;
    std::vector<std::byte> changed = bytes;
    changed[i] ^= std::byte{0x10};
    std::memcpy(&other, changed.data(), changed.size());
    if (i < offsetof(Greeting, token)) {
      EXPECT_NE(other.expected_token(secret), token) << "byte " << i;
    } else {
      EXPECT_EQ(other.expected_token(secret), token) << "the token itself";
    }
  }
  EXPECT_NE(greeting.expected_token({}), token) << "under another secret";
}

}  // namespace
}  // namespace rma::transport
