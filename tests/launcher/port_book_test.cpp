#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "rmarun/port_book.hpp"

namespace {

using rmarun::PortBook;
using Side = PortBook::Side;

PortBook::Waiting waiting(char sent) {
  return {.socket = std::make_shared<librma::Descriptor>(), .sent = {static_cast<std::byte>(sent)}};
}

TEST(PortBook, PairsTheOldestOfEachSide) {
  PortBook book;
  const std::uint32_t port = book.open();
  EXPECT_TRUE(book.is_open(port));
  EXPECT_FALSE(book.meet(port, Side::accepts, waiting('a')));
  EXPECT_FALSE(book.meet(port, Side::accepts, waiting('b')));
  EXPECT_EQ(book.meet(port, Side::connects, waiting('c'))->sent.front(), std::byte{'a'});
  EXPECT_EQ(book.meet(port, Side::connects, waiting('d'))->sent.front(), std::byte{'b'});
  EXPECT_FALSE(book.meet(port, Side::connects, waiting('e')));
  EXPECT_EQ(book.meet(port, Side::accepts, waiting('f'))->sent.front(), std::byte{'e'});
}

TEST(PortBook, PortsAreDifferentAndCloseOnce) {
  PortBook book;
  const std::uint32_t one = book.open();
  const std::uint32_t other = book.open();
  EXPECT_NE(one, other);
  EXPECT_FALSE(book.meet(one, Side::accepts, waiting('a')));
  EXPECT_EQ(book.close(one)->size(), 1U);
  EXPECT_FALSE(book.close(one));
  EXPECT_FALSE(book.is_open(one));
  EXPECT_TRUE(book.is_open(other));
  EXPECT_NE(book.open(), one) << "the number of a port is not used again";
}

TEST(PortBook, ForgetsWhoWaitsNoMore) {
  PortBook book;
  const std::uint32_t port = book.open();
  const PortBook::Waiting gone = waiting('a');
  EXPECT_FALSE(book.meet(port, Side::accepts, gone));
  book.forget(*gone.socket);
  EXPECT_FALSE(book.meet(port, Side::connects, waiting('b')));
}

TEST(PortBook, TakesOutWhoHasWaitedLongEnough) {
  using namespace std::chrono_literals;
  PortBook book;
  const std::uint32_t port = book.open();
  const std::uint32_t other = book.open();
  EXPECT_FALSE(book.next_deadline());
  EXPECT_FALSE(book.meet(other, Side::accepts, waiting('a')));
  EXPECT_FALSE(book.next_deadline());
  const auto now = std::chrono::steady_clock::now();
  const auto until = [&](char sent, std::chrono::seconds after) {
    PortBook::Waiting made = waiting(sent);
    made.until = now + after;
    return made;
  };
  EXPECT_FALSE(book.meet(port, Side::connects, until('b', 5s)));
  EXPECT_FALSE(book.meet(port, Side::connects, until('c', 3s)));
  EXPECT_FALSE(book.meet(port, Side::connects, until('d', 3s)));
  EXPECT_EQ(book.next_deadline(), now + 3s);
  EXPECT_TRUE(book.take_overdue(now + 2s).empty());
  EXPECT_EQ(book.take_overdue(now + 3s).size(), 2U);
  EXPECT_EQ(book.next_deadline(), now + 5s);
  EXPECT_EQ(book.meet(port, Side::accepts, waiting('e'))->sent.front(), std::byte{'b'});
  EXPECT_FALSE(book.next_deadline());
}

TEST(PortBook, NamesArePublishedOnce) {
  PortBook book;
  EXPECT_FALSE(book.look_up("ocean"));
  EXPECT_TRUE(book.publish("ocean", "1"));
  EXPECT_FALSE(book.publish("ocean", "2"));
  EXPECT_EQ(book.look_up("ocean"), "1");
  EXPECT_TRUE(book.unpublish("ocean"));
  EXPECT_FALSE(book.unpublish("ocean"));
}

}  // namespace
