#pragma once
// Removes old runs with all that only they name. What is known of BMCs and pinned keys stays.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "orchestrator/engine/event.h"

namespace cupel::store {

/// Which runs go: those named in `runs`, or, where none is named, all that ended longer than
/// `older_than` ago, the newest `keep` excepted. At least one of the three is given.
struct PruneRequest {
  std::vector<engine::RunId> runs{};
  std::optional<std::chrono::seconds> older_than{};
  std::optional<std::size_t> keep{};
  std::optional<bool> passed{};  // only runs of which every verdict is a pass; or only the others
  std::string by{};
  bool dry_run = false;
};

struct Pruned {
  std::vector<engine::RunId> runs{};
  std::int64_t events = 0;
  std::int64_t evidence = 0;          // files, consoles and what a killed process left included
  std::uintmax_t evidence_bytes = 0;  // on the disk
  std::uintmax_t database_bytes = 0;  // that the database gave back; of a dry run 0
  std::string not_given_back{};       // why it did not; empty: it did
  /// Runs that would have gone by their age, and why they stay.
  std::vector<std::pair<engine::RunId, std::string>> held{};
};

/// A run that a certificate refers to which has not expired, or of which a requalification keeps a
/// part, stays. A run that is not over is never removed, and a number never given twice. First the
/// database, in one transaction, then the files: killed in between it leaves files that nobody
/// names, which the next prune removes. Errors: kConflict: a controller lives, or a run named is
/// held; kInvalid: a run named is not over, or nothing was given; kNotFound: there is no such run;
/// as Store::open().
Result<Pruned> prune(const std::filesystem::path& folder, const PruneRequest& request);

}  // namespace cupel::store
