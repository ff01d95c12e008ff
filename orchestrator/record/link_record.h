#pragma once
// What is recorded of links in the store: repairs, and how two looks judged them.
#include <filesystem>
#include <span>

#include "burnin/fabric/link_history.h"

namespace cupel::record {

/// The newest 100,000, oldest first; none where the folder has no store. Events that only a newer
/// Cupel knows are left out. Errors: as Store::open(); kStorage.
Result<std::vector<burnin::LinkEvent>> recorded_links(const std::filesystem::path& state);

/// Appends them to the store's audit log, all or none, under the name of who is logged in. The
/// store is open or can be made. Errors: as Store::open(); kStorage.
Result<void> record_links(const std::filesystem::path& state,
                          std::span<const burnin::LinkEvent> events);

}  // namespace cupel::record
