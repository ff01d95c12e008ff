#include "burnin/cpu/spare_cpus.h"

#include <fmt/format.h>

#include "base/text.h"

namespace cupel::burnin {
namespace {

constexpr int kMost = 1024;

/// The first ones: the kernel's own work and most interrupts are there. stress-ng refuses "5-5".
constexpr std::string_view kFunctions = R"sh(cpus_in() {
  counted=0
  for range in $(echo "$1" | tr ',' ' '); do
    counted=$((counted + ${range#*-} - ${range%-*} + 1))
  done
  echo "$counted"
}
left_of() {
  left=$spare most=$(($(cpus_in "$1") / 4))
  if [ "$left" -gt "$most" ]; then left=$most; fi
  echo "$left"
}
spared_in() {
  left=$(left_of "$1") found=
  for range in $(echo "$1" | tr ',' ' '); do
    at=${range%-*}
    while [ "$left" -gt 0 ] && [ "$at" -le "${range#*-}" ]; do
      found="$found $at" at=$((at + 1)) left=$((left - 1))
    done
  done
  echo "$found"
}
rest_of() {
  left=$(left_of "$1") list=
  for range in $(echo "$1" | tr ',' ' '); do
    first=${range%-*} last=${range#*-}
    skip=$((last - first + 1))
    if [ "$skip" -gt "$left" ]; then skip=$left; fi
    first=$((first + skip)) left=$((left - skip))
    if [ "$first" -lt "$last" ]; then list="$list,$first-$last"; fi
    if [ "$first" -eq "$last" ]; then list="$list,$first"; fi
  done
  echo "${list#,}"
}
)sh";

}  // namespace

Result<int> spare_parameter(ParameterRows rows, const Parameters& parameters) {
  const auto written = text_parameter(rows, parameters, kSpareParameter.name);
  const auto spare = number<int>(written);
  if (spare && *spare >= 0 && *spare <= kMost) return *spare;
  return Error{Code::kInvalid, fmt::format("spare must be 0 to {}, not '{}'", kMost,
                                           shortened(printable(written), 80))};
}

std::string spare_cpus(int spare) {
  return fmt::format("spare={} nice={}\n", spare, spare > 0 ? "'nice -n 19'" : "") +
         std::string{kFunctions};
}

}  // namespace cupel::burnin
