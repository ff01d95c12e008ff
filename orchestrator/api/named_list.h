#pragma once
// Lists in files of the service whose entries have names.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "inventory/yaml.h"

namespace cupel::api {

struct NamedList {
  const char* key;   // "schedules"
  const char* item;  // "schedule": what messages call one
  std::size_t most;
};

/// Entries as `read(YamlFields&, const YamlValue&)` gives them of their fields and their maps; each
/// has a `name`. More than `most` of them and two of one name are problems.
template <class Read>
auto read_named(inventory::YamlFields& above, const NamedList& list, const std::string& file,
                std::vector<inventory::Problem>& problems, Read read) {
  using Item = std::invoke_result_t<Read, inventory::YamlFields&, const inventory::YamlValue&>;
  std::vector<Item> read_items;
  const auto items = above.list(list.key);
  if (items.size() > list.most) {
    above.report(above.place(list.key), fmt::format("are {} at most", list.most));
    return read_items;
  }
  for (const auto& each : items) {
    inventory::YamlFields fields{each, list.item, file, problems};
    auto item = read(fields, each);
    if (std::ranges::find(read_items, item.name, &Item::name) != read_items.end())
      fields.report(fields.place("name"), fmt::format("'{}' is here twice", item.name));
    read_items.push_back(std::move(item));
  }
  return read_items;
}

}  // namespace cupel::api
