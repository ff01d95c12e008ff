#pragma once
// Which of the things that a BMC shows is the machine, and who it is.
#include "bmc/redfish/survey.h"
#include "bmc/redfish/vendors.h"

namespace cupel::bmc::redfish {

/// A node, as one BMC shows it.
struct Machine {
  json::value root;
  Document system;                   // the one that is turned on and off
  std::vector<Document> baseboards;  // other Systems of the same node (HGX)
  std::vector<std::string> others;   // URIs of Systems that are other nodes
  bool has_system = true;            // false: a BMC of an enclosure or a switch
  std::optional<Document> manager;   // the BMC, not a controller beside it
  const Rules* rules = nullptr;
  std::optional<std::vector<Document>> chassis{};  // once somebody needed them
};

/// What to do where the System is listed and cannot be read.
enum class Without {
  fails,    // for verbs that act on it
  goes_on,  // for readers: its body is an empty object, and it is noted as unknown
};

/// Finds it: of several Systems that can be turned on the one that the Fetch names. A BMC without
/// any System is no error: its `system` is an empty object then.
/// Errors: whatever reading the root or the Systems says; kUnsupported where there are several and
/// none is named, kInvalid where there is none of that name: both list those that there are.
Task<Result<Machine>> find_machine(Survey& survey, Without system = Without::fails);

/// All chassis but those that hold no part (Rules::idle_chassis); asked for once. Where there are
/// other nodes, only those that are this one's; what belongs to no node alone is noted as unknown.
Task<void> read_chassis(Survey& survey, Machine& machine);

/// The chassis whose serial number stands for the machine: the first that somebody could carry; of
/// a controller without a System (a power shelf's) also the shelf by its name, else the only one
/// that has a serial number. nullptr: none. Call read_chassis() first.
const Document* chassis_of_machine(const Machine& machine);

/// Whether the system itself says its serial number: identify() needs no chassis then.
bool tells_own_serial(const Machine& machine);

/// Who it is. Asks for a chassis only where the system keeps its serial number to itself.
Task<Identity> identify(Survey& survey, Machine& machine);

/// What the machine's System reports at `field`, else the first of its baseboards that does.
std::string reported_by_any(const Machine& machine, std::string_view field);

/// Source: DSP0268, ComputerSystem.PowerState. Anything else is unknown, never off.
PowerState power_of(const json::value& system);

/// Whether a System can be reset: Actions/#ComputerSystem.Reset/target.
std::string reset_target(const json::value& system);

}  // namespace cupel::bmc::redfish
