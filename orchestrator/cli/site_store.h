#pragma once
// The store that a command opens for the machines of an inventory: records of virtual machines and
// of real ones never share a folder.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

/// Whether the file is an inventory that a virtual rack wrote.
bool is_of_virtual_rack(const std::string& inventory_file);

/// Opens the store of `context.state`. For a virtual rack that must be a rehearsal's: a folder that
/// a person named with --state, and that holds nothing yet, becomes one. For real machines it must
/// not be one. Errors: kConflict, with what to do; those of Store::open.
Result<std::unique_ptr<store::Store>> open_store_for(const Context& context,
                                                     const inventory::Inventory& inventory);

/// That the store of open_store_for() does not open: one of the other kind is wrong input.
Exit complain_of_store(const Context& context, const Error& error);

/// "REHEARSAL: virtual machines, ..." and a line end where the state folder is a rehearsal's, else
/// empty: what commands print above what they say of it.
std::string rehearsal_line(const std::filesystem::path& state);

}  // namespace cupel::cli
