#pragma once
// `sel`: what the BMC's log says that it had not said before. Read after every stage, of every
// machine whose profile has criteria for it; as a stage of its own it only lets time pass. What is
// read, and when, is orchestrator/steps/bmc_watch.h; here is what the entries mean.
#include "base/json.h"
#include "burnin/stage.h"

namespace cupel::burnin {

Stage event_log();

/// What tells one entry from all others, also where a log was cleared and counts from one again.
/// `entry` as in Output::beside.
std::string mark_of(const json::value& entry);

/// The entries of a document that was once Output::beside, as marks, for the next one's `before`.
json::array marks_of(const json::value& document);

}  // namespace cupel::burnin
