#include "orchestrator/cli/seen_domains.h"

#include "orchestrator/record/fact_of.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kMostRunsBack = 500;
constexpr int kMostRunsOfANode = 50;

}  // namespace

Result<handoff::DomainsByNode> seen_domains(const store::Store& store,
                                            const std::set<std::string, std::less<>>& nodes) {
  handoff::DomainsByNode domains;
  std::map<std::string, int, std::less<>> looked;
  TRY(const auto runs, store.runs(kMostRunsBack));
  for (const auto& run : runs)
    for (const auto& node : run.nodes) {
      if (!nodes.contains(node) || ++looked[node] > kMostRunsOfANode) continue;
      TRY(const auto record, record::node_record(store, run.id, node));
      const bool is_split = !record::fact_of(record, inventory::kSplitDomainFact).empty();
      const auto domain =
          inventory::parse_nvlink_domain(record::fact_of(record, inventory::kDomainFact));
      if (!is_split && !domain) continue;
      if (!is_split) domains.emplace(node, *domain);
      looked[node] = kMostRunsOfANode;  // older ones say nothing of today
    }
  return domains;
}

}  // namespace cupel::cli
