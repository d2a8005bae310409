#include <gtest/gtest.h>

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
