#pragma once
// A list of demands, each with what would prove it: a YAML file, shipped or a site's own.
#include <optional>
#include <string>
#include <vector>

#include "inventory/problem.h"

namespace cupel::compliance {

/// One of these three is there.
struct Demand {
  std::string id{};    // the list's own: "OFM05"
  std::string asks{};  // in our words
  /// Each is to be met on each node: measures that criteria judge ("gemm.errors").
  std::vector<std::string> measures{};
  /// Each is to have run on each node, without a failure: stages and steps ("dcgm-diag",
  /// "requalify").
  std::vector<std::string> stages{};
  /// Each is to be at or above the security floor on each node: components of it ("driver").
  std::vector<std::string> floor{};
  std::string playbook{};  // that measures or runs them: "burn-in-72h"
  std::string command{};   // shows it, and is for a person to look at
  std::string not_here{};  // why Cupel cannot prove it
};

struct DemandList {
  std::string name{};  // "nvidia-ai-clouds-2.4"
  std::string title{};
  std::string source{};  // where it was published
  std::string date{};    // of that version: "2026-09-01"
  std::string covers{};  // which of its rows are here
  std::vector<Demand> demands{};
};

/// At most 1,000 demands. Problems with file:line:column, all of them: unknown measures and stages,
/// ids that are there twice, rows without a proof.
std::optional<DemandList> parse_list(std::string_view text, const std::string& file,
                                     std::vector<inventory::Problem>& problems);

/// Names of the lists that are part of Cupel.
std::vector<std::string> shipped_lists();

/// A shipped list by its name, or a file that no other user can change. Problems as of
/// parse_list().
std::optional<DemandList> load_list(const std::string& name,
                                    std::vector<inventory::Problem>& problems);

}  // namespace cupel::compliance
