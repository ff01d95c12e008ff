#pragma once
// Ranges of names as Slurm and ClusterShell write them: "a01-n[01-08,12]", "10.0.1.[11-18]",
// "n[0-9/3]" (a step, as in ClusterShell). Pure text; knows no inventory.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::inventory {

/// At most so many names from one range.
inline constexpr std::size_t kMostNames = 100'000;

/// The names in order; a text without brackets is one name. Several brackets multiply, the last one
/// fastest. Leading zeros are kept: "[08-11]" is 08 09 10 11. Commas outside of brackets part
/// ranges. Errors: kInvalid, naming the place in the text. Source: Slurm, man scontrol, "hostlist
/// expressions".
Result<std::vector<std::string>> expand(std::string_view range);

/// The shortest range that names them all: "a01-n[01-03,07]". The last number of a name is folded.
std::string fold(std::span<const std::string> names);

}  // namespace cupel::inventory
