#pragma once
// What the node's operating system says of settings that its BMC reports as set: a BIOS may report
// one thing and do another. Pure, over what the stage `facts` measured.
#include <string>
#include <vector>

#include "burnin/measurement.h"
#include "inventory/machine_settings.h"

namespace cupel::settings {

struct OsView {
  std::vector<std::string> confirmed{};     // settings that the operating system sees too
  std::vector<std::string> contradicted{};  // "iommu is off to the node's system (iommu.on 0)"
};

/// Of the settings that have such a measure, and of the boot order; what was not measured is in
/// neither list.
OsView os_view(const inventory::MachineSettings& expected, const burnin::Findings& facts);

}  // namespace cupel::settings
