#pragma once
// Values of BIOS settings, compared as a BIOS compares them. Pure: staging and reading are verbs of
// the BMC (bmc/facets.h), and orchestrator/settings converges.
#include "bmc/answers.h"

namespace cupel::bmc {

/// The same to a BIOS: 5, 5.0 and "5"; true and "true".
bool same_setting(const BiosValue& one, const BiosValue& other);

/// As a person would type it.
std::string to_text(const BiosValue& value);

/// What `requested` makes different from `settings` once it has booted; empty: nothing.
BiosValues differing(const BiosValues& requested, const BiosSettings& settings);

}  // namespace cupel::bmc
