#include "bmc/redfish/document.h"

#include <array>
#include <boost/asio/post.hpp>
#include <new>

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

/// At most so many values as there are signs that part them, outside of texts: told before any of
/// them is built.
class ValueCount {
 public:
  void read(std::string_view text) {
    for (const char c : text) {
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

 private:
  bool in_text_ = false, escaped_ = false;
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

}  // namespace

Task<Result<json::value>> read_document(const std::string& body,
                                        std::shared_ptr<MemoryUse> memory) {
  DocumentParser parser{body.size(), memory};
  const std::string_view text = body;
  for (std::size_t at = 0; at < text.size() && !parser.done(); at += kPieceOfDocument) {
    if (at > 0) {
      const auto executor = co_await asio::this_coro::executor;
      co_await asio::post(executor, asio::as_tuple(asio::use_awaitable));
    }
    CO_TRY(parser.feed(text.substr(at, kPieceOfDocument)));
  }
  co_return parser.finish();
}

Result<json::value> document_of(std::string_view body, std::shared_ptr<MemoryUse> memory) {
  DocumentParser parser{body.size(), memory};
  TRY(parser.feed(body));
  return parser.finish();
}

}  // namespace cupel::bmc::redfish
