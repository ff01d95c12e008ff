#pragma once
// Numbers of earlier runs, which a new one is compared with: those of one node, or of all nodes of
// a profile. From the table beside the journal (measurements.h).
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "orchestrator/store/measured.h"

namespace cupel::store {

struct EarlierQuery {
  std::string profile{};
  std::string node{};                    // empty: every node
  engine::RunId before = 0;              // only runs older than this one
  std::size_t most_runs = 12;            // the newest of them that ended and have such a number
  std::span<const std::string> units{};  // only numbers of these
  std::size_t most = 500'000;            // numbers
};

/// By run, the newest first. Of a node: only runs in which it took part. A run without such a
/// number, as an audit, is passed over; at most 512 runs are looked at. Errors: kStorage.
Result<std::vector<Measured>> earlier_values(const std::filesystem::path& folder,
                                             const EarlierQuery& query);

}  // namespace cupel::store
