#pragma once
// The parameters of a playbook, with the values that they have. read_parameters.h reads them.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cupel::playbooks {

/// Values by name: what is given on the command line.
using Arguments = std::map<std::string, std::string, std::less<>>;

/// One that a playbook declares.
struct Parameter {
  std::string name;
  std::string description{};
  std::string type = "text";
  std::optional<std::string> fallback{};
  std::vector<std::string> values{};  // all that it may be; empty: anything of its type
  std::string value{};
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

}  // namespace cupel::playbooks
