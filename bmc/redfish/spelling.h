#pragma once
// How BMCs write what everybody writes in a way of his own: MAC addresses, versions, dates. Pure;
// the reported text stays with whoever reported it.
#include <optional>
#include <string>
#include <string_view>

#include "bmc/bmc.h"

namespace cupel::bmc::redfish {

/// "aa:bb:cc:00:11:22" of a MAC with colons, dashes or nothing between its digits, in any case;
/// nothing of what is none: "Not Available", a GUID, all zeros or ones, a group address.
std::optional<std::string> canonical_mac(std::string_view reported);

/// Whether somebody made it up for a virtual wire: the locally administered bit (IEEE 802, 8.2).
bool is_local_mac(std::string_view canonical);

/// What to hold against another version: without blanks around it, without the name of what it is
/// a version of ("GB200Nvl-24.10-1", "xx-1.2", "AFBT46G-3.60", "... Ver 1.4"); empty where there is
/// no digit in it ("no valid golden_image_arm!!!!").
std::string canonical_version(std::string_view reported);

/// The moment in UTC, of a date as DSP0266 wants it (6.5.5.6, ISO 8601) or nearly so: seconds may
/// be missing, and where the zone is, UTC is meant. Nothing where a BMC without a clock made it up:
/// 0000-00-00, 1970, 2000, 9999.
std::optional<Seconds> moment_of(std::string_view reported);

/// "OK", "Warning", "Critical", or empty where it says none of these in any known word.
std::string canonical_severity(std::string_view reported);

}  // namespace cupel::bmc::redfish
