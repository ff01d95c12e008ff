#include "burnin/cpu/spare_cpus.h"

#include <fmt/format.h>

#include "base/text.h"

namespace cupel::burnin {
namespace {

constexpr int kMost = 1024;

}  // namespace

Result<int> spare_parameter(ParameterRows rows, const Parameters& parameters) {
  const auto written = text_parameter(rows, parameters, kSpareParameter.name);
  const auto spare = number<int>(written);
  if (spare && *spare >= 0 && *spare <= kMost) return *spare;
  return Error{Code::kInvalid, fmt::format("spare must be 0 to {}, not '{}'", kMost,
                                           shortened(printable(written), 80))};
}

}  // namespace cupel::burnin
