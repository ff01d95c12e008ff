#pragma once
// What taking away one feed of a node after the other has shown. Pure: the taking is
// orchestrator/steps/feed_watch.h.
#include "burnin/board/supply_readings.h"
#include "burnin/stage.h"

namespace cupel::burnin {

/// The phase of `psu` in which feeds go.
inline constexpr std::string_view kFeedPhase = "feeds";

/// Of each feed ("feed1"): `psu.feed.tested` (0: it proves nothing, and why), and where it was
/// tried `psu.feed.carried` (whether the node went on), `psu.feed.lost` (supplies that missed it:
/// none says that it is not this node's), `psu.feed.back` (whether all supplies were well behind
/// it).
void add_feeds(const SupplyTranscript& reported, Findings& findings);

}  // namespace cupel::burnin
