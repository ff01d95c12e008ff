#include "inventory/read_power.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "inventory/names.h"
#include "inventory/node_range.h"
#include "inventory/read_access.h"
#include "inventory/read_rack.h"
#include "inventory/user_data.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;

/// Rooms, racks, PDUs and breakers of a site; also how often one of them may be in the others.
constexpr std::size_t kMostLevels = 200'000;
constexpr std::size_t kEnoughProblemsOfPower = 10 * kMostProblems;  // nobody reads on

/// The names of `range`, which stands at `where`, each of which stands in so many `parents`.
std::vector<std::string> names_in(YamlFields& fields, const std::string& range, const Place& where,
                                  Named named, std::size_t parents, const Inventory& into) {
  if (range.empty()) return {};
  const auto count = count_names(range);
  const auto already = into.power.size() + into.racks.size();
  std::optional<std::string> fault;
  if (!count)
    fault = count.error().what;
  else if (already + *count * parents > kMostLevels)
    fault = fmt::format("more than {} racks, rooms, PDUs and breakers", kMostLevels);
  std::vector<std::string> names;
  if (!fault) {
    auto expanded = expand(range);
    if (expanded) names = *std::move(expanded);
    fault = fault_in_names(named, names);
  }
  if (!fault) return names;
  fields.report(where, *fault);
  return {};
}

/// Those under `name:`.
std::vector<std::string> names_of(YamlFields& fields, Named named, std::size_t parents,
                                  const Inventory& into) {
  const auto range = fields.required("name");
  return names_in(fields, range, fields.place("name"), named, parents, into);
}

double watts_of(YamlFields& fields) {
  const auto watts = fields.number("watts");
  if (!fields.has("watts")) fields.required("watts");
  if (watts && *watts <= 0) fields.report(fields.place("watts"), "watts must be more than 0");
  return watts.value_or(0);
}

/// Levels of the power tree by their kind and name, in the order of the file in `into.power`.
class Levels {
 public:
  Levels(Inventory& into, Problems& problems) : into_{into}, problems_{problems} {
    for (std::size_t i = 0; i < into.power.size(); ++i) where_.emplace(key(into.power[i]), i);
  }
  void add(PowerNode node) {
    const auto [found, fresh] = where_.try_emplace(key(node), into_.power.size());
    if (fresh) {
      into_.power.push_back(std::move(node));
      return;
    }
    const auto& other = into_.power[found->second];
    problems_.push_back(
        {node.where, fmt::format("'{}' stands already at {}", node.name, to_string(other.where))});
  }
  bool has_room(const std::string& name) const {
    return where_.contains({PowerNode::Kind::room, name});
  }

 private:
  using Key = std::pair<PowerNode::Kind, std::string>;
  static Key key(const PowerNode& node) { return {node.kind, node.name}; }

  Inventory& into_;
  Problems& problems_;
  std::map<Key, std::size_t> where_{};
};

void read_breakers(YamlFields& pdu, const std::vector<std::string>& pdus, const Inventory& into,
                   Levels& levels, Problems& problems) {
  for (const auto& item : pdu.list("breakers")) {
    YamlFields fields{item, "breaker", into.file, problems};
    const auto names = names_of(fields, Named::breaker, pdus.size(), into);
    const auto watts = watts_of(fields);
    const auto where = fields.place();
    fields.finish();
    for (const auto& parent : pdus)
      for (const auto& name : names)
        levels.add({PowerNode::Kind::breaker, parent + "/" + name, watts, parent, where});
  }
}

void read_pdus(YamlFields& rack, const std::vector<std::string>& racks,
               const std::filesystem::path& folder, Inventory& into, Levels& levels,
               Problems& problems) {
  for (const auto& item : rack.list("pdus")) {
    YamlFields fields{item, "pdu", into.file, problems};
    const auto names = names_of(fields, Named::pdu, racks.size(), into);
    const auto watts = watts_of(fields);
    std::vector<std::string> full;
    for (const auto& parent : racks)
      for (const auto& name : names) {
        full.push_back(parent + "/" + name);
        levels.add({PowerNode::Kind::pdu, full.back(), watts, parent, fields.place()});
      }
    read_breakers(fields, full, into, levels, problems);
    if (const auto* access = fields.value("redfish")) {
      AccessFields redfish{access, nullptr, "redfish", into.file, folder, problems};
      for (auto& pdu : redfish.pdus(full, fields.place("redfish")))
        into.pdus.push_back(std::move(pdu));
    }
    fields.finish();
  }
}

/// Names of racks that were read.
using RackNames = std::unordered_set<std::string>;

void read_rack(const YamlValue& item, const std::filesystem::path& folder, Inventory& into,
               Levels& levels, RackNames& seen, Problems& problems) {
  const auto& file = into.file;
  YamlFields fields{item, "rack", file, problems};
  const Place key{file, item.key_line, item.key_column};
  const bool by_key = !item.key.empty();
  const auto names = by_key ? names_in(fields, item.key, key, Named::rack, 1, into)
                            : names_of(fields, Named::rack, 1, into);
  const auto where = by_key ? key : fields.place("name");
  for (const auto part : kRackPartKeys) fields.has(part);  // read_rack.h
  const auto room = fields.text("room").value_or("");
  const auto units = static_cast<int>(fields.integer("units", 1, 100).value_or(48));
  const auto watts = fields.number("watts");
  if (!room.empty() && !levels.has_room(room)) {
    std::vector<std::string> rooms;
    for (const auto& level : into.power)
      if (level.kind == PowerNode::Kind::room) rooms.push_back(level.name);
    fields.report(fields.place("room"),
                  "there is no room '" + room + "'" + did_you_mean(room, std::span{rooms}));
  }
  const auto user_data = read_os(fields.value("os"), folder, file, problems);
  for (const auto& name : names) {
    if (!seen.insert(name).second) fields.report(where, "rack '" + name + "' stands twice");
    into.racks.push_back({name, room, units, where, user_data});
    if (watts) levels.add({PowerNode::Kind::rack, name, *watts, room, fields.place()});
  }
  read_pdus(fields, names, folder, into, levels, problems);
  fields.finish();
}

}  // namespace

void read_rooms(YamlFields& site, Inventory& into, Problems& problems) {
  Levels levels{into, problems};
  for (const auto& item : site.list("rooms")) {
    YamlFields fields{item, "room", into.file, problems};
    const auto names = names_of(fields, Named::room, 1, into);
    const auto watts = watts_of(fields);
    for (const auto& name : names)
      levels.add({PowerNode::Kind::room, name, watts, "", fields.place()});
    fields.finish();
  }
}

void read_racks(YamlFields& site, const std::filesystem::path& folder, Inventory& into,
                Problems& problems) {
  Levels levels{into, problems};
  RackNames seen;
  for (const auto* item : rack_items(site, problems, into.file)) {
    if (problems.size() > kEnoughProblemsOfPower) return;
    read_rack(*item, folder, into, levels, seen, problems);
  }
}

void check_power(const Inventory& inventory, Problems& problems) {
  std::unordered_map<std::string_view, const PowerNode*> levels;
  for (const auto& level : inventory.power) levels.emplace(level.name, &level);
  std::unordered_map<std::string_view, std::string_view> rooms;
  for (const auto& rack : inventory.racks) rooms.emplace(rack.name, rack.room);
  std::unordered_map<const PowerNode*, double> drawn;
  std::unordered_map<const PowerNode*, int> count;
  for (const auto& node : inventory.nodes) {
    std::unordered_set<const PowerNode*> above;
    const auto climb = [&](std::string_view name) {
      for (auto at = levels.find(name); at != levels.end(); at = levels.find(at->second->parent))
        above.insert(at->second);
    };
    // A rack without watts of its own still stands in its room.
    if (const auto room = rooms.find(node.rack); room != rooms.end()) climb(room->second);
    climb(node.rack);
    for (const auto& feed : node.feeds) climb(feed);
    for (const auto* level : above) {
      drawn[level] += inventory.profile_of(node).draw.idle_watts;
      ++count[level];
    }
  }
  constexpr std::array<std::string_view, 4> kWords{"room", "rack", "PDU", "breaker"};
  for (const auto& level : inventory.power) {
    if (drawn[&level] <= level.watts) continue;
    problems.push_back(
        {level.where,
         fmt::format("{} '{}' is overfilled: {} nodes draw {} W though they only idle, "
                     "and it carries {} W",
                     kWords[static_cast<std::size_t>(level.kind)], level.name, count[&level],
                     plain(drawn[&level], 0), plain(level.watts, 0))});
  }
}

}  // namespace cupel::inventory
