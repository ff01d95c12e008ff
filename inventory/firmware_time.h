#pragma once
// How long firmware updates take, as a profile says. Pure.
#include <chrono>

#include "inventory/baseline.h"
#include "inventory/fwd.h"

namespace cupel::inventory {

std::chrono::seconds time_of(FirmwareReset reset, const Patience& patience);

/// Of all components with images that are written on the node, or of all others, where each of them
/// is off its version: the writes and their resets, one after the other, without `settles`. A
/// bundle that several components name for the same targets is written once.
std::chrono::seconds time_of_baseline(const Profile& profile, bool on_node);

}  // namespace cupel::inventory
