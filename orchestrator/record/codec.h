#pragma once
// What steps found, as JSON: the form in which it stands in the journal, in `--json` and in
// reports. One row a struct for both directions, so that what is written can be read. Numbers are
// numbers; the words that people read are made in report/.
#include <boost/json.hpp>
#include <vector>

#include "base/result.h"
#include "burnin/measurement.h"
#include "burnin/verdict.h"
#include "inventory/audit.h"
#include "orchestrator/record/node_record.h"

namespace cupel::record {
namespace json = boost::json;

json::array to_json(const std::vector<inventory::Part>& parts);
json::array to_json(const std::vector<inventory::Unknown>& unknown);
json::array to_json(const std::vector<inventory::PartialList>& partial);
json::array to_json(const std::vector<inventory::AuditFinding>& findings);
json::object to_json(const inventory::FloorLook& look);
json::object to_json(const burnin::Findings& findings);
json::object to_json(const burnin::Cause& cause);
json::object to_json(const burnin::Verdict& verdict);
json::array to_json(const std::vector<Needed>& needs);

/// Tolerant: what is absent or of another type stays empty.
std::vector<inventory::Part> parts_from(const json::value* value);
std::vector<inventory::PartialList> partial_from(const json::value* value);
std::vector<inventory::AuditFinding> audit_from(const json::value* value);
/// Nothing where it is no object: an audit of an earlier version.
std::optional<inventory::FloorLook> floor_from(const json::value* value);
burnin::Findings findings_from(const json::object& object);
burnin::Verdict verdict_from(const json::object& object);
std::vector<Needed> needed_from(const json::value* value);

}  // namespace cupel::record
