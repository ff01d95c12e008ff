#include "inventory/read_fabric.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>
#include <unordered_set>

#include "base/file.h"
#include "base/text.h"
#include "inventory/cable_files.h"
#include "inventory/check_fabric.h"
#include "inventory/node_range.h"
#include "inventory/read_access.h"
#include "inventory/read_slurm.h"
#include "inventory/seen_fabric.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;

constexpr std::size_t kCableFileLimit = 64u << 20, kForwardingFileLimit = 256u << 20;
constexpr int kMostNodesOfGroup = 4096;
constexpr int kMostSwitchPorts = 1024;  // a director has 800
constexpr int kMostSpines = 4096;
constexpr std::size_t kLongestPattern = 100;

FabricLayout layout_of(YamlFields& fields) {
  const auto text = fields.text("layout").value_or("rail-optimised");
  if (text == "rail-optimised") return FabricLayout::rail_optimised;
  if (text == "fat-tree") return FabricLayout::fat_tree;
  fields.report(fields.place("layout"), "layout must be rail-optimised or fat-tree");
  return FabricLayout::rail_optimised;
}

std::string pattern_of(YamlFields& fields, std::string_view key,
                       std::initializer_list<std::string_view> needed) {
  const auto pattern = fields.text(key).value_or("");
  if (pattern.empty()) return pattern;
  if (pattern.size() > kLongestPattern)
    fields.report(fields.place(key),
                  fmt::format("{} has more than {} bytes", key, kLongestPattern));
  for (const auto word : needed)
    if (!pattern.contains(word))
      fields.report(fields.place(key), fmt::format("{} must have {}: else two switches would have "
                                                   "one name",
                                                   key, word));
  return pattern;
}

FabricRule rule_of(YamlFields& fields) {
  FabricRule rule;
  const auto whole = [&](std::string_view key, long least, long most, int otherwise) {
    return static_cast<int>(fields.integer(key, least, most).value_or(otherwise));
  };
  rule.where = fields.place();
  rule.layout = layout_of(fields);
  rule.group = whole("group", 1, kMostNodesOfGroup, rule.group);
  rule.spines = whole("spines", 0, kMostSpines, rule.spines);
  rule.uplinks = whole("uplinks", 0, kMostSwitchPorts, rule.uplinks);
  rule.planes = whole("planes", 1, 8, rule.planes);
  rule.switch_ports = whole("switch_ports", 1, kMostSwitchPorts, rule.switch_ports);
  rule.ports_per_cage = whole("ports_per_cage", 1, 4, rule.ports_per_cage);
  rule.width = whole("width", 1, 12, rule.width);
  rule.speed = fields.text("speed").value_or("");
  const bool tree = rule.layout == FabricLayout::fat_tree;
  if (tree)
    rule.leaf = pattern_of(fields, "leaf", {"{group}"});
  else
    rule.leaf = pattern_of(fields, "leaf", {"{group}", "{rail}"});
  rule.spine = pattern_of(fields, "spine", {"{spine}"});
  if (rule.planes > 1)
    for (const auto* pattern : {&rule.leaf, &rule.spine})
      if (!pattern->empty() && !pattern->contains("{plane}"))
        fields.report(fields.place("planes"),
                      "with several planes the names of switches must have {plane}");
  return rule;
}

/// The nodes that the plan is for, each with its compute HCAs.
class Members {
 public:
  Members(YamlFields& fields, const Inventory& inventory) : inventory_{inventory} {
    const bool named = fields.has("nodes");
    const auto hcas = fields.texts("hcas");
    std::unordered_set<std::string> requested;
    for (const auto& range : fields.texts("nodes")) {
      auto names = expand(range);
      if (!names) {
        fields.report(fields.place("nodes"), names.error().what);
        continue;
      }
      for (auto& name : *names) {
        if (!inventory.node(name))
          fields.report(fields.place("nodes"), fmt::format("there is no node '{}'", name));
        requested.insert(std::move(name));
      }
    }
    for (const auto& node : inventory.nodes)
      if (!named || requested.contains(node.name)) add(node, hcas);
    report_bare(fields, named);
  }
  std::vector<FabricMember> members{};

 private:
  void add(const Node& node, const std::vector<std::string>& hcas) {
    const auto profile = inventory_.profiles.find(node.profile);
    if (profile == inventory_.profiles.end()) return;
    auto own = hcas.empty() ? profile->second.rails : hcas;
    if (own.empty())
      bare_.insert(node.profile);
    else
      members.push_back({node.name, std::move(own), node.host_name});
  }
  void report_bare(YamlFields& fields, bool named) const {
    if (!members.empty() && !named) return;
    for (const auto& profile : bare_)
      fields.report(fields.place(named ? "nodes" : "hcas"),
                    fmt::format("the profile {} does not list its compute HCAs: give the profile "
                                "rails: [mlx5_0, ...], or hcas: here",
                                profile));
  }

  const Inventory& inventory_;
  std::set<std::string> bare_{};
};

/// What a site knows of its switches beyond the rule: GUID, serial number, place.
void read_switches(YamlFields& fields, const std::string& file, Fabric& fabric,
                   Problems& problems) {
  std::unordered_map<std::string_view, FabricSwitch*> known;
  for (auto& one : fabric.switches) known.try_emplace(one.name, &one);
  std::vector<std::string> names;
  for (const auto& item : fields.list("switches")) {
    YamlFields own{item, "switch", file, problems};
    const auto name = own.required("name");
    const auto guid = own.text("guid");
    const auto serial = own.text("serial"), location = own.text("location");
    own.finish();
    const auto found = known.find(name);
    if (found == known.end()) {
      if (names.empty())
        for (const auto& one : fabric.switches) names.push_back(one.name);
      own.report(own.place("name"), fmt::format("no cable of the plan goes to a switch '{}'{}",
                                                name, did_you_mean(name, std::span{names})));
      continue;
    }
    auto& one = *found->second;
    one.where = own.place();
    one.serial = serial.value_or("");
    one.location = location.value_or("");
    if (!guid) continue;
    if (const auto number = guid_of(*guid))
      one.guid = guid_text(*number);
    else
      own.report(own.place("guid"), "guid must have 16 hexadecimal digits");
  }
}

NcclSettings nccl_of(const YamlValue& value, const std::string& file, Problems& problems) {
  NcclSettings settings;
  YamlFields fields{value, "nccl", file, problems};
  if (const auto written = fields.text("interface")) {
    if (auto name = network_interface(*written))
      settings.interface = *std::move(name);
    else
      fields.report(fields.place("interface"), name.error().what);
  }
  if (const auto written = fields.text("environment")) {
    if (auto all = nccl_environment(*written))
      settings.environment = *std::move(all);
    else
      fields.report(fields.place("environment"), all.error().what);
  }
  const auto address = fields.text("address").value_or("inventory");
  settings.any_address = address == "any";
  if (address != "inventory" && address != "any")
    fields.report(fields.place("address"), "address must be inventory or any");
  fields.finish();
  return settings;
}

/// With a password or a token, and never both.
UfmSite ufm_of(const YamlValue& value, const std::filesystem::path& folder, const std::string& file,
               Problems& problems) {
  UfmSite ufm;
  YamlFields fields{value, "ufm", file, problems};
  ufm.where = fields.place();
  ufm.url = server_url_of(fields, "url", false);
  const auto user = fields.text("user"), password = fields.text("password"),
             token = fields.text("token");
  if (token.has_value() == password.has_value() || user.has_value() != password.has_value())
    fields.report(fields.place(), "ufm needs user: and password:, or token: alone");
  ufm.user = user.value_or("");
  if (const auto& written = token ? token : password) {
    const auto* const key = token ? "token" : "password";
    if (auto secret = secret_of(*written, folder)) {
      ufm.secret = *std::move(secret);
      ufm.secret.named = fields.place(key);
    } else {
      fields.report(fields.place(key),
                    "a password or token must say where it is kept: env:NAME, file:PATH or "
                    "cmd:COMMAND");
    }
  }
  ufm.ca = server_ca_of(fields, folder);
  fields.finish();
  return ufm;
}

/// By more than files of one copy differ; false where one of them has no time.
bool is_older(const std::filesystem::path& one, const std::filesystem::path& other) {
  constexpr std::chrono::minutes kOfOneCopy{1};
  std::error_code none, neither;
  const auto first = std::filesystem::last_write_time(one, none),
             second = std::filesystem::last_write_time(other, neither);
  return !none && !neither && first + kOfOneCopy < second;
}

/// What the tables leave open makes no inventory wrong: the subnet manager's names may be others.
void read_forwarding(YamlFields& fields, const std::filesystem::path& path, FabricSite& site,
                     std::string& digested) {
  site.forwarding_file = path.string();
  const auto text = read_file(path, kForwardingFileLimit);
  if (!text) return fields.report(fields.place("forwarding"), text.error().what);
  digested += *text;
  auto tables = parse_forwarding(*text);
  if (!tables)
    return fields.report(fields.place("forwarding"), path.string() + ": " + tables.error().what);
  site.forwarding = *std::move(tables);
  if (is_older(path, site.file))
    site.forwarding.mark_stale(
        fmt::format("{} was made before {} was changed: run dump_fts again and replace it",
                    path.string(), site.file));
}

/// Asks for all keys, whether the file can be read or not: one that nobody asks for is unknown.
CableFileSite cable_site(YamlFields& fields, const std::vector<FabricMember>& members) {
  return {
      .members = members,
      .ports_per_cage = static_cast<int>(fields.integer("ports_per_cage", 1, 4).value_or(1)),
      .speed = fields.text("speed").value_or(""),
      .switch_ports = static_cast<int>(
          fields.integer("switch_ports", 1, kMostSwitchPorts).value_or(FabricRule{}.switch_ports))};
}

void read_cables(std::string_view text, const CableFileSite& known, std::string_view columns,
                 YamlFields& fields, FabricSite& site, Problems& problems) {
  ColumnNames names;
  if (!columns.empty()) {
    auto [given, wrong] = column_names(columns);
    names = std::move(given);
    if (!wrong.empty())
      return fields.report(fields.place(fields.has("columns") ? "columns" : "cables"),
                           "columns: " + wrong);
  }
  auto read = read_cable_file(parse_cables(text, site.file, problems, names), known, problems);
  site.fabric = std::move(read.fabric);
  site.left_out = read.left_out;
  site.first_left_out = std::move(read.first_left_out);
}

}  // namespace

void read_fabric(const YamlValue& value, const std::filesystem::path& folder, Inventory& into,
                 Problems& problems, std::string& digested, std::string_view columns) {
  YamlFields fields{value, "fabric", into.file, problems};
  FabricSite site;
  site.where = fields.place();
  const Members members{fields, into};
  if (const auto* nccl = fields.value("nccl")) site.nccl = nccl_of(*nccl, into.file, problems);
  if (const auto* ufm = fields.value("ufm")) site.ufm = ufm_of(*ufm, folder, into.file, problems);
  const auto named = fields.text("columns");
  if (const auto file = fields.text("cables")) {
    const auto path = (folder / *file).lexically_normal();
    site.file = path.string();
    const auto known = cable_site(fields, members.members);
    if (const auto text = read_file(path, kCableFileLimit)) {
      digested += *text;
      read_cables(*text, known, columns.empty() ? named.value_or("") : columns, fields, site,
                  problems);
    } else {
      fields.report(fields.place("cables"), text.error().what);
    }
  } else {
    if (named) fields.report(fields.place("columns"), "columns is for a file of cables (cables:)");
    site.rule = rule_of(fields);
    site.fabric = make_fabric(*site.rule, members.members, problems);
  }
  read_switches(fields, into.file, site.fabric, problems);
  if (const auto file = fields.text("forwarding"))
    read_forwarding(fields, (folder / *file).lexically_normal(), site, digested);
  fields.finish();
  check_fabric(site.fabric, problems);
  into.fabric = std::move(site);
}

}  // namespace cupel::inventory
