#include "rehearsal/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unordered_map>

#include "base/enum_words.h"
#include "base/text.h"
#include "inventory/node_range.h"
#include "rehearsal/bmc/update_behavior.h"
#include "rehearsal/bmc/vendor_behavior.h"
#include "rehearsal/read_faults.h"
#include "rehearsal/read_rules.h"

namespace cupel::rehearsal {
namespace {

using inventory::YamlFields;
using Problems = std::vector<inventory::Problem>;

void read_boot(YamlFields& scenario, const std::string& file, BootTimes& times,
               Problems& problems) {
  const auto* value = scenario.value("boot");
  if (value == nullptr) return;
  YamlFields fields{*value, "boot", file, problems};
  const auto read = [&](std::string_view key, VirtualTime& into) {
    if (const auto span = fields.duration(key)) into = *span;
  };
  read("power_on", times.power_on);
  read("power_off", times.power_off);
  read("shutdown", times.shutdown);
  read("post", times.post);
  read("report_lag", times.report_lag);
  fields.finish();
}

BmcSpec read_kind(YamlFields& fields, BmcSpec usual) {
  if (const auto vendor = fields.text("vendor")) {
    std::vector<std::string_view> known;
    for (const auto& row : all_vendor_behaviors()) known.push_back(row.vendor);
    if (vendor_behavior_of(*vendor) == nullptr)
      fields.report(fields.place("vendor"), "there is no BMC of vendor '" + *vendor + "'" +
                                                inventory::did_you_mean(*vendor, std::span{known}));
    usual.vendor = *vendor;
  }
  if (const auto updates = fields.text("updates")) {
    const auto known = update_behaviors();
    if (std::ranges::find(known, std::string_view{*updates}) == known.end())
      fields.report(fields.place("updates"),
                    "no BMC takes updates as '" + *updates + "' does" +
                        inventory::did_you_mean(*updates, std::span{known}));
    usual.updates = *updates;
  }
  usual.licensed = fields.flag("licensed").value_or(usual.licensed);
  usual.latency = fields.flag("latency").value_or(usual.latency);
  usual.factory_password = fields.flag("factory_password").value_or(usual.factory_password);
  usual.new_certificate = fields.flag("new_certificate").value_or(usual.new_certificate);
  return usual;
}

/// `systems: 4`: four nodes in a row have one BMC, which shows them as Node0 to Node3.
void share_bmcs(YamlFields& fields, std::vector<NodeSpec>& nodes) {
  constexpr long kMostSystems = 16;
  const auto systems =
      static_cast<std::size_t>(fields.integer("systems", 1, kMostSystems).value_or(1));
  for (std::size_t i = 0; i < nodes.size() && systems > 1; ++i) {
    auto& node = nodes[i];
    const auto& first = nodes[i - i % systems];
    node.bmc.system = fmt::format("Node{}", i % systems);
    if (&node == &first) continue;
    node.bmc_of = first.name;
    node.bmc_address = first.bmc_address;
    node.bmc_port = first.bmc_port;
    node.ipmi_port = 0;
  }
}

/// Of all nodes, and of those that `but` names.
void read_bmcs(YamlFields& scenario, const std::string& file, RackSpec& into, Problems& problems) {
  const auto* value = scenario.value("bmcs");
  if (value == nullptr) return;
  YamlFields fields{*value, "bmcs", file, problems};
  // Asked for before it is read for the first node: a fault in it is one fault.
  const auto spec = into.nodes.empty() ? BmcSpec{} : read_kind(fields, into.nodes.front().bmc);
  const bool named = fields.has("vendor");
  for (auto& node : into.nodes) {
    const auto own = node.bmc;
    node.bmc = spec;
    node.bmc.system = own.system;
    if (!named) node.bmc.vendor = own.vendor;
  }
  share_bmcs(fields, into.nodes);
  for (const auto& item : fields.list("but")) {
    YamlFields some{item, "but", file, problems};
    const auto nodes = nodes_named(some, "nodes", into);
    // As above: read once, whatever it is about.
    const auto kind = read_kind(some, nodes.empty() ? spec : nodes.front()->bmc);
    const bool other = some.has("vendor");
    for (auto* node : nodes) {
      const auto own = node->bmc;
      node->bmc = kind;
      node->bmc.system = own.system;
      if (!other) node->bmc.vendor = own.vendor;
    }
    some.finish();
  }
  fields.finish();
}

void read_pace(YamlFields& fields, RackSpec& into) {
  constexpr double kSlowest = 0.1, kFastest = 100'000;
  if (const auto speed = fields.number("speed")) {
    if (*speed < kSlowest || *speed > kFastest)
      fields.report(fields.place("speed"),
                    fmt::format("speed must be {} to {:.0f}", kSlowest, kFastest));
    into.speed = *speed;
  }
  constexpr long kMost = std::numeric_limits<long>::max();
  if (const auto seed = fields.integer("seed", 0, kMost))
    into.seed = static_cast<std::uint64_t>(*seed);
}

void read_spread(YamlFields& scenario, const std::string& file, RackSpec& into,
                 Problems& problems) {
  const auto* value = scenario.value("spread");
  if (value == nullptr) return;
  YamlFields fields{*value, "spread", file, problems};
  const auto& known = enum_words_of<SpreadShape, '-'>();
  const auto word = fields.required("shape");
  const auto shape = enum_of<SpreadShape, '-'>(word);
  if (shape) into.spread = *shape;
  if (!shape && !word.empty())
    fields.report(fields.place("shape"),
                  fmt::format("shape must be one of {}", fmt::join(known, ", ")));
  fields.finish();
}

}  // namespace

std::vector<NodeSpec*> nodes_named(YamlFields& fields, std::string_view key, RackSpec& rack) {
  constexpr std::size_t kMostHints = 20;
  const auto range = fields.required(key);
  if (range.empty()) return {};
  auto names = inventory::expand(range);
  if (!names) {
    fields.report(fields.place(key), names.error().what);
    return {};
  }
  if (rack.nodes.empty()) return {};  // already reported
  std::unordered_map<std::string_view, NodeSpec*> known;
  std::vector<std::string> all;
  for (auto& node : rack.nodes) {
    known.emplace(node.name, &node);
    all.push_back(node.name);
  }
  std::vector<NodeSpec*> found;
  std::size_t missing = 0;
  for (const auto& name : *names) {
    const auto node = known.find(name);
    if (node != known.end())
      found.push_back(node->second);
    else if (++missing <= kMostHints)
      fields.report(fields.place(key), "there is no node '" + printable(name) + "'" +
                                           inventory::did_you_mean(name, std::span{all}));
  }
  return found;
}

void read_scenario(YamlFields& fields, const std::string& file, RackSpec& into,
                   Problems& problems) {
  read_boot(fields, file, into.boot, problems);
  read_bmcs(fields, file, into, problems);
  read_faults(fields.list("faults"), file, into, problems);
  read_rules(fields.list("rules"), file, into, problems);
  read_pace(fields, into);
  read_spread(fields, file, into, problems);
}

bool parse_scenario(std::string_view text, const std::string& file, RackSpec& into,
                    Problems& problems) {
  const auto before = problems.size();
  const auto document = inventory::parse_yaml(text, file, problems);
  if (!document) return false;
  YamlFields fields{document->root, "scenario", file, problems};
  (void)fields.text("description");
  read_scenario(fields, file, into, problems);
  fields.finish();
  return problems.size() == before;
}

}  // namespace cupel::rehearsal
