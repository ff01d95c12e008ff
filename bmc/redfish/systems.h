#pragma once
// The Systems that a BMC lists, and which of them is the node: usually the only one that can be
// turned on; with HPE's Cray EX one of two or four. For machine.cpp.
#include <string>
#include <vector>

#include "bmc/redfish/machine.h"

namespace cupel::bmc::redfish {

struct Systems {
  struct Lost {
    std::string uri;
    Error why;
  };
  std::vector<Document> read{};
  std::vector<Lost> lost{};  // listed, and could not be read
};

/// Nothing in either where the BMC has none; where it has no list, those that its chassis link to.
/// Errors: the list cannot be read.
Task<Result<Systems>> read_systems(Survey& survey, const json::value& root);

/// Puts the node into `machine`: system, baseboards, others, has_system. `requested`: as
/// Fetch::system. Errors: as find_machine.
Result<void> pick_system(Systems systems, Without without, const std::string& requested,
                         Machine& machine);

/// An answer that says nothing, not silence, a refusal or a stranger.
bool goes_on_after(Code code);

}  // namespace cupel::bmc::redfish
