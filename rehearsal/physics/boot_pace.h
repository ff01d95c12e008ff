#pragma once
// How long one machine's self-test takes, compared with a rack's usual one.
#include <string_view>

#include "rehearsal/physics/random.h"

namespace cupel::rehearsal {

/// Times the rack's own time for it: what the vendor's firmware does before it boots, the memory
/// that it trains, and a few per cent that nobody can explain. 1 for a DGX H100 with 2 TiB. How
/// vendors compare, not what any of them promises.
double post_share(std::string_view vendor, double memory_bytes, Draw of);

}  // namespace cupel::rehearsal
