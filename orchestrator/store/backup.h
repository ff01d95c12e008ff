#pragma once
// A copy of a state folder, made while a controller may be writing to it, and the way back. The
// copy is a state folder too, with SQLite's file whatever engine the original has: every command
// reads it with --state.
#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "orchestrator/store/check.h"

namespace cupel::store {

struct Copied {
  std::int64_t files = 0;    // of evidence, copied now
  std::int64_t present = 0;  // that the copy has already
  std::uintmax_t bytes = 0;  // written now, the database included
  bool compared = false;     // the chains with the heads that were kept beside a backup
  Checked checked{};         // of the whole copy, read back
};

/// Copies the store in `state` to `to`: the database as one snapshot, then the evidence and the
/// notes of issued certificates that `to` does not have yet. Never removes evidence from a backup,
/// so that what a broken disk has lost is still there. Writes beside them where the chains end
/// (kHeadsFile), and holds the copy against what an earlier backup has written there: that is
/// replaced only by an intact copy's. The folder is made (mode 0700); one that is
/// there must be empty or a backup. Repeatable. Errors: kNotFound: there is no store in `state`;
/// kInvalid: `to` holds something else, or one of the folders lies in the other; kUnsupported: a
/// newer Cupel wrote it; kStorage.
Result<Copied> back_up(const std::filesystem::path& state, const std::filesystem::path& to);

/// Copies a backup to `state`, which must hold no run and have no controller; to the server that
/// its store.yaml names, where it has one. What came is held against the heads of the chains beside
/// the backup. Errors: kNotFound: `from` is no backup; kInvalid: others can change it, or its heads
/// cannot be read; kConflict: `state` holds something, or a controller works there; kStorage.
Result<Copied> restore(const std::filesystem::path& from, const std::filesystem::path& state);

}  // namespace cupel::store
