#pragma once
// What a playbook wrote after `with:`, read and bounded. Every refusal names the parameter, what
// was written, and what may be written.
#include <chrono>
#include <string>
#include <string_view>

#include "burnin/stage.h"

namespace cupel::burnin {

/// "90s", "5m", "72h". Errors: kInvalid.
Result<std::chrono::seconds> duration_parameter(const Parameters& parameters,
                                                const std::string& name, std::string_view fallback,
                                                std::chrono::seconds least,
                                                std::chrono::seconds most);

/// "32MiB", "4GiB": bytes. Errors: kInvalid.
Result<double> size_parameter(const Parameters& parameters, const std::string& name,
                              std::string_view fallback, double least, double most);

/// An absolute path of letters, digits and "/._-", without "..". Errors: kInvalid.
Result<std::string> folder_parameter(const Parameters& parameters, const std::string& name,
                                     std::string_view fallback);

/// As it was written, or `fallback`.
std::string_view text_parameter(const Parameters& parameters, const std::string& name,
                                std::string_view fallback);

/// "256 MiB", "4 GiB": for messages.
std::string size_text(double bytes);

/// "90s", "5m", "2h": for messages.
std::string duration_text(std::chrono::seconds duration);

}  // namespace cupel::burnin
