#pragma once
// What a DGX H100's BMC shows of its machine: every resource as a function of the machine, by its
// path. Reading only; what changes something is in service.h. The shapes follow a captured DGX
// H100.
#include <functional>
#include <map>
#include <string>

#include "base/json.h"
#include "rehearsal/machine.h"

namespace cupel::rehearsal {

/// Path without a trailing slash: resource. Made anew for each request: a machine is small, and
/// what it shows follows it at once.
using ResourceTree = std::map<std::string, json::object>;

ResourceTree resources(const Machine& machine);

// The parts of it.
void add_systems(ResourceTree& tree, const Machine& machine);
void add_chassis(ResourceTree& tree, const Machine& machine);
void add_services(ResourceTree& tree, const Machine& machine);

/// A resource with its three "@odata" keys, Id and Name.
json::object resource(const std::string& path, std::string_view type, std::string_view id,
                      std::string_view name);
json::object link(const std::string& path);
json::object healthy(bool enabled = true);
/// A collection at `path` of all its direct children in the tree; last of all.
void add_collection(ResourceTree& tree, const std::string& path, std::string_view type,
                    std::string_view name);

/// The reset types that this BMC takes.
inline constexpr std::array<std::string_view, 6> kResets{
    "On", "ForceOff", "GracefulShutdown", "ForceRestart", "GracefulRestart", "PowerCycle"};

}  // namespace cupel::rehearsal
