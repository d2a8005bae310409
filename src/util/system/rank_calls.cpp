#include "util/system/rank_calls.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <array>

#include "util/bytes_of.hpp"
#include "util/system/interruptions.hpp"
#include "util/system/network_namespace.hpp"
#include "util/system/unix_socket.hpp"

namespace librma {
namespace {

/// A card has some hundred bytes, and a list of ranks four for each.
constexpr ssize_t kLargest = ssize_t{1} << 20;

iovec piece(std::span<const std::byte> bytes) {
  // sendmsg's interface only lacks the const.
  return {.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
}

}  // namespace

RankSite site_of_this_process(const std::string& directory) {
  RankSite site = {.network = network_namespace()};
  struct stat about {};
  if (::stat(directory.c_str(), &about) == 0) {
    site.directory_device = about.st_dev;
    site.directory_inode = about.st_ino;
  }
  return site;
}

bool send_call(const Descriptor& socket, const RankWords& words, std::span<const std::byte> body,
               std::span<const std::byte> rest, int flags) noexcept {
  std::array<iovec, 3> pieces = {piece(bytes_of(words)), piece(body), piece(rest)};
  msghdr message = {};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  return uninterrupted([&] { return ::sendmsg(socket.get(), &message, flags | MSG_NOSIGNAL); }) >= 0;
}

ssize_t receive_call(const Descriptor& socket, std::vector<std::byte>& message) {
  const auto receive = [&](int more) {
    iovec room = {.iov_base = message.data(), .iov_len = message.size()};
    msghdr arrived = {};
    arrived.msg_iov = &room;
    arrived.msg_iovlen = 1;
    return receive_message(socket, arrived, more);
  };
  message.clear();
  const ssize_t bytes = receive(MSG_PEEK | MSG_TRUNC);  // only the size
  if (bytes <= 0) return bytes;
  if (bytes > kLargest) return 0;
  message.resize(static_cast<std::size_t>(bytes));
  return receive(0);
}

}  // namespace librma
