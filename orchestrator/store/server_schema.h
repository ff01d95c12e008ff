#pragma once
// The schema of a store on a PostgreSQL server: made there, and bound to one state folder. What all
// engines have in it is schema.h's.
#include <soci/soci.h>

#include <filesystem>

#include "base/result.h"

namespace cupel::store {

struct Server;

/// Makes the schema with what a server alone has in it, and binds it to the state folder, whose
/// locks and consoles belong to it. Errors: kConflict: it is another folder's, or half of a copy;
/// kUnsupported: the database is not in UTF-8.
Result<void> prepare_schema(soci::session& sql, const Server& server,
                            const std::filesystem::path& state);

/// What was found where a copy of a store is to be written.
enum class Ground {
  empty,  // it is ours now, for a copy
  begun,  // there is a part of a copy for this folder
  whole,  // there is this folder's store
};

/// Takes the schema for a copy: until end_copy() it is nobody's store, and prepare_schema() refuses
/// it. Errors: kConflict: something else is there; as prepare_schema().
Result<Ground> claim_for_copy(soci::session& sql, const Server& server,
                              const std::filesystem::path& state);

/// The copy is whole: from here on the schema is the folder's store.
Result<void> end_copy(soci::session& sql, const std::filesystem::path& state);

}  // namespace cupel::store
