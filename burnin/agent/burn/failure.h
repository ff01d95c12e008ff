#pragma once
// Why cupel-burn could not find something out, or what the hardware itself said when it broke. Not
// for wrong results: those are Report::fault.
#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/policy/terminate.hpp>
#include <boost/outcome/success_failure.hpp>
#include <boost/outcome/try.hpp>
#include <string>
#include <string_view>
#include <utility>

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

template <class T = void>
using Outcome = boost::outcome_v2::basic_result<T, Failure, boost::outcome_v2::policy::terminate>;

inline auto done() { return boost::outcome_v2::success(); }

}  // namespace cupel::burn

/// TRY(auto x, f());  TRY(g());  Statements, never expressions; braces around it after an `if`.
#ifndef TRY
#define TRY(...) BOOST_OUTCOME_TRY(__VA_ARGS__)
#endif
