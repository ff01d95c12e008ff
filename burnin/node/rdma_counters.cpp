#include "burnin/node/rdma_counters.h"

#include <fmt/format.h>

#include "burnin/fabric/discovery/rdma_counters.h"
#include "burnin/script.h"

namespace cupel::burnin {

void add_pauses(const std::string& hca, std::string_view counters, Findings& findings) {
  const auto read = parse_ethtool_counters(counters);
  if (!read) return;
  double pauses = 0;
  for (const auto& [counter, value] : *read)
    if (counter.starts_with("rx_prio") && counter.ends_with("_pause"))
      pauses += static_cast<double>(value);
  findings.measurements.push_back({fmt::format("rdma.{}", kPauses), hca, pauses, "count"});
}

void add_pauses(std::string_view text, Findings& findings) {
  constexpr std::string_view kSection = "pauses ";
  for (const auto& section : script::sections(text))
    if (section.whole && section.name.starts_with(kSection))
      add_pauses(section.name.substr(kSection.size()), section.text, findings);
}

}  // namespace cupel::burnin
