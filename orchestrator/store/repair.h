#pragma once
// Gives a stuck run an end: one whose journal is damaged, so that nobody can go on with it, or one
// that is over and still holds nodes. What stands in the journal stays as it is, and nothing is
// appended to a chain that is broken: the repair is a record of its own.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "orchestrator/engine/run_state.h"

namespace cupel::store {

struct Repair {
  engine::RunId run = 0;
  engine::WallTime at{};
  std::string by{};             // who asked for it
  std::string reason{};         // in that person's words
  std::int64_t damaged_at = 0;  // the event; 0: its journal is whole
  std::string damage{};         // what is wrong with it
  std::string phase{};          // before; "missing": there is no such run, only what it holds
  std::vector<std::string> freed{};
  friend bool operator==(const Repair&, const Repair&) = default;
};

struct RepairRequest {
  engine::RunId run = 0;
  std::string by{};
  std::string reason{};
  bool dry_run = false;
};

/// The run is cancelled from then on and holds no node. All of it or nothing.
/// Errors: kConflict: a controller lives; kNotFound: there is no such run; kInvalid: nothing about
/// it needs a repair; as Store::open().
Result<Repair> repair_run(const std::filesystem::path& folder, const RepairRequest& request);

/// "repaired 2026-11-22T07:10Z by ada (disk was swapped): was running; n[1-4] freed".
std::string in_words(const Repair& repair);

/// The newest repair of each run that had one. Errors: kStorage.
Result<std::map<engine::RunId, Repair>> repairs(const std::filesystem::path& folder);

}  // namespace cupel::store
