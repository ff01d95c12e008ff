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
/// Bytes of one name, so that all of them together are bounded too.
inline constexpr std::size_t kLongestName = 300;
inline constexpr std::size_t kWidestNumber = 32;  // digits in brackets

/// How many names a range gives, without writing them out. Errors: as expand().
Result<std::size_t> count_names(std::string_view range);

/// The names in order; a text without brackets is one name. Several brackets multiply, the last one
/// fastest. Leading zeros are kept: "[08-11]" is 08 09 10 11. Commas outside of brackets part
/// ranges. Errors: kInvalid, naming the place in the text: no range, or more or longer names than
/// the limits above, which is found before any name is made. Source: Slurm, man scontrol, "hostlist
/// expressions".
Result<std::vector<std::string>> expand(std::string_view range);

/// A short range that names them all: "a01-n[01-03,07]", "v[01-16]-n[1-4]". The last four numbers
/// of a name are folded; expand() gives back the same names, each once.
std::string fold(std::span<const std::string> names);

/// The same with the last number of a name alone, as every version of Slurm reads it:
/// "v01-n[1-4],v02-n[1-4]".
std::string fold_last(std::span<const std::string> names);

}  // namespace cupel::inventory
