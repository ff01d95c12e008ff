#pragma once
// The stage that reads how a node is set up for RoCE: what a switch's lossless class needs from
// both ends before a bandwidth means anything.
#include "burnin/stage.h"

namespace cupel::burnin {

Stage roce();

}  // namespace cupel::burnin
