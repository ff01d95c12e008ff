#pragma once
// How long a BMC may think about an update, and which of its answers say nothing about it.
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

}  // namespace cupel::firmware
