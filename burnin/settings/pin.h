#pragma once
// A tool that users have, kept on the CPUs of one of the host's NUMA nodes: asked for with `numa:`,
// set, read back, and told beside what it measured. It ends with the stage's own process.
#include "base/json.h"
#include "burnin/stage.h"

namespace cupel::burnin {

/// What `with:` may say of it.
inline constexpr ParameterRow kNumaParameter{
    "numa", ParameterRow::Kind::text,
    "the NUMA node of the host that the tool runs on: 0; where it is not said, all", "all"};

/// Puts it into a stage's order as "numa", where one is asked for. Errors: kInvalid.
Result<void> ask_numa(const Parameters& parameters, json::object& order);

/// Lines that go before the tool: from there on the script and what it starts run on these CPUs
/// alone, and take the memory that they touch first from beside them. Gives up in words where the
/// node has no such CPUs, or the kernel gives others. Empty where nothing is asked for. POSIX sh.
/// Errors: kInvalid.
Result<std::string> pin_script(const Parameters& parameters);

/// The fact "host.pinned", "NUMA node 1, CPUs 28-55,84-111", where the output tells it.
void add_pin(const Output& output, Findings& findings);

}  // namespace cupel::burnin
