#pragma once
// `psu`: the machine's load goes up and down in steps while its BMC is read: do the supplies share
// it, does the input hold, does each stay well?
#include "burnin/stage.h"

namespace cupel::burnin {

Stage psu();

}  // namespace cupel::burnin
