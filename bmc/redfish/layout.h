#pragma once
// Where a machine's parts are, and how its BMC differs: what the verbs that act need to know. Found
// out once and kept; it holds URIs, no documents.
#include "bmc/redfish/machine.h"

namespace cupel::bmc::redfish {

struct Layout {
  std::string system{};  // empty: an enclosure's or a switch's BMC has none
  std::vector<std::string> baseboards{};
  std::string manager{};     // empty: none is reported
  std::string accounts{};    // AccountService
  std::string registries{};  // collection
  std::string updates{};     // UpdateService
  std::string events{};      // EventService
  std::string sessions{};    // SessionService
  const Rules* rules = nullptr;
  ModelQuirks handling{};
};

Layout layout_of(const Machine& machine);

}  // namespace cupel::bmc::redfish
