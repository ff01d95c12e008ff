#pragma once
// Everything that a run found out about one node, by itself: its summary, and the same for programs
// as `cupel show --json` prints it.
#include <boost/json/object.hpp>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// From the node's own events and the run's first. In summary.cpp. Errors: kNotFound; kStorage.
Result<NodeSummary> summarize_node(const store::Store& store, engine::RunId id,
                                   const std::string& node);

boost::json::object node_json(const NodeSummary& node, engine::RunId run);

/// What to_document() has of a node beside its verdict: place, serial numbers, measurements,
/// criteria. In document.cpp.
void put_details(boost::json::object& object, const NodeSummary& node);

/// The NVLink domain that its GPUs report, or those that they report; nothing of a node of none.
void put_domain(boost::json::object& object, const record::NodeRecord& record);

/// Of a node in work, a step that is not over is no cause of anything.
void leave_out_unfinished(NodeSummary& node);

}  // namespace cupel::report
