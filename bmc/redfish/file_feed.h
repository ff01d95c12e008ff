#pragma once
// A file that is sent: read ahead by a thread of its own, two pieces at most, with its SHA-256. A
// disk that hangs holds up this one file. Knows nothing of HTTP.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/task.h"

namespace cupel::bmc::redfish {

/// A file as it was checked.
struct CheckedFile {
  std::string path{};
  std::uint64_t bytes = 0;
  std::string sha256{};  // lower-case hexadecimal
};

/// Used from one thread, that of `executor`.
class FileFeed {
 public:
  static constexpr std::size_t kPiece = 128u << 10;

  /// `on_news` is called on `executor` when there is a piece, or a failure, after take() had none.
  FileFeed(const asio::any_io_executor& executor, CheckedFile file, std::function<void()> on_news);
  FileFeed(const FileFeed&) = delete;
  FileFeed& operator=(const FileFeed&) = delete;
  ~FileFeed();

  /// The next bytes, as many as there are. 0: none yet, or it failed, or that was all. The last
  /// piece comes only once the whole file has turned out to have the right size and SHA-256.
  std::size_t take(char* into, std::size_t most);

  /// Whether take() has something.
  bool has_bytes() const;
  /// Why there is no more. Codes: kNotFound, kInvalid (not the file that was checked), kFailed (the
  /// disk); each names the file.
  std::optional<Error> failure() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace cupel::bmc::redfish
