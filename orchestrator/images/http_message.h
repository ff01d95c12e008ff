#pragma once
// What the HTTP server hands to whom it serves for, and gets back: plain data.
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/images/open_file.h"
#include "orchestrator/images/pace.h"

namespace cupel::images {

struct HttpRequest {
  std::string_view method{}, target{}, body{};
  boost::asio::ip::address peer{};
  bool encrypted = false;
};

/// Bytes of a file, or of memory where there is none.
struct Piece {
  OpenFile::Ptr file{};
  std::uint64_t offset = 0, size = 0;  // of the file
  std::string text{};

  std::uint64_t length() const { return file ? size : text.size(); }
};

/// The pieces one behind the other, from `first` on, `size` bytes.
std::vector<Piece> part_of(const std::vector<Piece>& pieces, std::uint64_t first,
                           std::uint64_t size);

struct Sent {
  unsigned status = 0;
  std::uint64_t bytes = 0;  // of the body
  bool whole = false;       // all that was asked for went out
  std::chrono::milliseconds took{};
};

struct HttpAnswer {
  unsigned status = 404;
  std::string type{"application/octet-stream"};
  std::vector<Piece> body{};
  bool ranges = false;  // a part may be asked for
  bool close = false;   // the connection ends
  std::string allow{};  // of 405
  int retry_after = 0;  // seconds; 0: not given
  std::vector<std::shared_ptr<Pace>> paces{};
  std::function<bool()> is_over{};          // asked while the body goes out
  std::function<void(const Sent&)> sent{};  // once, also where nothing went out
};

}  // namespace cupel::images
