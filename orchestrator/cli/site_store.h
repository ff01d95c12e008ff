#pragma once
// The store that a command opens for the machines of an inventory, and what it says of it.
#include "inventory/fwd.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/controller/state_folder.h"

namespace cupel::cli {

/// The store of `context.state`, as controller::open_store_for() opens it.
Result<std::unique_ptr<store::Store>> open_store_for(const Context& context,
                                                     const inventory::Inventory& inventory);

/// That the store of open_store_for() does not open: one of the other kind is wrong input.
Exit print_error_of_store(const Context& context, const Error& error);

/// "REHEARSAL: virtual machines, ..." and a line end where the state folder is a rehearsal's, else
/// empty: what commands print above what they say of it.
std::string rehearsal_line(const std::filesystem::path& state);

}  // namespace cupel::cli
