#pragma once
// A run that is over, for OpenTelemetry: a trace of the run, its nodes and their steps, a log
// record for each event, and the numbers that its steps measured. Made from the journal alone, with
// ids from its hashes: made again, it is the same. Of an event's data it has the words for people
// and the measurements; nothing else leaves.
#include "orchestrator/api/otlp_requests.h"
#include "orchestrator/store/journal_reader.h"

namespace cupel::api {

/// At most so many of one run; what is left out is counted in attributes of the run's span.
struct OtlpLimits {
  std::size_t spans = 50'000, records = 50'000, points = 100'000;
};

/// `dropped`: runs before this one that were never sent, for an attribute of the run's span.
/// Errors: kConflict: the run goes on; kNotFound: it has no events any more; kStorage.
Result<std::vector<OtlpRequest>> otlp_of_run(const store::Run& run,
                                             const store::JournalReader& journal,
                                             std::string_view version, std::size_t dropped = 0,
                                             OtlpLimits limits = {});

}  // namespace cupel::api
