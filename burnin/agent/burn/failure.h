#pragma once
// Why cupel-burn could not find something out, or what the hardware itself said when it broke. Not
// for wrong results: those are Report::fault.
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace cupel::burn {

/// The codes of the protocol: no-cuda-device, no-library, cuda, nccl, usage, memory, busy, refused;
/// and "hardware": the GPU reported its own defect, which is a fault found and no lack of
/// knowledge.
struct [[nodiscard]] Failure {
  std::string code{};
  std::string message{};
  std::string part{};  // "gpu3"; empty: no one's

  Failure on(std::string_view whose) && {
    if (part.empty()) part = whose;
    return std::move(*this);
  }
};

inline constexpr std::string_view kHardware = "hardware";

/// std::expected that takes a Failure as it is, and may not be left unlooked at.
template <class T = void>
class [[nodiscard]] Outcome : public std::expected<T, Failure> {
 public:
  using std::expected<T, Failure>::expected;
  Outcome(Failure failure) : std::expected<T, Failure>{std::unexpect, std::move(failure)} {}
};

inline Outcome<> done() { return {}; }

/// What agent/common could not do, under a code of the protocol.
template <class T>
Outcome<T> coded(std::string_view code, Result<T> result) {
  if (result) {
    if constexpr (std::is_void_v<T>)
      return done();
    else
      return *std::move(result);
  }
  return Failure{.code = std::string{code}, .message = std::move(result).error().what};
}

}  // namespace cupel::burn
