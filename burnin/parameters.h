#pragma once
// What a playbook wrote after `with:`, read and bounded. Every refusal names the parameter, what
// was written, and what may be written.
#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "burnin/stage.h"

namespace cupel::burnin {

// A step's `with:`, read by the rows of its stage: where it does not say a name, the row's fallback
// counts, and a value must lie within the row's bounds.
using ParameterRows = std::span<const ParameterRow>;

inline constexpr double kMinute = 60, kHour = 3600, kDay = 24 * kHour, kWeek = 7 * kDay;

/// "90s", "5m", "72h". Errors: kInvalid.
Result<std::chrono::seconds> duration_parameter(ParameterRows rows, const Parameters& parameters,
                                                std::string_view name);

/// "32MiB", "4GiB": bytes. `least`: where it must be more than the row says. Errors: kInvalid.
Result<double> size_parameter(ParameterRows rows, const Parameters& parameters,
                              std::string_view name, double least = 0);

/// An absolute path of letters, digits and "/._-", without "..". Errors: kInvalid.
Result<std::string> folder_parameter(ParameterRows rows, const Parameters& parameters,
                                     std::string_view name);

/// One of the row's words. Errors: kInvalid.
Result<std::string> word_parameter(ParameterRows rows, const Parameters& parameters,
                                   std::string_view name);

/// As it was written, or the fallback.
std::string_view text_parameter(ParameterRows rows, const Parameters& parameters,
                                std::string_view name);

/// "256 MiB", "4 GiB": for messages.
std::string size_text(double bytes);

/// "90s", "5m", "2h": for messages.
std::string duration_text(std::chrono::seconds duration);

}  // namespace cupel::burnin
