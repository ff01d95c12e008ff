#pragma once
// While a machine's firmware is being written nobody changes its power: neither a step nor a person
// at the command line. Kept in the store, so that it outlives the controller.
#include "inventory/fwd.h"
#include "orchestrator/store/store.h"

namespace cupel::store {

struct PowerHold {
  std::string what{};                // "bios 2.4.1"
  std::chrono::sys_seconds until{};  // it is over by itself then: no update takes longer
  std::string by{};                  // the kind of step; it does not wait for itself after a crash
  std::string node{};                // that is written, where its BMC is another one's too
};

/// Errors: kStorage.
Result<void> hold_power(Store& store, const std::string& node, const PowerHold& hold);
Result<void> release_power(Store& store, const std::string& node);

/// Releases it where it is held for this update of this node, and says whether it was. Errors:
/// kStorage.
Result<bool> release_power_of(Store& store, const std::string& held, std::string_view what,
                              std::string_view node);

/// Why the power of the node with this name, or of a BMC with it, must be left alone now; nothing
/// where it need not. Not where `except` holds it.
std::optional<std::string> power_is_held(Store& store, const std::string& node,
                                         std::chrono::sys_seconds now,
                                         std::string_view except = {});
/// The same of a node and of its BMC, which other nodes may have too.
std::optional<std::string> power_is_held(Store& store, const inventory::Node& node,
                                         std::chrono::sys_seconds now,
                                         std::string_view except = {});

}  // namespace cupel::store
