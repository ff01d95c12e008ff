#pragma once
// How an inventory of a virtual rack is known from one of real machines.
#include <string_view>

namespace cupel::inventory {

/// Its first line.
inline constexpr std::string_view kRehearsalMark =
    "# REHEARSAL: a virtual rack wrote this file; no address in it is a real machine's";

}  // namespace cupel::inventory
