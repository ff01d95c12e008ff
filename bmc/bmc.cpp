#include "bmc/bmc.h"

namespace cupel::bmc {

// Here, so that what a missing verb says is compiled once.
Bmc::Bmc() = default;
Bmc::~Bmc() = default;

}  // namespace cupel::bmc
