#pragma once
// The stage that compares the cables of a group of nodes with the site's plan, by what
// ibnetdiscover reports on one of them.
#include "burnin/stage.h"

namespace cupel::burnin {

Stage fabric_cables();

}  // namespace cupel::burnin
