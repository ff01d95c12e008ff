#include "burnin/node/rdma_counters.h"

#include <fmt/format.h>

#include "burnin/fabric/discovery/rdma_counters.h"
#include "burnin/script.h"

namespace cupel::burnin {

void add_rdma_counters(const std::string& name, const Attributes& hca, const std::string& port,
                       Findings& findings) {
  for (const auto counter : kRdmaCounters) {
    const auto value = script::finite(at(hca, fmt::format("{}/hw_counters/{}", port, counter)));
    if (value && *value >= 0)
      findings.measurements.push_back({fmt::format("rdma.{}", counter), name, *value, "count"});
  }
}

void add_pauses(std::string_view text, Findings& findings) {
  constexpr std::string_view kSection = "pauses ";
  for (const auto& section : script::sections(text)) {
    if (!section.whole || !section.name.starts_with(kSection)) continue;
    const auto counters = parse_ethtool_counters(section.text);
    if (!counters) continue;
    double pauses = 0;
    for (const auto& [counter, value] : *counters)
      if (counter.starts_with("rx_prio") && counter.ends_with("_pause"))
        pauses += static_cast<double>(value);
    findings.measurements.push_back(
        {fmt::format("rdma.{}", kPauses), section.name.substr(kSection.size()), pauses, "count"});
  }
}

}  // namespace cupel::burnin
