#pragma once
// Moves the store of a state folder: from its file to a PostgreSQL server, and back. The folder
// stays where it is. Only once all was copied, read back and found the same does the folder name
// the new place; what was there before is kept under another name.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "orchestrator/store/check.h"
#include "orchestrator/store/server.h"
#include "orchestrator/store/table_copy.h"

namespace cupel::store {

struct Moved {
  std::int64_t rows = 0;      // that the store has, without evidence
  std::int64_t evidence = 0;  // pieces that are where they were not before
  std::string before{};       // what is kept of the former place
  Checked checked{};          // of the new one
};

/// To the server, or, where none is given, to cupel.db in the folder. A move that was cut off goes
/// on when it is asked for again; until it is done, nobody writes to either store.
/// Errors: kNotFound: there is no store; kConflict: the target is not empty or another's, it is
/// there already, a controller works, or the store is being moved elsewhere; as Store::open();
/// kMalformed: what was copied is not the same; kStorage.
Result<Moved> move_store(const std::filesystem::path& folder, const std::optional<Server>& to,
                         const CopyWatcher& watch = {});

/// The store stays where it is, and can be written to again. What was copied is removed where it is
/// a file; returns what is left for a person to remove. Errors: kNotFound: no move was begun;
/// kConflict: it is done but for names, or at work.
Result<std::string> give_up_move(const std::filesystem::path& folder);

/// Errors: kConflict: a move was begun and is not done.
Result<void> is_not_moved(const std::filesystem::path& folder);

/// For who holds the store's lock, and opened it when it was on a server, or was not. Errors:
/// kConflict: a move was begun, or is done since: what is written here is read by nothing.
Result<void> is_still_there(const std::filesystem::path& folder, bool on_server);

}  // namespace cupel::store
