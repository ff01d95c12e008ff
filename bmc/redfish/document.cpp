#include "bmc/redfish/document.h"

#include <array>
#include <boost/asio/post.hpp>
#include <new>

#include "base/text.h"

namespace cupel::bmc::redfish {
namespace {

/// Counts what it hands out, and hands out nothing more when the account is empty. It is given back
/// as a whole: what stands on it takes pieces of memory, and returns them all at its end.
class CountedMemory final : public json::memory_resource {
 public:
  explicit CountedMemory(std::shared_ptr<MemoryUse> use) : held_{std::move(use)} {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (!held_.grow(bytes)) throw std::bad_alloc{};
    return ::operator new(bytes, std::align_val_t{alignment});
  }
  void do_deallocate(void* at, std::size_t, std::size_t alignment) override {
    ::operator delete(at, std::align_val_t{alignment});
  }
  bool do_is_equal(const json::memory_resource& other) const noexcept override {
    return this == &other;
  }

  HeldMemory held_;
};

json::parse_options options_of_documents() {
  json::parse_options options;
  options.max_depth = kDeepest;
  return options;
}

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// At most so many values as there are signs that part them, outside of texts: reported before any
/// of them is built. And whether there are bytes that JSON does not have.
class ValueCount {
 public:
  void read(std::string_view text) {
    has_controls_ = has_high_ = false;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      has_controls_ |= in_text_ && byte < 0x20;
      has_high_ |= byte >= 0x80;
      if (escaped_) {
        escaped_ = false;
      } else if (in_text_) {
        escaped_ = c == '\\';
        in_text_ = c != '"';
      } else {
        in_text_ = c == '"';
        values_ += c == ',' || c == ':' || c == '[' || c == '{';
      }
    }
  }
  std::size_t values() const { return values_; }
  /// Of the piece that was read last: raw controls within texts; bytes beyond ASCII.
  bool has_controls() const { return has_controls_; }
  bool has_high() const { return has_high_; }

 private:
  bool in_text_ = false, escaped_ = false;
  bool has_controls_ = false, has_high_ = false;
  std::size_t values_ = 0;
};

class DocumentParser {
 public:
  DocumentParser(std::size_t size, const std::shared_ptr<MemoryUse>& memory)
      : held_{memory}, room_{held_.grow(size)} {
    auto counted = json::make_shared_resource<CountedMemory>(memory);
    // All of a document in a few pieces of memory, which go with it, not one for each value.
    parser_.reset(json::make_shared_resource<json::monotonic_resource>(
        std::min(size, kPieceOfDocument) + 512, std::move(counted)));
  }

  Result<void> feed(std::string_view piece) {
    if (!room_) return no_room();
    count_.read(piece);
    if (count_.values() > kMostValues)
      return Error{Code::kMalformed,
                   "a document of more than " + std::to_string(kMostValues) + " values"};
    // A byte that is no UTF-8, or a raw control character, costs itself and not the document
    // (DMTF/libredfish#108: 0xFF in a serial number; iLO 6 1.75: a carriage return in a text).
    std::string mended;
    if (count_.has_high() || count_.has_controls()) {
      mended = valid_utf8(piece);
      for (char& c : mended)
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
      piece = mended;
    }
    json::error_code failure;
    try {
      parser_.write_some(piece.data(), piece.size(), failure);
    } catch (const std::bad_alloc&) {
      return no_room();
    }
    if (failure) return Error{Code::kMalformed, "not JSON: " + failure.message()};
    return ok();
  }

  bool done() const { return parser_.done(); }

  Result<json::value> finish() {
    json::error_code failure;
    try {
      if (!parser_.done()) parser_.finish(failure);
      if (!failure && parser_.done()) return parser_.release();
    } catch (const std::bad_alloc&) {
      return no_room();
    }
    return Error{Code::kMalformed, "not JSON: " + failure.message()};
  }

 private:
  static Error no_room() {
    return Error{Code::kMalformed, "this BMC's documents take more memory than one BMC may"};
  }

  HeldMemory held_;
  bool room_;
  ValueCount count_{};
  std::array<unsigned char, 4096> scratch_;  // not filled: the parser writes before it reads
  json::stream_parser parser_{{}, options_of_documents(), scratch_.data(), scratch_.size()};
};

std::string_view without_mark(std::string_view body) {
  if (body.starts_with(kByteOrderMark)) body.remove_prefix(kByteOrderMark.size());
  return body;
}

/// The piece at the front, which never ends within a character.
std::string_view next_piece(std::string_view text) {
  constexpr std::size_t kMostOfOne = 4;  // bytes of a character in UTF-8
  auto end = std::min(text.size(), kPieceOfDocument);
  const auto continues = [&] { return (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80; };
  const auto least = kPieceOfDocument - kMostOfOne;
  while (end < text.size() && end > least && continues()) --end;
  return text.substr(0, end);
}

}  // namespace

Task<Result<json::value>> read_document(const std::string& body,
                                        std::shared_ptr<MemoryUse> memory) {
  DocumentParser parser{body.size(), memory};
  auto text = without_mark(body);
  for (bool first = true; !text.empty() && !parser.done(); first = false) {
    if (!first) {
      const auto executor = co_await asio::this_coro::executor;
      co_await asio::post(executor, asio::as_tuple(asio::use_awaitable));
    }
    const auto piece = next_piece(text);
    CO_TRY(parser.feed(piece));
    text.remove_prefix(piece.size());
  }
  co_return parser.finish();
}

Result<json::value> document_of(std::string_view body, std::shared_ptr<MemoryUse> memory) {
  DocumentParser parser{body.size(), memory};
  TRY(parser.feed(without_mark(body)));
  return parser.finish();
}

}  // namespace cupel::bmc::redfish
