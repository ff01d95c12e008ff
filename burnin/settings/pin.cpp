#include "burnin/settings/pin.h"

#include <fmt/format.h>

#include "base/text.h"
#include "burnin/parameters.h"

namespace cupel::burnin {
namespace {

constexpr int kMostNodes = 1024;

/// Nothing: all of the host's.
Result<std::optional<int>> numa_node(const Parameters& parameters) {
  const auto given = text_parameter({&kNumaParameter, 1}, parameters, kNumaParameter.name);
  if (given == "all") return std::optional<int>{};
  const auto node = number<int>(trimmed(given));
  if (!node || *node < 0 || *node >= kMostNodes)
    return Error{Code::kInvalid, fmt::format("numa must be all, or a NUMA node's number, not '{}'",
                                             shortened(printable(given), 40))};
  return node;
}

}  // namespace

Result<void> ask_numa(const Parameters& parameters, json::object& order) {
  TRY(const auto node, numa_node(parameters));
  if (node) order["numa"] = *node;
  return ok();
}

}  // namespace cupel::burnin
