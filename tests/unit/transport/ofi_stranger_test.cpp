// Messages that a process outside the job sends to a rank's endpoint. Any process that reaches the port can.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "ofi_pair.hpp"
#include "transport/ofi/fabric_choice.hpp"
#include "transport/ofi/libfabric.hpp"
#include "transport/ofi/ofi_operations.hpp"
#include "transport/ofi/ofi_wire.hpp"

namespace librma::transport {
namespace {

/// An endpoint of libfabric that belongs to no rank.
class Stranger {
 public:
  /// Knows the address of one process.
  void open(const OfiAddress& address) {
    auto found = find_fabrics({.providers = "tcp,net", .devices = "lo"});
    ASSERT_TRUE(found.ok());
    fi_info* info = nullptr;
    for (const FabricCandidate& one : found.value()) {
      if (info == nullptr && one.unusable.empty()) info = one.info.get();
    }
    ASSERT_NE(info, nullptr);
    const auto library = Libfabric::get();
    ASSERT_TRUE(library.ok());
    fid_fabric* fabric = nullptr;
    ASSERT_EQ(library.value()->open_fabric(info->fabric_attr, &fabric, nullptr), 0);
    fabric_.reset(fabric);
    fid_domain* domain = nullptr;
    ASSERT_EQ(fi_domain(fabric, info, &domain, nullptr), 0);
    domain_.reset(domain);
    fi_av_attr vector = {};
    fid_av* addresses = nullptr;
    ASSERT_EQ(fi_av_open(domain, &vector, &addresses, nullptr), 0);
    addresses_.reset(addresses);
    fi_cq_attr wanted = {};
    wanted.format = FI_CQ_FORMAT_MSG;
    fid_cq* queue = nullptr;
    ASSERT_EQ(fi_cq_open(domain, &wanted, &queue, nullptr), 0);
    queue_.reset(queue);
    fid_ep* endpoint = nullptr;
    ASSERT_EQ(fi_endpoint(domain, info, &endpoint, nullptr), 0);
    endpoint_.reset(endpoint);
    ASSERT_EQ(fi_ep_bind(endpoint, &addresses->fid, 0), 0);
    ASSERT_EQ(fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV), 0);
    ASSERT_EQ(fi_enable(endpoint), 0);
    ASSERT_EQ(fi_av_insert(addresses, address.name.data(), 1, &to_, 0, nullptr), 1);
  }

  /// Returns once the process has the message in one of its buffers.
  void send(std::span<const std::byte> bytes) {
    const iovec piece = {.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
    fi_context2 context = {};
    fi_msg message = {};
    message.msg_iov = &piece;
    message.iov_count = 1;
    message.addr = to_;
    message.context = &context;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    long sent = -FI_EAGAIN;
    long ended = 0;
    while (ended == 0 && std::chrono::steady_clock::now() < deadline) {
      if (sent == -FI_EAGAIN)
        sent = fi_sendmsg(endpoint_.get(), &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
      fi_cq_msg_entry entry = {};
      const long read = fi_cq_read(queue_.get(), &entry, 1);
      ended = read == -FI_EAGAIN ? 0 : read;
      std::this_thread::yield();
    }
    EXPECT_EQ(sent, 0);
    EXPECT_EQ(ended, 1);
  }

 private:
  Fabric fabric_;
  Domain domain_;
  AddressVector addresses_;
  OfiCompletionQueue queue_;
  OfiEndpoint endpoint_;
  fi_addr_t to_ = FI_ADDR_UNSPEC;
};

TEST_F(OfiPair, AMessageWithoutTheMarkOfARankIsDropped) {
  ASSERT_TRUE(connect().ok());
  auto card = OfiCard::decode(ends[1]->transport->card());
  ASSERT_TRUE(card.ok());
  Stranger stranger;
  ASSERT_NO_FATAL_FAILURE(stranger.open(card->address));
  // Rank 0 is connected, rank 1 is the process itself, and the job has no rank 2. A ticket is not 0.
  for (const std::uint64_t mark : {mark_of(0, 0), mark_of(0, 1), mark_of(0, 2), ~std::uint64_t{0}}) {
    std::array<std::byte, 24> message = {};
    std::memcpy(&message[16], &mark, sizeof mark);
    stranger.send(message);
    stranger.send({&message[16], sizeof mark});
  }
  stranger.send(std::vector<std::byte>(7));  // too short for a mark
  stranger.send({});

  const Local text = ends[0]->local(0, 40);
  ASSERT_EQ(ends[0]->messages().post_message(1, {&text, 1}, 0, {.inline_data = true, .unsignaled = true}),
            RMA_SUCCESS);
  std::array<Completion, 2> got;
  std::size_t count = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (count == 0 && std::chrono::steady_clock::now() < deadline) count = ends[1]->messages().poll(got);
  ASSERT_EQ(count, 1U) << "nothing of the stranger arrives, and its messages keep no buffer";
  EXPECT_EQ(got[0].peer, 0);
  EXPECT_EQ(got[0].bytes, 40U);
  EXPECT_EQ(std::memcmp(ends[1]->buffers.data() + 256 * (got[0].cookie - 100), text.address, 40), 0);
}

}  // namespace
}  // namespace librma::transport
