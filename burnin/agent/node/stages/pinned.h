#pragma once
// A tool on the CPUs of one of the node's NUMA nodes, where the order asks for that by "numa": it
// takes the memory that it touches first from beside them.
#include "base/result.h"
#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {

struct Pin {
  std::string node{};  // "1"; empty: all CPUs
  std::string list{};  // "28-55,84-111"
  std::vector<int> cpus{};
};

/// Errors: kInvalid where the order cannot be read; kNoMeasurement where the node has no such CPUs.
Result<Pin> pin_of(const Node& node, const JsonValue& order);

/// Waits until the GPUs are idle (idle_gpus.h), and reads where the tool may run on them. Errors:
/// as those two.
Work<Result<Pin>> pin_on_idle_gpus(Node& node, const JsonValue& order);

/// Runs it there, reports what it printed as evidence of that name, and the note "pinned". Not
/// empty: it was not run, because the kernel gives it other CPUs.
Work<GaveUp> run_pinned(Node& node, Pin pin, std::string name, Command command);

}  // namespace cupel::agent
