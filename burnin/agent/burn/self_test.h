#pragma once
// How a self-test ends: what was found of what was planted, and whether there was time for all.
#include <string_view>

#include "burnin/agent/burn/failure.h"
#include "burnin/agent/burn/report.h"
#include "burnin/agent/burn/stop.h"

namespace cupel::burn {

/// `tried` of `asked` were planted before it was over. Errors: refused, where the time did not
/// suffice; that a signal stopped it is no error.
Outcome<> tell_self_test(Report& report, const Stop& stop, std::string_view planted,
                         std::uint64_t found, int tried, int asked, std::string_view detail);

}  // namespace cupel::burn
