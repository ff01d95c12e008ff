#include "inventory/read_nodes.h"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "inventory/node_range.h"
#include "inventory/read_access.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;
constexpr std::size_t kMostNodes = 100'000;
constexpr std::size_t kMostOutlets = 12;  // of one feed of one node

/// A field with one value for each node: as many as there are nodes, or a divisor of that, each
/// value then serving the same number of nodes in a row (8 nodes over b[1-4]: two on each breaker).
class Zipped {
 public:
  Zipped(YamlFields& fields, std::string_view key, std::size_t nodes) : nodes_{nodes} {
    for (const auto& range : fields.texts(key)) append(fields, key, range);
    check(fields, key);
  }
  bool empty() const { return values_.empty(); }
  std::string at(std::size_t node) const {
    return values_.empty() ? std::string{} : values_[node * values_.size() / nodes_];
  }

 private:
  void append(YamlFields& fields, std::string_view key, const std::string& range) {
    auto expanded = expand(range);
    if (!expanded) {
      fields.report(fields.place(key), expanded.assume_error().what);
      return;
    }
    for (auto& value : expanded.assume_value()) values_.push_back(std::move(value));
  }
  void check(YamlFields& fields, std::string_view key) {
    if (values_.empty() || nodes_ % values_.size() == 0) return;
    fields.report(fields.place(key),
                  fmt::format("{} has {} values for {} nodes: give one for each, "
                              "or a number that divides them evenly",
                              key, values_.size(), nodes_));
    values_.clear();
  }

  std::size_t nodes_;
  std::vector<std::string> values_{};
};

/// One item of `nodes:` with what `defaults:` says behind it.
class NodeReader {
 public:
  NodeReader(const YamlValue& item, const YamlValue* defaults, const std::filesystem::path& folder,
             Inventory& into, Problems& problems)
      : fields_{item, "node", into.file, problems},
        defaults_{defaults},
        folder_{folder},
        into_{into},
        problems_{problems} {}

  void read() {
    const auto names = expanded_names();
    if (names.empty()) {
      fields_.finish();
      return;
    }
    const auto count = names.size();
    const Zipped rack{fields_, "rack", count};
    const Zipped unit{fields_, "unit", count};
    const Zipped serial{fields_, "serial", count};
    const Zipped slurm{fields_, "slurm_name", count};
    const Zipped host_name{fields_, "host_name", count};
    const auto feeds = read_feeds(count);
    const auto profile = fields_.text("profile").value_or(default_text("profile"));
    if (profile.empty())
      fields_.report(fields_.place(), "node needs a profile, here or in defaults");
    const auto bmc =
        AccessFields{
            fields_.value("bmc"), default_value("bmc"), "bmc", into_.file, folder_, problems_}
            .bmc(count, fields_.place());
    const auto ssh =
        AccessFields{
            fields_.value("ssh"), default_value("ssh"), "ssh", into_.file, folder_, problems_}
            .ssh(count, fields_.place());
    fields_.finish();
    for (std::size_t i = 0; i < count; ++i) {
      Node node;
      node.name = names[i];
      node.profile = profile;
      node.rack = rack.at(i);
      node.unit = unit_of(unit, i);
      for (const auto& [breaker, outlet] : feeds) {
        node.feeds.push_back(node.rack + "/" + breaker.at(i));
        node.outlets.push_back(outlet.at(i));
      }
      node.bmc = bmc[i];
      node.ssh = ssh[i];
      node.serial = serial.at(i);
      node.slurm_name = slurm.empty() ? node.name : slurm.at(i);
      node.host_name = host_name.empty() ? default_text("host_name") : host_name.at(i);
      node.where = fields_.place("name");
      into_.nodes.push_back(std::move(node));
    }
  }

 private:
  const YamlValue* default_value(std::string_view key) const {
    const auto* entry = defaults_ == nullptr ? nullptr : defaults_->entry(key);
    return entry == nullptr || entry->kind == YamlValue::Kind::null ? nullptr : entry;
  }
  std::string default_text(std::string_view key) const {
    const auto* entry = default_value(key);
    return entry == nullptr ? std::string{} : entry->text;
  }
  std::vector<std::string> expanded_names() {
    const auto range = fields_.required("name");
    if (range.empty()) return {};
    auto names = expand(range);
    if (!names) {
      fields_.report(fields_.place("name"), names.assume_error().what);
      return {};
    }
    if (into_.nodes.size() + names.assume_value().size() > kMostNodes) {
      fields_.report(fields_.place("name"), fmt::format("more than {} nodes", kMostNodes));
      return {};
    }
    return std::move(names).assume_value();
  }
  struct Feed {
    Zipped breaker, outlet;
  };
  std::vector<Feed> read_feeds(std::size_t count) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kFeeds{
        {{"breaker", "outlet"}, {"second_breaker", "second_outlet"}}};
    std::vector<Feed> feeds;
    for (const auto& [breaker, outlet] : kFeeds) {
      const bool has_outlet = fields_.has(outlet);
      if (fields_.has(breaker))
        feeds.push_back({{fields_, breaker, count}, {fields_, outlet, count}});
      else if (has_outlet)
        fields_.report(fields_.place(outlet),
                       fmt::format("{} needs {}: its PDU is that breaker's", outlet, breaker));
    }
    std::erase_if(feeds, [](const Feed& feed) { return feed.breaker.empty(); });
    return feeds;
  }
  int unit_of(const Zipped& unit, std::size_t node) {
    const auto word = unit.at(node);
    if (word.empty()) return 0;
    const auto found = number<int>(word);
    if (found && *found >= 1 && *found <= 100) return *found;
    fields_.report(fields_.place("unit"),
                   "unit must be a whole number from 1 to 100, not '" + word + "'");
    return 0;
  }

  YamlFields fields_;
  const YamlValue* defaults_;
  const std::filesystem::path& folder_;
  Inventory& into_;
  Problems& problems_;
};

/// Remembers where each word was first used, and reports its second use.
class Once {
 public:
  Once(std::string what, Problems& problems) : what_{std::move(what)}, problems_{problems} {}
  /// False where it was used before, which is a problem.
  bool use(const std::string& word, const Node& node) {
    if (word.empty()) return true;
    const auto [found, fresh] = seen_.try_emplace(word, &node);
    if (fresh) return true;
    problems_.push_back(
        {node.where, fmt::format("{} {} of node '{}' is already that of '{}' ({})", what_, word,
                                 node.name, found->second->name, to_string(found->second->where))});
    return false;
  }

 private:
  std::string what_;
  Problems& problems_;
  std::unordered_map<std::string, const Node*> seen_{};
};

/// What nodes point at. A name that is not there is compared with all that are, which is slow: the
/// same wrong name is looked up once, and after many none any more.
class Names {
 public:
  void add(const std::string& name) {
    if (known_.insert(name).second) all_.push_back(name);
  }
  bool has(const std::string& name) const { return known_.contains(name); }
  std::string hint(const std::string& wrong) {
    const auto [found, fresh] = hints_.try_emplace(wrong);
    if (fresh && hints_.size() <= kMostHints) found->second = did_you_mean(wrong, std::span{all_});
    return found->second;
  }

 private:
  static constexpr std::size_t kMostHints = 20;

  std::unordered_set<std::string> known_;
  std::vector<std::string> all_;
  std::map<std::string, std::string, std::less<>> hints_;
};

/// Everything that the nodes of one inventory are held against.
struct Known {
  explicit Known(const Inventory& inventory) {
    for (const auto& rack : inventory.racks) {
      rack_names.add(rack.name);
      racks.emplace(rack.name, &rack);
    }
    for (const auto& level : inventory.power)
      if (level.kind == PowerNode::Kind::breaker) breakers.add(level.name);
  }
  std::unordered_map<std::string_view, const Rack*> racks;
  Names rack_names;
  Names breakers;
};

void check_place(const Inventory& inventory, const Node& node, Known& known, Once& units,
                 Problems& problems) {
  if (node.rack.empty()) return;
  const auto found = known.racks.find(node.rack);
  if (found == known.racks.end()) {
    problems.push_back({node.where, "node '" + node.name + "': there is no rack '" + node.rack +
                                        "'" + known.rack_names.hint(node.rack)});
    return;
  }
  if (node.unit == 0) return;
  const auto& rack = *found->second;
  const auto height = inventory.profile_of(node).units;
  if (node.unit + height - 1 > rack.units)
    problems.push_back(
        {node.where, fmt::format("node '{}' of {} units at unit {} does not fit into "
                                 "rack '{}' of {} units",
                                 node.name, height, node.unit, rack.name, rack.units)});
  for (int unit = node.unit; unit < node.unit + height && unit <= rack.units; ++unit)
    units.use(fmt::format("{} of rack {}", unit, node.rack), node);
}

void check_feeds(const Inventory& inventory, const Node& node, Names& breakers, Once& outlets,
                 Problems& problems) {
  for (std::size_t i = 0; i < node.feeds.size(); ++i) {
    const auto& feed = node.feeds[i];
    const auto& outlet = node.outlets[i];
    if (!breakers.has(feed)) {
      problems.push_back({node.where, "node '" + node.name + "': there is no breaker '" + feed +
                                          "'" + breakers.hint(feed)});
      continue;
    }
    if (outlet.empty()) continue;
    const auto* pdu = inventory.pdu_of(feed);
    if (pdu == nullptr) {
      problems.push_back({node.where, fmt::format("node '{}': the PDU of breaker '{}' has no "
                                                  "redfish: by which outlet {} could be switched",
                                                  node.name, feed, outlet)});
      continue;
    }
    const auto names = outlet_names(outlet);
    if (names.size() > kMostOutlets)
      problems.push_back({node.where, fmt::format("node '{}': {} outlets of one feed, and {} are "
                                                  "possible",
                                                  node.name, names.size(), kMostOutlets)});
    for (const auto name : names) outlets.use(std::string{name} + " of PDU " + pdu->name, node);
  }
}

}  // namespace

void read_nodes(YamlFields& site, const YamlValue* defaults, const std::filesystem::path& folder,
                Inventory& into, Problems& problems) {
  if (defaults != nullptr) {
    YamlFields known{*defaults, "defaults", into.file, problems};
    for (const auto key : {"profile", "bmc", "ssh"}) known.has(key);
    if (const auto name = known.text("host_name"); name && *name != kAnyHostName)
      known.report(known.place("host_name"),
                   fmt::format("host_name in defaults can only be '{}': a name is one node's",
                               kAnyHostName));
    known.finish();
    check_access_defaults(*defaults, into.file, problems);
  }
  for (const auto& item : site.list("nodes"))
    NodeReader{item, defaults, folder, into, problems}.read();
}

void check_nodes(const Inventory& inventory, Problems& problems) {
  Once names{"name", problems};
  Once slurm_names{"Slurm name", problems};
  Once bmcs{"BMC address", problems};
  Once ipmi{"IPMI address", problems};
  Once macs{"BMC MAC", problems};
  Once ssh{"SSH address", problems};
  Once serials{"serial", problems};
  Once units{"unit", problems};
  Once outlets{"outlet", problems};
  Known known{inventory};
  for (const auto& node : inventory.nodes) {
    // A node that is there twice is one error, not one for each of its names.
    const bool fresh = names.use(node.name, node);
    if (fresh || node.slurm_name != node.name) slurm_names.use(node.slurm_name, node);
    bmcs.use(node.bmc.endpoint.host.empty() ? "" : to_string(node.bmc.endpoint), node);
    if (node.bmc.ipmi && !node.bmc.ipmi->endpoint.host.empty())
      ipmi.use(to_string(node.bmc.ipmi->endpoint), node);
    macs.use(node.bmc.mac, node);
    ssh.use(node.ssh.endpoint.host.empty() ? "" : to_string(node.ssh.endpoint), node);
    serials.use(node.serial, node);
    if (inventory.profiles.contains(node.profile))
      check_place(inventory, node, known, units, problems);
    check_feeds(inventory, node, known.breakers, outlets, problems);
  }
}

}  // namespace cupel::inventory
