#pragma once
// What a BMC shows of its machine and of itself: every resource as a function of both, by its path.
// Reading only; what changes something is in service.h. Shapes: DSP0268; what stands where and
// under which name: vendor_behavior.h.
#include <map>
#include <span>
#include <string>

#include "base/json.h"
#include "rehearsal/bmc/state.h"
#include "rehearsal/bmc_faults.h"
#include "rehearsal/managed_system.h"

namespace cupel::rehearsal {

/// Path without a trailing slash: resource. Made anew for each request: a machine is small, and
/// what it shows follows it at once.
using ResourceTree = std::map<std::string, json::object>;

/// What resources are made of, and where they go.
struct BmcView {
  const ManagedSystem& machine;
  const BmcState& state;
  std::string_view asked{};  // the path that somebody asks for; empty: all of them

  /// Whether what stands at or below this path may be what is asked for.
  bool wants(std::string_view part) const { return asked.empty() || asked.starts_with(part); }
  const VendorBehavior& behavior() const { return state.behavior; }
  const Layout& layout() const { return state.behavior.layout; }
  const Hardware& hardware() const { return machine.hardware(); }
  std::string system() const { return "/redfish/v1/Systems/" + std::string{layout().system}; }
  std::string manager() const { return "/redfish/v1/Managers/" + std::string{layout().manager}; }
  std::string chassis() const { return "/redfish/v1/Chassis/" + std::string{layout().chassis}; }
  /// The System that has the GPUs.
  std::string system_of_gpus() const;
  std::string gpu_id(const Gpu& gpu) const;
  /// Where BootSourceOverride is written.
  std::string boot() const;
  std::string bios() const;
  std::string bios_settings() const;
  std::string log() const;
  /// Empty where there is none.
  std::string host_log() const;
  std::string media() const;
  /// "Fan{}" of the layout, with the number of the part that is the `index`th.
  std::string id(std::string_view form, int index) const;
  /// As this BMC tells it, late.
  Power power() const { return machine.reported_power(behavior().power.lag); }
  VirtualTime now() const { return machine.clock().elapsed(); }
  /// The BMC's own clock.
  double epoch() const {
    return machine.clock().epoch() + bmc_clock_error(machine.faults()) + state.clock_ahead;
  }
  /// A point of its time as it writes it: "2026-01-31T12:00:00+00:00".
  std::string time(double epoch) const;
  /// Of its time zone: "+01:00".
  std::string offset() const;
};

ResourceTree resources(const BmcView& view);
/// At least the resource at `path` (and a collection's members), for less work.
ResourceTree resources_around(const BmcView& view, const std::string& path);

// The parts of it.
void add_systems(ResourceTree& tree, const BmcView& view);
void add_compute(ResourceTree& tree, const BmcView& view);
void add_chassis(ResourceTree& tree, const BmcView& view);
/// The PCIe devices of the chassis.
std::vector<std::string> pcie_paths(const BmcView& view);
void add_sensors(ResourceTree& tree, const BmcView& view);
void add_managers(ResourceTree& tree, const BmcView& view);
/// The log services that collect dumps, their entries, and the collections that they are in.
void add_dumps(ResourceTree& tree, const BmcView& view);
/// Those of this machine: a BMC without a baseboard has none.
std::span<const DumpRow> dumps_of(const BmcView& view);
std::string log_services_of(const DumpRow& row);
/// One collection as a Task, and where its monitor is.
json::object task_of(const BmcView& view, const Dump& dump);
std::string monitor_of(const Dump& dump);
void add_dump_tasks(ResourceTree& tree, const BmcView& view);
/// What stands behind an entry (AdditionalDataURI). Empty: no such file.
std::string file_of_dump(const BmcView& view, const std::string& path);
void add_logs_and_media(ResourceTree& tree, const BmcView& view);
void add_bios(ResourceTree& tree, const BmcView& view);
void add_accounts(ResourceTree& tree, const BmcView& view);
void add_services(ResourceTree& tree, const BmcView& view);
void add_updates(ResourceTree& tree, const BmcView& view);
void add_tasks(ResourceTree& tree, const BmcView& view);
/// One update as a Task, and where its monitor is (DSP0266, "Asynchronous operations").
json::object task_of(const BmcView& view, const Update& update);
std::string monitor_of(const BmcView& view, const std::string& id);

/// A resource with its three "@odata" keys, Id and Name.
json::object resource(const std::string& path, std::string_view type, std::string_view id,
                      std::string_view name);
json::object link(const std::string& path);
json::array links(const std::vector<std::string>& paths);
json::array json_words(Words words);
json::object healthy(bool enabled = true);
/// A collection at `path` of all its direct children in the tree; last of all.
void add_collection(ResourceTree& tree, const std::string& path, std::string_view type,
                    std::string_view name);
/// What a log's line looks like, as a resource and within an event.
json::object log_entry(const BmcView& view, const LogLine& line);
json::object event_of(const BmcView& view, const LogLine& line);

}  // namespace cupel::rehearsal
