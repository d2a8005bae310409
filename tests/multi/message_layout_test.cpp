// Two-sided messages from and into noncontiguous memory, against a model that moves the bytes one by one; and
// persistent sends and receives.

#include <array>

#include "messages.hpp"

namespace multi {
namespace {

constexpr std::uint32_t kLayoutContext = 21;

/// A layout within a block of memory: as the calls take it, and as the offsets of its bytes in order.
struct DrawnLayout {
  std::size_t extent = 0;  ///< bytes of the block
  std::size_t start = 0;   ///< where the strided layout begins in the block
  std::vector<std::ptrdiff_t> strides;
  std::vector<std::size_t> counts;
  std::vector<std::pair<std::size_t, std::size_t>> segments;  ///< offset, bytes; used if `counts` is empty
  std::vector<std::size_t> offsets;

  [[nodiscard]] int levels() const { return static_cast<int>(strides.size()); }
  [[nodiscard]] std::vector<iovec> list(std::byte* block) const {
    std::vector<iovec> all;
    all.reserve(segments.size());
    for (const auto& [offset, bytes] : segments)
      all.push_back({.iov_base = block + offset, .iov_len = bytes});
    return all;
  }
};

void append_run(DrawnLayout& layout, std::size_t from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) layout.offsets.push_back(from + i);
}

/// Draws a strided layout of about `bytes` bytes whose bytes do not overlap. Some dimensions run backwards.
DrawnLayout draw_strided(Random& random, std::size_t bytes) {
  DrawnLayout layout;
  const std::size_t unit = random.pick(std::initializer_list<std::size_t>{1, 3, 8, 64, 4096, 10000});
  const std::size_t segment = std::max<std::size_t>(1, std::min(unit, bytes));
  layout.counts.push_back(segment);
  std::vector<std::size_t> starts = {0};
  std::size_t left = bytes / segment;
  std::size_t distance = segment;
  while (left > 1 && layout.levels() < 4) {
    const std::size_t count = layout.levels() == 3 ? left : std::min<std::size_t>(left, 1 + random.below(40));
    const std::size_t stride = distance + random.below(3) * (1 + random.below(segment + 8));
    const bool backwards = random.chance(20);
    layout.counts.push_back(count);
    layout.strides.push_back(backwards ? -static_cast<std::ptrdiff_t>(stride)
                                       : static_cast<std::ptrdiff_t>(stride));
    std::vector<std::size_t> more;
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::size_t at : starts) more.push_back(at + (backwards ? count - 1 - i : i) * stride);
    }
    starts = std::move(more);
    if (backwards) layout.start += (count - 1) * stride;
    distance = stride * count;
    left /= count;
  }
  for (const std::size_t at : starts) append_run(layout, at, segment);
  layout.extent = distance;
  return layout;
}

/// Draws a list of segments, some of them empty, in an order of its own.
DrawnLayout draw_list(Random& random, std::size_t bytes) {
  DrawnLayout layout;
  std::size_t at = 0;
  const std::size_t most = 1 + bytes / (1 + random.below(60));
  for (std::size_t left = bytes; left != 0;) {
    const std::size_t part = random.chance(5) ? 0 : std::min(left, 1 + random.below(most));
    layout.segments.emplace_back(at, part);
    at += part + random.below(20);
    left -= part;
  }
  std::shuffle(layout.segments.begin(), layout.segments.end(), random.engine());
  for (const auto& [offset, length] : layout.segments) append_run(layout, offset, length);
  layout.extent = at + 1;
  return layout;
}

DrawnLayout draw(Random& random, std::size_t bytes) {
  return random.chance(50) ? draw_strided(random, bytes) : draw_list(random, bytes);
}

/// A block of ordinary memory or of the heap.
class Block {
 public:
  Block(bool of_heap, std::size_t bytes) : of_heap_(of_heap), bytes_(bytes) {
    if (of_heap) {
      void* memory = nullptr;
      EXPECT_TRUE(ok(rma_malloc_local(bytes, 0, &memory)));
      data_ = static_cast<std::byte*>(memory);
    } else {
      own_.resize(bytes);
      data_ = own_.data();
    }
    std::fill_n(data_, bytes, std::byte{0x5a});
  }
  ~Block() {
    if (of_heap_) EXPECT_TRUE(ok(rma_free_local(data_)));
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::span<const std::byte> all() const { return {data_, bytes_}; }

 private:
  const bool of_heap_;
  const std::size_t bytes_;
  std::vector<std::byte> own_;
  std::byte* data_ = nullptr;
};

rma_status_t send_drawn(const DrawnLayout& layout, std::byte* block, int to, int tag, bool synchronous,
                        rma_request_t* request) {
  if (layout.counts.empty()) {
    const auto list = layout.list(block);
    const auto send = synchronous ? rma_ssend_vector_nb : rma_send_vector_nb;
    return send(list.data(), list.size(), to, tag, kLayoutContext, request);
  }
  const auto send = synchronous ? rma_ssend_strided_nb : rma_send_strided_nb;
  return send(block + layout.start, layout.strides.data(), layout.counts.data(), layout.levels(), to, tag,
              kLayoutContext, request);
}

rma_status_t receive_drawn(const DrawnLayout& layout, std::byte* block, int from, int tag,
                           rma_message_info_t* info, rma_request_t* request) {
  if (layout.counts.empty()) {
    const auto list = layout.list(block);
    return rma_recv_vector_nb(list.data(), list.size(), from, tag, kLayoutContext, info, request);
  }
  return rma_recv_strided_nb(block + layout.start, layout.strides.data(), layout.counts.data(),
                             layout.levels(), from, tag, kLayoutContext, info, request);
}

/// Waits for the message, takes it out of the matching, and receives it.
rma_status_t receive_found_drawn(const DrawnLayout& layout, std::byte* block, int from, int tag,
                                 rma_message_info_t* info, rma_request_t* request) {
  rma_message_t message = nullptr;
  const rma_status_t found = rma_mprobe(from, tag, kLayoutContext, &message, info);
  if (found != RMA_SUCCESS) return found;
  if (layout.counts.empty()) {
    const auto list = layout.list(block);
    return rma_mrecv_vector_nb(list.data(), list.size(), &message, info, request);
  }
  return rma_mrecv_strided_nb(block + layout.start, layout.strides.data(), layout.counts.data(),
                              layout.levels(), &message, info, request);
}

/// Each rank sends from one layout to the next rank, which receives into another. The receive may be shorter.
void pass_on_drawn(std::uint64_t round) {
  const int from = neighbour(ranks() - 1);
  Random sending({round, static_cast<std::uint64_t>(me())});
  Random arriving({round, static_cast<std::uint64_t>(from)});
  constexpr std::array<std::size_t, 8> kDrawnSizes = {0, 1, 40, 200, 5000, 9000, 70000, 400000};
  const DrawnLayout source = draw(sending, sending.pick(kDrawnSizes));
  const bool source_of_heap = sending.chance(50);
  const DrawnLayout theirs = draw(arriving, arriving.pick(kDrawnSizes));
  Random own({round, static_cast<std::uint64_t>(me()), 7});
  const std::size_t room = theirs.offsets.size() + own.below(3) * own.below(5000);
  DrawnLayout into = draw(own, room);
  if (into.offsets.size() < theirs.offsets.size())
    into = draw_list(own, room);  // strided ones may be shorter

  const Block out(source_of_heap, source.extent);
  const Block in(own.chance(50), into.extent);
  const auto data = contents(source.offsets.size(), round, me(), neighbour(1));
  for (std::size_t i = 0; i < data.size(); ++i) out.data()[source.offsets[i]] = data[i];

  std::array<rma_request_t, 2> requests = {};
  rma_message_info_t info = {};
  const bool posted_first = own.chance(50);
  const auto post = [&] {
    const auto receive = !posted_first && own.chance(40) ? receive_found_drawn : receive_drawn;
    EXPECT_TRUE(ok(receive(into, in.data(), own.chance(50) ? from : RMA_ANY_SOURCE, 3, &info, &requests[0])));
  };
  if (posted_first) post();
  EXPECT_TRUE(ok(send_drawn(source, out.data(), neighbour(1), 3, own.chance(30), &requests[1])));
  if (!posted_first) post();
  EXPECT_TRUE(ok(rma_wait_all(requests.data(), requests.size())));
  expect_info(info, from, 3, theirs.offsets.size());

  const auto expected = contents(theirs.offsets.size(), round, from, me());
  std::vector<std::byte> block(into.extent, std::byte{0x5a});
  for (std::size_t i = 0; i < expected.size(); ++i) block[into.offsets[i]] = expected[i];
  EXPECT_EQ(first_difference(block, in.all()), block.size())
      << "round " << round << ", " << expected.size() << " bytes";
}

TEST(Message, LayoutsAgainstAModel) {
  const std::uint64_t count = rounds<std::uint64_t>(ranks() <= 2 ? 120 : 40);
  for (std::uint64_t round = 1; round <= count; ++round) {
    pass_on_drawn(round);
    barrier();  // so that a receive from any source gets the message of this round
  }
}

TEST(Message, ALayoutThatIsTooShortGetsTheBeginning) {
  for (const std::size_t bytes : {100U, 20000U, 300000U}) {
    const auto source = contents(bytes, 1, me(), me());
    std::vector<std::byte> sink(bytes);
    const std::array<std::size_t, 2> counts = {5, 6};
    const std::ptrdiff_t stride = 9;
    rma_request_t request = RMA_REQUEST_NULL;
    rma_message_info_t info = {};
    EXPECT_TRUE(ok(rma_recv_strided_nb(sink.data(), &stride, counts.data(), 1, me(), 3, kLayoutContext, &info,
                                       &request)));
    EXPECT_TRUE(ok(rma_send(source.data(), bytes, me(), 3, kLayoutContext)));  // its receive is posted
    EXPECT_EQ(rma_wait(&request), RMA_ERR_TRUNCATED);
    expect_info(info, me(), 3, bytes);
    for (std::size_t i = 0; i < sink.size(); ++i) {
      const bool inside = i < 54 && i % 9 < 5;
      if (sink[i] == (inside ? source[i / 9 * 5 + i % 9] : std::byte{0})) continue;
      ADD_FAILURE() << "byte " << i;
      break;
    }
  }
}

TEST(Message, BlockingLayoutCallsAndTheirErrors) {
  const std::array<std::size_t, 2> counts = {4, 3};
  const std::ptrdiff_t stride = 6;
  std::array<std::byte, 16> source = {};
  std::array<std::byte, 12> sink = {};
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i);
  // A blocking send to oneself may wait for its receive, so one of the two is always nonblocking.
  rma_request_t request = RMA_REQUEST_NULL;
  rma_message_info_t info = {};
  const std::array<iovec, 3> list = {iovec{sink.data() + 8, 4}, iovec{nullptr, 0}, iovec{sink.data(), 8}};
  EXPECT_TRUE(ok(rma_recv_vector_nb(list.data(), list.size(), me(), 3, kLayoutContext, &info, &request)));
  EXPECT_TRUE(ok(rma_send_strided(source.data(), &stride, counts.data(), 1, me(), 3, kLayoutContext)));
  EXPECT_TRUE(ok(rma_wait(&request)));
  expect_info(info, me(), 3, 12);
  EXPECT_EQ(sink[8], std::byte{0});
  EXPECT_EQ(sink[0], std::byte{6});
  EXPECT_EQ(sink[4], std::byte{12});
  EXPECT_TRUE(ok(rma_send_vector_nb(list.data(), list.size(), me(), 3, kLayoutContext, &request)));
  EXPECT_TRUE(
      ok(rma_recv_strided(source.data(), &stride, counts.data(), 1, me(), 3, kLayoutContext, nullptr)));
  EXPECT_TRUE(ok(rma_wait(&request)));
  EXPECT_EQ(source[6], std::byte{6});
  EXPECT_TRUE(ok(rma_recv_strided_nb(source.data(), &stride, counts.data(), 1, me(), 3, kLayoutContext,
                                     nullptr, &request)));
  EXPECT_TRUE(ok(rma_send_vector(list.data(), list.size(), me(), 3, kLayoutContext)));
  EXPECT_TRUE(ok(rma_wait(&request)));
  EXPECT_TRUE(
      ok(rma_send_strided_nb(source.data(), &stride, counts.data(), 1, me(), 3, kLayoutContext, &request)));
  EXPECT_TRUE(ok(rma_recv_vector(list.data(), list.size(), me(), 3, kLayoutContext, nullptr)));
  EXPECT_TRUE(ok(rma_wait(&request)));

  // Synchronous sends, and messages that a probe has found.
  const auto receive_found = [&](auto receive) {
    rma_message_t message = nullptr;
    EXPECT_TRUE(ok(rma_mprobe(me(), 3, kLayoutContext, &message, &info)));
    EXPECT_TRUE(ok(receive(&message)));
    EXPECT_EQ(message, nullptr);
  };
  std::fill(sink.begin(), sink.end(), std::byte{0x5a});
  EXPECT_TRUE(
      ok(rma_ssend_strided_nb(source.data(), &stride, counts.data(), 1, me(), 3, kLayoutContext, &request)));
  receive_found(
      [&](rma_message_t* message) { return rma_mrecv_vector(list.data(), list.size(), message, &info); });
  EXPECT_TRUE(ok(rma_wait(&request)));
  expect_info(info, me(), 3, 12);
  EXPECT_EQ(sink[8], source[0]);
  EXPECT_EQ(sink[0], source[6]);
  EXPECT_TRUE(ok(rma_ssend_vector_nb(list.data(), list.size(), me(), 3, kLayoutContext, &request)));
  receive_found([&](rma_message_t* message) {
    return rma_mrecv_strided(source.data(), &stride, counts.data(), 1, message, nullptr);
  });
  EXPECT_TRUE(ok(rma_wait(&request)));
  EXPECT_TRUE(ok(rma_recv_vector_nb(list.data(), list.size(), me(), 3, kLayoutContext, &info, &request)));
  EXPECT_TRUE(ok(rma_ssend_strided(source.data(), &stride, counts.data(), 1, me(), 3, kLayoutContext)));
  EXPECT_TRUE(ok(rma_wait(&request)));
  EXPECT_TRUE(ok(rma_recv_strided_nb(source.data(), &stride, counts.data(), 1, me(), 3, kLayoutContext,
                                     nullptr, &request)));
  EXPECT_TRUE(ok(rma_ssend_vector(list.data(), list.size(), me(), 3, kLayoutContext)));
  EXPECT_TRUE(ok(rma_wait(&request)));
  rma_message_t none = nullptr;
  EXPECT_EQ(rma_mrecv_vector(list.data(), list.size(), &none, nullptr), RMA_ERR_ARGUMENT);
  EXPECT_EQ(rma_mrecv_strided(source.data(), &stride, counts.data(), 1, nullptr, nullptr), RMA_ERR_ARGUMENT);

  const auto send = [&](const void* from, const std::ptrdiff_t* strides, const std::size_t* numbers,
                        int levels) {
    return rma_send_strided(from, strides, numbers, levels, me(), 3, kLayoutContext);
  };
  EXPECT_EQ(send(source.data(), &stride, counts.data(), -1), RMA_ERR_ARGUMENT);
  EXPECT_EQ(send(source.data(), &stride, counts.data(), RMA_MAX_LEVELS + 1), RMA_ERR_ARGUMENT);
  EXPECT_EQ(send(source.data(), &stride, nullptr, 1), RMA_ERR_ARGUMENT);
  EXPECT_EQ(send(source.data(), nullptr, counts.data(), 1), RMA_ERR_ARGUMENT);
  EXPECT_EQ(send(nullptr, &stride, counts.data(), 1), RMA_ERR_ARGUMENT);
  const std::array<std::size_t, 2> huge = {SIZE_MAX / 2, 3};
  EXPECT_EQ(send(source.data(), &stride, huge.data(), 1), RMA_ERR_SIZE);
  const std::ptrdiff_t far = PTRDIFF_MAX;
  EXPECT_EQ(send(source.data(), &far, counts.data(), 1), RMA_ERR_SIZE);
  const std::array<iovec, 2> bad = {iovec{sink.data(), 4}, iovec{nullptr, 4}};
  EXPECT_EQ(rma_send_vector(bad.data(), bad.size(), me(), 3, kLayoutContext), RMA_ERR_ARGUMENT);
  EXPECT_EQ(rma_send_vector(nullptr, 2, me(), 3, kLayoutContext), RMA_ERR_ARGUMENT);
  const iovec half = {sink.data(), SIZE_MAX / 2};
  const std::array<iovec, 3> long_list = {half, half, half};
  EXPECT_EQ(rma_send_vector(long_list.data(), long_list.size(), me(), 3, kLayoutContext), RMA_ERR_SIZE);
}

TEST(Message, PersistentOperationsStartAgain) {
  std::array<std::uint64_t, 3> out = {};
  std::array<std::uint64_t, 3> in = {};
  rma_message_info_t info = {};
  std::array<rma_persistent_t, 3> persistent = {};
  const int to = neighbour(1);
  const int from = neighbour(ranks() - 1);
  EXPECT_TRUE(
      ok(rma_recv_init(in.data(), sizeof in, from, RMA_ANY_TAG, kLayoutContext, &info, &persistent[0])));
  EXPECT_TRUE(ok(rma_send_init(out.data(), sizeof out, to, 5, kLayoutContext, &persistent[1])));
  EXPECT_TRUE(ok(rma_ssend_init(out.data(), 8, to, 6, kLayoutContext, &persistent[2])));
  for (std::uint64_t round = 0; round < 50; ++round) {
    for (const std::size_t kind : {1U, 2U}) {
      out = {round, round + 1, kind};
      std::array<rma_request_t, 2> requests = {};
      EXPECT_TRUE(ok(rma_start(persistent[0], &requests[0])));
      EXPECT_TRUE(ok(rma_start(persistent[kind], &requests[1])));
      EXPECT_TRUE(ok(rma_wait_all(requests.data(), requests.size())));
      EXPECT_EQ(in[0], round);
      expect_info(info, from, kind == 1 ? 5 : 6, kind == 1 ? sizeof out : 8);
    }
  }
  rma_persistent_t copy = persistent[1];
  for (rma_persistent_t& one : persistent) {
    EXPECT_TRUE(ok(rma_persistent_free(&one)));
    EXPECT_EQ(one, nullptr);
  }
  rma_request_t request = 77;
  EXPECT_EQ(rma_start(copy, &request), RMA_ERR_ARGUMENT);
  EXPECT_EQ(request, RMA_REQUEST_NULL);
  EXPECT_EQ(rma_persistent_free(&copy), RMA_ERR_ARGUMENT);
  EXPECT_EQ(rma_send_init(out.data(), 8, ranks(), 5, kLayoutContext, &copy), RMA_ERR_RANK);
  EXPECT_EQ(rma_recv_init(in.data(), 8, 0, -3, kLayoutContext, nullptr, &copy), RMA_ERR_ARGUMENT);
  EXPECT_EQ(rma_send_init(nullptr, 8, 0, 5, kLayoutContext, &copy), RMA_ERR_ARGUMENT);
}

}  // namespace
}  // namespace multi
