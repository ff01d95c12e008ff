#pragma once
// The JSON document of a tool that prints it among warnings: its own, its library's, a shell's.
#include <string_view>

#include "base/json.h"

namespace cupel::burnin {

/// The first whole JSON object in `text` that has `key` at its top.
/// Errors: kNoMeasurement where there is none that names the key; kMalformed where it is cut short
/// or broken.
Result<json::value> json_in(std::string_view text, std::string_view key);

}  // namespace cupel::burnin
