#include "inventory/read_nodes.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/text.h"
#include "inventory/names.h"
#include "inventory/node_range.h"
#include "inventory/read_access.h"
#include "inventory/read_bmc.h"
#include "inventory/read_boot.h"
#include "inventory/read_network.h"
#include "inventory/user_data.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;
constexpr std::size_t kMostNodes = 100'000;
constexpr std::size_t kEnoughProblems = 10 * kMostProblems;  // nobody reads on

constexpr std::array<std::string_view, 18> kNodeKeys{
    "name",       "profile",         "rack",      "unit",
    "breaker",    "second_breaker",  "outlet",    "bmc",
    "ssh",        "serial",          "host_name", "second_outlet",
    "slurm_name", "kubernetes_name", "boot",      "scheduler",
    "os",         "network"};

/// A field with one value for each node: as many as there are nodes, or a divisor of that, each
/// value then serving the same number of nodes in a row (8 nodes over b[1-4]: two on each breaker).
class Zipped {
 public:
  Zipped(YamlFields& fields, std::string_view key, std::size_t nodes,
         std::optional<Named> named = std::nullopt)
      : nodes_{nodes} {
    const auto ranges = fields.texts(key);
    if (!fits(fields, key, ranges)) return;
    for (const auto& range : ranges) append(range);
    const auto fault = named ? fault_in_names(*named, values_) : std::nullopt;
    if (!fault) return;
    fields.report(fields.place(key), *fault);
    values_.clear();
  }
  bool empty() const { return values_.empty(); }
  std::string at(std::size_t node) const {
    return values_.empty() ? std::string{} : values_[node * values_.size() / nodes_];
  }

 private:
  /// How many there are is found without writing them out.
  bool fits(YamlFields& fields, std::string_view key, const std::vector<std::string>& ranges) {
    std::size_t values = 0;
    for (const auto& range : ranges) {
      const auto count = count_names(range);
      if (!count) {
        fields.report(fields.place(key), count.error().what);
        return false;
      }
      values += *count;
    }
    if (values == 0 || (values <= nodes_ && nodes_ % values == 0)) return values > 0;
    fields.report(fields.place(key),
                  fmt::format("{} has {} values for {} nodes: give one for each, "
                              "or a number that divides them evenly",
                              key, values, nodes_));
    return false;
  }
  void append(const std::string& range) {
    auto expanded = expand(range);
    if (!expanded) return;
    for (auto& value : *expanded) values_.push_back(std::move(value));
  }

  std::size_t nodes_;
  std::vector<std::string> values_{};
};

using Data = std::shared_ptr<const UserData>;

/// User data of the site and of racks, by the rack's name.
struct SharedData {
  Data site{};
  std::map<std::string, Data, std::less<>> racks{};

  UserDataLayers of(const std::string& rack, const Data& own) const {
    UserDataLayers layers;
    if (site) layers.push_back(site);
    if (const auto found = racks.find(rack); found != racks.end()) layers.push_back(found->second);
    if (own) layers.push_back(own);
    return layers;
  }
};

SharedData shared_data(const YamlValue* site, const std::filesystem::path& folder,
                       const Inventory& inventory, Problems& problems) {
  SharedData shared{.site = read_os(site, folder, inventory.file, problems)};
  for (const auto& rack : inventory.racks)
    if (rack.user_data) shared.racks.emplace(rack.name, rack.user_data);
  return shared;
}

/// One item of `nodes:` with what `defaults:` says behind it.
class NodeReader {
 public:
  NodeReader(const YamlValue& item, const YamlValue* defaults, const SharedData& data,
             const std::filesystem::path& folder, Inventory& into, Problems& problems)
      : fields_{item, "node", into.file, problems},
        defaults_{defaults},
        data_{data},
        folder_{folder},
        into_{into},
        problems_{problems} {}

  void read() {
    const auto names = expanded_names();
    if (names.empty()) {
      // What else stands there cannot be read without the names, but is known.
      for (const auto key : kNodeKeys) fields_.has(key);
      fields_.finish();
      return;
    }
    const auto count = names.size();
    const Zipped rack{fields_, "rack", count, Named::rack};
    const Zipped unit{fields_, "unit", count};
    const Zipped serial{fields_, "serial", count};
    const Zipped slurm{fields_, "slurm_name", count, Named::slurm_node};
    const Zipped kubernetes{fields_, "kubernetes_name", count, Named::node};
    const auto schedulers = read_schedulers_of_node();
    const auto host_name = host_names(count);
    const auto feeds = read_feeds(count);
    const auto profile = fields_.text("profile").value_or(default_text("profile"));
    if (profile.empty())
      fields_.report(fields_.place(), "node needs a profile, here or in defaults");
    else if (const auto fault = fault_in_name(Named::profile, profile))
      fields_.report(fields_.place(fields_.has("profile") ? "profile" : "name"), *fault);
    const auto bmc =
        AccessFields{
            fields_.value("bmc"), default_value("bmc"), "bmc", into_.file, folder_, problems_}
            .bmc(count, fields_.place());
    const auto ssh =
        AccessFields{
            fields_.value("ssh"), default_value("ssh"), "ssh", into_.file, folder_, problems_}
            .ssh(count, fields_.place());
    const auto boot = read_node_boot(fields_.value("boot"), count, into_.file, problems_);
    const auto networks = read_node_network(fields_.value("network"), count, into_.file, problems_);
    const auto data = read_os(fields_.value("os"), folder_, into_.file, problems_);
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
      read_secrets_of_node(node.bmc, node.name, fields_.place("name"), problems_);
      node.ssh = ssh[i];
      node.serial = serial.at(i);
      node.schedulers = schedulers;
      node.slurm_name = slurm.empty() ? node.name : slurm.at(i);
      node.kubernetes_name = kubernetes.empty() ? node.name : kubernetes.at(i);
      node.host_name = host_name.empty() ? default_text("host_name") : host_name.at(i);
      node.boot = boot[i];
      node.network = networks[i];
      node.user_data = data_.of(node.rack, data);
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
    const auto count = count_names(range);
    if (!count) {
      fields_.report(fields_.place("name"), count.error().what);
      return {};
    }
    if (into_.nodes.size() + *count > kMostNodes) {
      fields_.report(fields_.place("name"), fmt::format("more than {} nodes", kMostNodes));
      return {};
    }
    auto expanded = expand(range);
    if (!expanded) return {};
    auto names = *std::move(expanded);
    const auto fault = fault_in_names(Named::node, names);
    if (!fault) return names;
    fields_.report(fields_.place("name"), *fault);
    return {};
  }
  /// Where the site has both, each node names one of them or both: none is meant by chance.
  NodeSchedulers read_schedulers_of_node() {
    auto names = fields_.texts("scheduler");
    if (names.empty() && defaults_ != nullptr)
      names = YamlFields{*defaults_, "defaults", into_.file, problems_}.texts("scheduler");
    NodeSchedulers schedulers;
    const auto place = fields_.place(fields_.has("scheduler") ? "scheduler" : "name");
    for (const auto& name : names) {
      const bool slurm = name == "slurm";
      if (!slurm && name != "kubernetes") {
        fields_.report(place, fmt::format("scheduler is slurm, kubernetes or [slurm, kubernetes], "
                                          "not '{}'",
                                          printable(name)));
        continue;
      }
      if (slurm ? !into_.slurm : !into_.kubernetes)
        fields_.report(place, fmt::format("the inventory has no {0} section: add {0}: or name "
                                          "another scheduler",
                                          name));
      (slurm ? schedulers.slurm : schedulers.kubernetes) = true;
    }
    if (names.empty() && into_.slurm && into_.kubernetes)
      fields_.report(place,
                     "the inventory has slurm and kubernetes: the node, or defaults, needs "
                     "scheduler: slurm, kubernetes or [slurm, kubernetes]");
    return schedulers;
  }
  Zipped host_names(std::size_t count) {
    const auto any =
        fields_.texts("host_name") == std::vector<std::string>{std::string{kAnyHostName}};
    return {fields_, "host_name", count, any ? std::nullopt : std::optional{Named::host}};
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
  const SharedData& data_;
  const std::filesystem::path& folder_;
  Inventory& into_;
  Problems& problems_;
};

}  // namespace

void read_nodes(YamlFields& site, const YamlValue* defaults, const std::filesystem::path& folder,
                Inventory& into, Problems& problems) {
  if (defaults != nullptr) {
    YamlFields known{*defaults, "defaults", into.file, problems};
    for (const auto key : {"profile", "bmc", "ssh", "nvos", "scheduler", "os"}) known.has(key);
    if (const auto name = known.text("host_name"); name && *name != kAnyHostName)
      known.report(known.place("host_name"),
                   fmt::format("host_name in defaults can only be '{}': a name is one node's",
                               kAnyHostName));
    known.finish();
    check_access_defaults(*defaults, into.file, problems);
  }
  const auto* os = defaults == nullptr ? nullptr : defaults->entry("os");
  const bool has_os = os != nullptr && os->kind != YamlValue::Kind::null;
  const auto data = shared_data(has_os ? os : nullptr, folder, into, problems);
  for (const auto& item : site.list("nodes")) {
    if (problems.size() > kEnoughProblems) return;
    NodeReader{item, defaults, data, folder, into, problems}.read();
  }
}

}  // namespace cupel::inventory
