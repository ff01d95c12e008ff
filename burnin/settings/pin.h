#pragma once
// A tool that users have, kept on the CPUs of one of the host's NUMA nodes: asked for with `numa:`,
// done by cupel-node (agent/node/stages/pinned.h).
#include "base/json.h"
#include "burnin/stage.h"

namespace cupel::burnin {

/// What `with:` may say of it.
inline constexpr ParameterRow kNumaParameter{
    "numa", ParameterRow::Kind::text,
    "the NUMA node of the host that the tool runs on: 0; where it is not given, all", "all"};

/// Puts it into a stage's order as "numa", where one is asked for. Errors: kInvalid.
Result<void> ask_numa(const Parameters& parameters, json::object& order);

}  // namespace cupel::burnin
