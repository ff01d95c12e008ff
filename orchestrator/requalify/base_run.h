#pragma once
// The run on which a requalification builds, and what is known of the machine since. From the store
// alone.
#include <string>

#include "orchestrator/record/node_record.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/store/store.h"

namespace cupel::requalify {

struct NodeRun {
  store::Run run{};
  record::NodeRecord record{};
};

/// The newest run that the node passed under load; an older one where that has tested all of the
/// newer one's stages and more (a quick check says less than the burn-in before it), unless the
/// newer one is a requalification. `named`: this one instead, where not 0. Errors: kNotFound: there
/// is none; kInvalid: the one that is named was not passed; kStorage.
Result<NodeRun> passed_run(const store::Store& store, const std::string& node,
                           engine::RunId named = 0);

/// The newest run that the node failed by a part. Errors: kNotFound; kStorage.
Result<NodeRun> failed_run(const store::Store& store, const std::string& node);

/// The newest run behind `base` in which the node or its BMC reported its parts; nothing where
/// there is none. Errors: kStorage.
Result<std::optional<NodeRun>> seen_since(const store::Store& store, const std::string& node,
                                          engine::RunId base);

}  // namespace cupel::requalify
