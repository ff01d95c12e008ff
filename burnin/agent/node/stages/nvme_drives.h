#pragma once
// Which NVMe drives a stage of drives is about: those that its order names, or all of the node.
#include <optional>
#include <string>
#include <vector>

#include "burnin/agent/node/stages/nvme_guards.h"

namespace cupel::agent {

/// The order's `drives`, controllers like nvme0, each once: the second fio of one drive would find
/// it held by the first. Empty: all. Nothing where the order has no list of drives' names.
std::optional<std::vector<std::string>> drives_of(const JsonValue& order);

/// Those that a cable or a network does not lie between; 256 at most.
std::vector<std::string> all_drives(const Node& node);

/// Every name space that the kernel has of a controller, by its serial number.
std::vector<NvmeDrive> spaces_of(const Node& node, const std::string& drive);

}  // namespace cupel::agent
