#pragma once
// `nvidia-smi -q -x` as it comes: among warnings, cut short, of any driver. Knows the shape, not
// the meaning: that is gpu_facts.cpp.
#include <deque>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel::burnin {

/// All whole documents in a text.
struct SmiLog {
  std::deque<pugi::xml_document> documents;
  bool cut = false;  // one began and did not end
};

/// Errors: kNoMeasurement where there is no document; kMalformed where there is no whole one.
Result<SmiLog> parse_smi(std::string_view text);

/// The text at "ecc_mode/current_ecc" below `gpu`, clean; nothing if the element is absent or
/// empty.
std::optional<std::string> text_of(const pugi::xml_node& gpu, const char* path);

/// "81559 MiB", "67.03 W", "16x", "0": the number where what follows it is `unit`. Nothing for
/// "N/A",
/// "[Not Supported]", "ERR!" and all else that is no number.
std::optional<double> amount_of(std::string_view text, std::string_view unit);

/// "Enabled", "Yes", "Active": 1; "Disabled", "No", "Not Active": 0; nothing for all else.
std::optional<double> flag_of(std::string_view text);

}  // namespace cupel::burnin
