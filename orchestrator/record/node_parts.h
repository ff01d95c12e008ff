#pragma once
// What a node itself has reported of its parts in one run, by all of its stages. Pure.
#include <vector>

#include "orchestrator/record/node_record.h"

namespace cupel::record {

struct NodeParts {
  std::vector<inventory::Part> parts{};
  std::vector<inventory::PartialList> partial{};  // kinds of which `parts` does not have all
};

/// The newest look of each stage: "node-facts@after" sees what "node-facts" saw, once more. What
/// cupel-node reports, the other stages report too: of each kind one stage is asked.
NodeParts parts_by_node(const NodeRecord& record);

}  // namespace cupel::record
