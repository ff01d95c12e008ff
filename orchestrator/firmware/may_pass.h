#pragma once
// Which of a BMC's answers say nothing about an update.
#include "base/result.h"

namespace cupel::firmware {

/// What a BMC may answer while it is written or restarts, and right again a minute later.
constexpr bool may_pass(Code code) {
  using enum Code;
  return is_transient(code) || code == kMalformed || code == kRefused || code == kNotFound ||
         code == kFailed;
}

}  // namespace cupel::firmware
