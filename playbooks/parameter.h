#pragma once
// The parameters of a playbook, and `${name}` where their values go. Pure text; which places of a
// playbook may carry them is said in format.h.
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace cupel::playbooks {

/// Values by name: what is said on the command line, or by an `include:`.
using Arguments = std::map<std::string, std::string, std::less<>>;

/// `text` with each "${name}" replaced by its value. One that has none stays as it is, and its name
/// goes into `unknown`, where that is wanted. Values are not looked at again: there is no
/// recursion.
std::string filled_in(std::string_view text, const Arguments& values,
                      std::set<std::string>* unknown = nullptr);

}  // namespace cupel::playbooks
