#pragma once
// Plain TCP between two nodes, over the addresses that the inventory has: one connection each way.
#include "burnin/stage.h"

namespace cupel::burnin {

Stage tcp_pair();

}  // namespace cupel::burnin
