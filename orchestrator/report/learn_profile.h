#pragma once
// A profile from machines that are known to be good: what is in them, and how fast they are. Pure.
#include <span>
#include <string>

#include "inventory/profile.h"
#include "orchestrator/record/node_record.h"

namespace cupel::report {

struct GoodMachine {
  std::string node{};
  std::int64_t run = 0;  // that it passed
  const record::NodeRecord* record = nullptr;
};

/// YAML of a profile that extends `base`, the profile of all of them: parts that every machine
/// reports alike, and the criteria of `base` with limits of their own numbers: the worst one and 3
/// % beyond it, never a wider limit than that of `base`. What machines do not have in common stands
/// as a comment. load_profile.h reads it back. Errors: kInvalid: there is no machine.
Result<std::string> learn_profile(const std::string& name, const inventory::Profile& base,
                                  std::span<const GoodMachine> machines);

}  // namespace cupel::report
