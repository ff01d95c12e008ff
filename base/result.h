#pragma once
// A value, or why there is none. Not for verdicts: a failed criterion is a finding, not an Error.
#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/policy/terminate.hpp>
#include <boost/outcome/success_failure.hpp>
#include <boost/outcome/try.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

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

/// A failure as a sentence for a person, with a code for the engine.
struct [[nodiscard]] Error {
  Code code{};
  std::string what{};
  std::chrono::milliseconds retry_after{0};  // asked for by the other side; 0: not said

  /// Puts what was being tried in front: "a01-n07: power on: POST .../Reset: HTTP 503".
  Error within(std::string_view attempt) && {
    what.insert(0, std::string{attempt} + ": ");
    return std::move(*this);
  }
};

template <class T>
using Result = boost::outcome_v2::basic_result<T, Error, boost::outcome_v2::policy::terminate>;

inline auto ok() { return boost::outcome_v2::success(); }

/// Passes an error on with what was being tried in front; a value as it is.
template <class T>
Result<T> within(std::string_view attempt, Result<T> result) {
  if (!result) return std::move(result).assume_error().within(attempt);
  return result;
}

}  // namespace cupel

/// TRY(auto x, f());  CO_TRY(auto x, co_await f());  CO_TRY(co_await g());
/// Statements, never expressions: see "one co_await per statement".
#define TRY(...) BOOST_OUTCOME_TRY(__VA_ARGS__)
#define CO_TRY(...) BOOST_OUTCOME_CO_TRY(__VA_ARGS__)
