#pragma once
// How a playbook declares its parameters, and `${name}` where their values go. Which places of a
// playbook may carry them is reported in format.h.
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/problem.h"
#include "inventory/yaml.h"
#include "playbooks/parameter.h"
#include "playbooks/shape.h"

namespace cupel::playbooks {

/// A value that somebody gave, and where that stands.
struct Given {
  std::string value;
  inventory::Place where;
};
using Givens = std::map<std::string, Given, std::less<>>;

/// What `parameters:` declares, with the values that count. Problems: a value that was given for
/// none, that is not what its parameter must be, or that nobody gave. What is not declared as it
/// should be is passed over: the format's check says so.
std::vector<Parameter> read_parameters(const inventory::YamlValue& playbook,
                                       const std::string& file, const Givens& given,
                                       std::vector<inventory::Problem>& problems);

/// `text` with each "${name}" replaced by its value. One that has none stays as it is, and its name
/// goes into `unknown`, where that is requested. Values are not looked at again: there is no
/// recursion.
std::string filled_in(std::string_view text, const Arguments& values,
                      std::set<std::string>* unknown = nullptr);

/// Puts values where the format allows them. One for a whole playbook: it counts what it made.
class Filler {
 public:
  explicit Filler(std::vector<inventory::Problem>& problems) : problems_{problems} {}

  /// Into `value`, which should have this shape. `used`: which of the values were.
  void fill(inventory::YamlValue& value, const Shape& shape, const Arguments& values,
            const std::string& file, std::set<std::string>& used);

 private:
  struct Source {
    const Arguments& values;
    const std::string& file;
    std::set<std::string>& used;
  };
  void fill_map(inventory::YamlValue& value, const Shape& shape, const Source& source);
  void fill_all(inventory::YamlValue& value, const Source& source);
  void fill_text(inventory::YamlValue& value, const Source& source);

  std::vector<inventory::Problem>& problems_;
  std::size_t made_ = 0;  // bytes
};

}  // namespace cupel::playbooks
