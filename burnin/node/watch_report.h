#pragma once
// What `cupel-node` says of the node that it runs on, as numbers and parts: the document of
// `facts`, and the lines of `watch`. Pure, bounded; everything that a node reports is
// checked. A word that is not there is unknown, and never zero.
#include "base/json.h"
#include "burnin/stage.h"
#include "burnin/time_series.h"
#include "inventory/fwd.h"

namespace cupel::burnin {

/// One document. GPUs are named by the profile's places (gpu3), as gpu-facts names them.
/// Errors: kNoMeasurement where there is no document; kMalformed where it is cut short.
Result<Findings> read_facts(const inventory::Profile& profile, std::string_view text);
/// Of a document that was parsed; sections that it does not have are left out.
Findings findings_of_facts(const inventory::Profile& profile, const json::value& facts);

/// The lines of one watch, of which the last (the sum of all samples) is read: without it nothing
/// is proven. Errors: as read_facts().
Result<Findings> read_watch(const inventory::Profile& profile, std::string_view text);

/// The samples that the watch printed, under the names of its measures; of a counter, by how much
/// it has grown. A fault is a message of the kernel that is not harmless, an error that was
/// counted, a slowdown of the hardware, a GPU that no longer answers. At most 20,000 lines are
/// read.
void watch_series(const inventory::Profile& profile, const Output& output, SeriesRecorder& into);

/// The names of what they can give.
std::span<const std::string_view> facts_measures();
std::span<const std::string_view> watch_measures();

}  // namespace cupel::burnin
