#pragma once
// A run's journal as a file that stands without the store: a line of JSON for each event, every
// byte that its hash is of. So the chain can be checked up to the run's start by someone who has
// neither the database nor trust in it.
#include <cstdint>
#include <filesystem>
#include <string>

#include "orchestrator/store/store.h"

namespace cupel::store {

struct JournalFile {
  RunId run = 0;
  std::int64_t events = 0;
  std::string head{};    // the last event's hash
  std::string sha256{};  // of the file
  /// Events out of which a boot ticket was cut: earlier versions wrote them there. Their own hash
  /// cannot be computed again; the next event's is of it.
  std::int64_t cut = 0;
};

/// Writes it whole, over a file of that name, without boot tickets. Errors: kNotFound: no such run;
/// kStorage: the chain is broken, or the file cannot be written.
Result<JournalFile> write_journal(const Store& store, RunId run, const std::filesystem::path& file);

/// Reads the file and holds each event against the one before it. Errors: kNotFound; kInvalid: it
/// is no file, or cannot be read; kMalformed: a line is none; kUntrusted: an event is missing, or
/// not what was written, with its number.
Result<JournalFile> check_journal(const std::filesystem::path& file);

}  // namespace cupel::store
