#pragma once
// Which command an error names for a device. Nodes have BMCs that `cupel bmc` reaches; a rack's
// trays, switches and shelves ("a01/switch1") are the inventory's alone.
#include <string>
#include <string_view>

namespace cupel::bmc {

/// Whether it is a device of a rack that is one machine, and no node.
bool is_of_rack(std::string_view name);

/// "run: cupel bmc a01-n07 retry-login": for credentials that were refused and are right now.
std::string advice_to_retry(const std::string& name);

/// What to do where another certificate is presented, and this was meant.
std::string advice_to_accept(const std::string& name, std::string_view presented);

}  // namespace cupel::bmc
