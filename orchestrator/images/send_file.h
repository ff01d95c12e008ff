#pragma once
// A file's bytes over a connection: by the kernel where nothing is encrypted.
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <cstdint>

#include "base/task.h"

namespace cupel::images {

/// Sends at most `size` bytes of `fd` from `offset` on; how many went. 0: the peer is gone, or the
/// file cannot be read there. The thread waits for the disk: whoever calls has read them before, so
/// that they lie in the page cache.
Task<std::uint64_t> send_some(asio::ip::tcp::socket& socket, int fd, std::uint64_t offset,
                              std::uint64_t size);

/// The same of bytes in memory.
Task<std::uint64_t> send_text(asio::ip::tcp::socket& socket, std::string_view text,
                              std::uint64_t offset, std::uint64_t size);
Task<std::uint64_t> send_text(asio::ssl::stream<asio::ip::tcp::socket&>& stream,
                              std::string_view text, std::uint64_t offset, std::uint64_t size);

}  // namespace cupel::images
