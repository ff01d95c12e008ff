#pragma once
// One node in the HTML report: causes, numbers, steps, parts, drawings.
#include <map>
#include <string>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// Where limits come from, each said once in the report and numbered: a run of 72 nodes has the
/// same hundred sources 72 times.
class SourceList {
 public:
  explicit SourceList(const RunSummary& summary);
  /// "12"; empty for a text that no criterion has.
  std::string number_of(const std::string& source) const;
  /// The list itself; empty where there is none.
  std::string html() const;

 private:
  std::map<std::string, std::size_t> numbers_{};
  std::vector<std::string> sources_{};
};

std::string node_section(const NodeSummary& node, const SourceList& sources);

}  // namespace cupel::report
