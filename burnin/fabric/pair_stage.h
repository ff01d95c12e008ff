#pragma once
// The stage that measures a fabric by pairs, with perftest, and names its slow parts.
#include "burnin/stage.h"

namespace cupel::burnin {

Stage fabric_pairs();

}  // namespace cupel::burnin
