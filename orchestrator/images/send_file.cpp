#include "orchestrator/images/send_file.h"

#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace cupel::images {
namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::uint64_t kAtOnce = 1u << 20;  // by the kernel

template <class Stream>
Task<std::uint64_t> write_text(Stream& stream, std::string_view text) {
  const auto [lost, sent] = co_await asio::async_write(stream, asio::buffer(text), kAwait);
  co_return lost ? 0 : static_cast<std::uint64_t>(sent);
}

}  // namespace

Task<std::uint64_t> send_some(asio::ip::tcp::socket& socket, int fd, std::uint64_t offset,
                              std::uint64_t size) {
  boost::system::error_code failure;
  (void)socket.native_non_blocking(true, failure);
  while (!failure) {
    auto from = static_cast<off_t>(offset);
    const auto sent = ::sendfile(socket.native_handle(), fd, &from, std::min(size, kAtOnce));
    if (sent > 0) co_return static_cast<std::uint64_t>(sent);
    const bool full = sent < 0 && (errno == EAGAIN || errno == EINTR);
    if (!full) break;
    const auto [lost] = co_await socket.async_wait(asio::socket_base::wait_write, kAwait);
    failure = lost;
  }
  co_return 0;
}

Task<std::uint64_t> send_text(asio::ip::tcp::socket& socket, std::string_view text,
                              std::uint64_t offset, std::uint64_t size) {
  return write_text(socket, text.substr(offset, size));
}

Task<std::uint64_t> send_text(asio::ssl::stream<asio::ip::tcp::socket&>& stream,
                              std::string_view text, std::uint64_t offset, std::uint64_t size) {
  return write_text(stream, text.substr(offset, size));
}

}  // namespace cupel::images
