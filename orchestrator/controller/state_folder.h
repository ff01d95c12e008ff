#pragma once
// The folder that a controller works in: the store that is opened for the machines of an inventory,
// and the log. Records of virtual machines and of real ones never share a folder.
#include <filesystem>
#include <memory>
#include <string>

#include "inventory/fwd.h"
#include "orchestrator/store/store.h"

namespace cupel::controller {

struct StateFolder {
  std::filesystem::path path{};
  /// A person named it for this very purpose, so that an empty one may become a rehearsal's.
  bool named = false;
};

/// Whether the file is an inventory that a virtual rack wrote.
bool is_of_virtual_rack(const std::string& inventory_file);

/// Opens the folder's store. For a virtual rack the folder must be a rehearsal's: one that a person
/// named, and that holds nothing yet, becomes one. For real machines it must not be one. Errors:
/// kConflict, with what to do; those of Store::open.
Result<std::unique_ptr<store::Store>> open_store_for(const StateFolder& state,
                                                     const inventory::Inventory& inventory);

/// Where a controller without a terminal writes what it has to say. Not truth: that is in the
/// journal.
std::filesystem::path controller_log(const std::filesystem::path& state);

}  // namespace cupel::controller
