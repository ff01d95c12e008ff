#include "burnin/settings/pin.h"

#include <fmt/format.h>

#include "base/text.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

constexpr int kMostNodes = 1024;
constexpr std::string_view kPinned = "cupel-pinned: ";

/// Read back from a child, as the tool will be one.
constexpr fmt::string_view kScript = R"sh(
near=$(cat "${{CUPEL_SYS:-/sys}}/devices/system/node/node{0}/cpulist" 2>/dev/null)
if [ -z "$near" ]; then
  echo 'cupel-gave-up: the node has no NUMA node {0} with CPUs'
  exit 69
fi
why=$(taskset -pc "$near" $$ 2>&1)
got=$(grep '^Cpus_allowed_list:' /proc/self/status | tr -d ' \t' | cut -d : -f 2)
if [ "$got" != "$near" ]; then
  echo "cupel-gave-up: numa {0} is CPUs $near, and it may run on $got: look at the control group of its user ($(echo "$why" | tail -n 1))"
  exit 69
fi
echo "cupel-pinned: NUMA node {0}, CPUs $got"
)sh";

/// Nothing: all of the host's.
Result<std::optional<int>> numa_node(const Parameters& parameters) {
  const auto said = text_parameter({&kNumaParameter, 1}, parameters, kNumaParameter.name);
  if (said == "all") return std::optional<int>{};
  const auto node = number<int>(trimmed(said));
  if (!node || *node < 0 || *node >= kMostNodes)
    return Error{Code::kInvalid, fmt::format("numa must be all, or a NUMA node's number, not '{}'",
                                             shortened(printable(said), 40))};
  return node;
}

}  // namespace

Result<void> ask_numa(const Parameters& parameters, json::object& order) {
  TRY(const auto node, numa_node(parameters));
  if (node) order["numa"] = *node;
  return ok();
}

Result<std::string> pin_script(const Parameters& parameters) {
  TRY(const auto node, numa_node(parameters));
  return node ? script::needs("taskset") + fmt::format(kScript, *node) : std::string{};
}

void add_pin(const Output& output, Findings& findings) {
  if (const auto told = script::said(output, kPinned))
    findings.facts["host.pinned"] = script::clean(*told);
}

}  // namespace cupel::burnin
