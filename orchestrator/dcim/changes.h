#pragma once
// What goes back to NetBox: the status of a device by its newest verdict, its serial number, and a
// journal entry that says which run it was. Pure.
// Sources: NetBox, "Device" (status), "Journal Entry" (kind).
#include <optional>

#include "orchestrator/dcim/devices.h"

namespace cupel::dcim {

struct NodeResult {
  std::int64_t run = 0;
  std::string state{};   // "pass", "fail", "inconclusive"; empty: nothing has judged it
  std::string cause{};   // one line
  std::string serial{};  // of the chassis, as its BMC says; empty: unknown
};

struct ChangeRules {
  std::string passed = "active";  // status of a device whose node passed
  std::string failed = "failed";
  bool serials = false;  // also those that differ; else only such as are empty
};

struct DeviceChange {
  std::string id{};
  std::string node{};
  json::object fields{};                // of the device; may be empty
  json::object journal{};               // an entry; empty: none
  std::vector<std::string> words{};     // what changes, for people
  std::vector<std::string> warnings{};  // what differs and stays
};

/// What the journal entry of a run begins with: "Cupel run 12: ".
std::string journal_mark(std::int64_t run);

/// `has_entry`: the device has one of this run already. A device that is being taken out
/// ("decommissioning", "offline", "inventory") keeps its status.
DeviceChange change_of(const Device& now, const NodeResult& result, const ChangeRules& rules,
                       bool has_entry);

}  // namespace cupel::dcim
