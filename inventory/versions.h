#pragma once
// The order of two versions of one firmware, as vendors write them, and patterns of names. Pure.
#include <compare>
#include <string_view>

namespace cupel::inventory {

/// Which of two versions of the same firmware is the later one. `unordered` where the texts leave
/// more than one reading, or are of different families ("U54 v2.30", "U58 v2.44"): nothing is
/// guessed, because a downgrade may brick a machine.
///
/// Numbers are compared as numbers ("24.9" and "24.09" are equal, "2.10" is after "2.9"), groups of
/// as many upper-case hexadecimal digits as such ("4A" is after "35"), a letter after its number
/// follows ("1.0b" is after "1.0"), and alpha, beta and rc precede. A date decides between equal
/// numbers: "U54 v2.30 (02/26/2024)", "2.72 Sep 04 2022", "BIOS Date: 08/04/2023 Ver 1.4". A
/// version without the family's name fits one with it.
std::partial_ordering compare_versions(std::string_view one, std::string_view other);

/// As text, or as compare_versions() reads it: "24.9.17" is "24.09.17".
bool same_version(std::string_view one, std::string_view other);

/// Whether one of them is the other without its last numbers: "23.11" of "23.11.21". IPMI tells two
/// numbers of a BMC's version (IPMI 2.0, 20.1), Redfish all of them.
bool abbreviates(std::string_view one, std::string_view other);

/// Whether `text` is as `pattern` says, where `*` stands for any characters, or none. Case does not
/// matter.
bool fits_pattern(std::string_view pattern, std::string_view text);

}  // namespace cupel::inventory
