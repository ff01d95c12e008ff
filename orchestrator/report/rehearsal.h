#pragma once
// What every text of a rehearsal begins with, so that nobody takes it for proof of a real machine.
#include <string_view>

namespace cupel::report {

inline constexpr std::string_view kRehearsal =
    "REHEARSAL: virtual machines, invented numbers; no proof of any real machine";

}  // namespace cupel::report
