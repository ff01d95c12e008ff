#pragma once
// How long a BMC may think about an update, which of its answers say nothing about it, and which
// are a refusal.
#include <chrono>

#include "base/result.h"

namespace cupel::firmware {

/// Of one question; an inventory of firmware may take minutes.
inline constexpr std::chrono::seconds kLongestAnswer{300};

/// What a BMC may answer while it is written or restarts, and right again a minute later.
constexpr bool may_pass(Code code) {
  using enum Code;
  return is_transient(code) || code == kMalformed || code == kRefused || code == kNotFound ||
         code == kFailed;
}

/// The BMC has answered, and does not do it.
constexpr bool was_refused(Code code) {
  using enum Code;
  return code == kBusy || code == kRefused || code == kUnsupported || code == kInvalid ||
         code == kConflict || code == kFailed || code == kNotFound || code == kUntrusted;
}

/// Nor would it, were it asked again.
constexpr bool is_refused_for_good(Code code) { return was_refused(code) && !is_transient(code); }

}  // namespace cupel::firmware
