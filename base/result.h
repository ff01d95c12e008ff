#pragma once
// A value, or why there is none. Not for verdicts: a failed criterion is a finding, not an Error.
#include <chrono>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/try.h"

namespace cupel {

/// What a caller may decide on. A new code needs a caller that treats it differently.
enum class Code {
  kCancelled,      // someone above asked to stop
  kTimeout,        // no answer before the deadline: transient
  kUnreachable,    // no connection, or it broke: transient
  kBusy,           // the other side asks for patience (HTTP 503, 429): transient, see retry_after
  kRefused,        // credentials were refused: never tried again by itself
  kUntrusted,      // certificate or host key is not the one that was pinned: never tried again
  kUnsupported,    // the other side cannot do this, or not without a licence
  kNotFound,       // what was named does not exist
  kMalformed,      // what came back is not what the protocol says
  kNoMeasurement,  // a tool ran and proved nothing
  kInvalid,        // what a person wrote is wrong
  kStorage,        // the journal cannot be written: nothing more may be started
  kConflict,       // someone else holds it
  kFailed,         // the other side did it and says that it failed
};

/// The code's stable name, as it stands in journals and JSON.
std::string_view to_string(Code code);

/// True for what a step runner may try again, with backoff: the world may differ in a moment.
constexpr bool is_transient(Code code) {
  return code == Code::kTimeout || code == Code::kUnreachable || code == Code::kBusy;
}

/// True where no answer came: whether what was asked for was done is unknown.
constexpr bool is_lost(Code code) { return code == Code::kTimeout || code == Code::kUnreachable; }

/// A failure as a sentence for a person, with a code for the engine.
struct [[nodiscard]] Error {
  Code code{};
  std::string what{};
  std::chrono::milliseconds retry_after{0};  // asked for by the other side; 0: not given

  /// Puts what was being tried in front: "a01-n07: power on: POST .../Reset: HTTP 503".
  Error within(std::string_view attempt) && {
    what.insert(0, std::string{attempt} + ": ");
    return std::move(*this);
  }
};

/// std::expected that takes an Error as it is (`return Error{...};`), and may not be left unlooked
/// at.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
  Result(Error error) : std::expected<T, Error>{std::unexpect, std::move(error)} {}
};

inline Result<void> ok() { return {}; }

/// Passes an error on with what was being tried in front; a value as it is.
template <class T>
Result<T> within(std::string_view attempt, Result<T> result) {
  if (!result) return std::move(result).error().within(attempt);
  return result;
}

}  // namespace cupel
