#pragma once
// Which part a BMC means: by the addresses and words by which it reported its parts before, else by
// the words that BMCs commonly use. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace cupel::burnin {

/// One part, and what the BMC calls it: URIs ("/redfish/v1/..."), names, slots.
struct Called {
  std::string part;
  std::vector<std::string> as{};
};

class PartNames {
 public:
  explicit PartNames(std::vector<Called> parts) : parts_{std::move(parts)} {}

  /// From `[{"name": "psu2", "as": ["PSU2", "/redfish/v1/..."]}]`; tolerant, at most 1000 parts.
  static PartNames from_json(const json::value* parts);

  /// Of whatever is reported there, and stands at `source`. Empty: it names no part that is known.
  /// Where the BMC never reported its parts: by the number that it says ("PSU 2" is "psu2");
  /// NVIDIA's modules count from one ("GPU_SXM_4" is "gpu3").
  std::string of(std::string_view text, std::string_view source = {}) const;

 private:
  std::vector<Called> parts_;
};

}  // namespace cupel::burnin
