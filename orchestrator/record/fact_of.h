#pragma once
// One fact of a node's record.
#include <string>
#include <string_view>

#include "orchestrator/record/node_record.h"

namespace cupel::record {

/// Empty where the record has no such fact.
inline std::string fact_of(const NodeRecord& record, std::string_view name) {
  const auto found = record.facts.find(name);
  return found == record.facts.end() ? std::string{} : found->second;
}

}  // namespace cupel::record
