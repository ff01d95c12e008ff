#pragma once
// What `cupel-node` says of the node that it runs on, as numbers and parts: the document of
// `facts`, and the lines of `watch`. Pure, bounded; everything that a node reports is
// checked. A word that is not there is unknown, and never zero.
#include "burnin/stage.h"

namespace cupel::burnin {

/// One document. GPUs are named by the profile's places (gpu3), as gpu-facts names them.
/// Errors: kNoMeasurement where there is no document; kMalformed where it is cut short.
Result<Findings> read_facts(const inventory::Profile& profile, std::string_view text);

/// The lines of one watch, of which the last (the sum of all samples) is read: without it nothing
/// is proven. Errors: as read_facts().
Result<Findings> read_watch(const inventory::Profile& profile, std::string_view text);

/// The names of what they can give.
std::span<const std::string_view> facts_measures();
std::span<const std::string_view> watch_measures();

}  // namespace cupel::burnin
