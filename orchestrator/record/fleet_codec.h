#pragma once
// What was learned of a fleet, as JSON: the evidence of a verdict that compares machines, so that
// the same verdict can be made again of the record alone.
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "burnin/criteria/fleet_reference.h"
#include "orchestrator/store/store.h"

namespace cupel::record {

std::string to_text(const burnin::FleetReference& reference);
/// Errors: kMalformed.
Result<burnin::FleetReference> fleet_reference_from(std::string_view text);

json::array to_json(const std::vector<burnin::Compared>& compared);
/// Tolerant: what is absent or of another type stays empty.
std::vector<burnin::Compared> compared_from(const json::value* value);

/// As the newest verdict of the node has it; empty where it compared nothing. Errors: kStorage.
Result<std::vector<burnin::Compared>> compared_of(const store::Store& store, engine::RunId run,
                                                  const std::string& node);

}  // namespace cupel::record
