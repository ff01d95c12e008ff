#pragma once
// From everything that one run found out about a node to a verdict. Pure.
#include "burnin/verdict.h"
#include "inventory/fwd.h"
#include "orchestrator/record/node_record.h"

namespace cupel::steps {

/// A failed criterion, a number that did not come from a stage that ran, a bad part, a stage that
/// hung: fail. No such thing, but a step that failed, a stage that proved nothing or a part that
/// nothing reported: inconclusive. So does a person's skip of what would have been judged; what the
/// playbook left out by itself, for a condition or for want of a partner, does not. Only what is
/// left is a pass; a node about which nothing was measured is inconclusive too. Failures come first
/// among the causes, of these and of the rest those that nothing else explains
/// (burnin/consequences.h): a consequence counts as what it is, and is reported under its cause.
/// `differences`: from the run's other nodes (uniformity.h); each is a cause as it stands.
burnin::Verdict decide(const inventory::Profile& profile, const record::NodeRecord& record,
                       std::vector<burnin::Cause> differences = {});

}  // namespace cupel::steps
