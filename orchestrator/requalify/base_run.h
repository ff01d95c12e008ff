#pragma once
// The run on which a requalification builds, and what is known of the machine since. From the store
// alone.
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orchestrator/record/node_record.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/store/store.h"

namespace cupel::requalify {

struct NodeRun {
  store::Run run{};
  record::NodeRecord record{};
};

/// The record of the node in one run. Errors: kNotFound; kStorage.
Result<NodeRun> read_run(const store::Store& store, engine::RunId run, const std::string& node);

/// The newest run that the node passed under load; an older one where that has tested all of the
/// newer one's stages and more (a quick check says less than the burn-in before it), unless the
/// newer one is a requalification. `named`: this one instead, where not 0. Of at most 100 runs that
/// loaded the node and 2000 in all. Errors: kNotFound: there is none; kInvalid: the one that is
/// named was not passed; kStorage.
Result<NodeRun> passed_run(const store::Store& store, const std::string& node,
                           engine::RunId named = 0);

/// The newest run that the node failed by a part. Errors: kNotFound; kStorage.
Result<NodeRun> failed_run(const store::Store& store, const std::string& node);

/// The runs behind `base` that the node failed, newest first; at most 100. Errors: kStorage.
Result<std::vector<NodeRun>> failed_since(const store::Store& store, const std::string& node,
                                          engine::RunId base);

/// The newest run behind `base` in which the node or its BMC reported its parts; nothing where
/// there is none. Errors: kStorage.
Result<std::optional<NodeRun>> seen_since(const store::Store& store, const std::string& node,
                                          engine::RunId base);

/// The record of a look. Errors: kInvalid: neither the node nor its BMC reported a part in that
/// run; kNotFound; kStorage.
Result<NodeRun> seen_in(const store::Store& store, const std::string& node, engine::RunId look);

/// By base name: the stages in which a node failed, with a reason for people; the newest run's
/// where several have failed in it. Pure.
std::map<std::string, std::string, std::less<>> failed_stages(std::span<const NodeRun> failed);

/// The failures of a run that no stage measured, as an audit's: "dimm A7: audit: missing". Pure.
std::vector<std::string> other_failures(const NodeRun& failed);

}  // namespace cupel::requalify
