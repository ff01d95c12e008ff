// profile: what counts for one kind of machine and where each number comes from; a profile's
// errors; the schemas for editors; a profile of good machines.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "inventory/load_profile.h"
#include "inventory/model.h"
#include "inventory/names.h"
#include "inventory/node.h"
#include "inventory/node_range.h"
#include "inventory/read_shape.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/report/learn_profile.h"
#include "orchestrator/requalify/base_run.h"
#include "playbooks/plan.h"

namespace cupel::cli {
namespace {

using inventory::Criterion;
using inventory::Problem;
using inventory::Profile;

constexpr std::size_t kLargestProfile = 1u << 20;

/// Criteria of stages and measures that exist, as a plan would say it.
void check_by_plan(const Profile& profile, std::vector<Problem>& problems) {
  inventory::Inventory site;
  inventory::Node node;
  node.name = "any";
  node.profile = profile.name;
  site.nodes.push_back(std::move(node));
  site.profiles.emplace(profile.name, profile);
  std::vector<Problem> unused;
  const auto playbook =
      playbooks::parse_playbook("playbook: none\nsteps:\n  - step: bmc-facts\n", "none", unused);
  if (playbook) playbooks::make_plan(*playbook, site, {&site.nodes.front()}, problems);
}

Exit check(const Context& context, const std::vector<std::string>& files) {
  std::vector<Problem> problems;
  std::vector<std::string> lines;
  for (const auto& file : files) {
    const auto text = read_file(file, kLargestProfile);
    if (!text) {
      problems.push_back({{file, 0, 0}, text.error().what});
      continue;
    }
    const auto folder = absolute_path(file).parent_path();
    const auto profile =
        inventory::parse_profile(*text, file, inventory::ProfileSource{folder}, problems);
    if (!profile) continue;
    check_by_plan(*profile, problems);
    lines.push_back(fmt::format("{}: profile {}, {} criteria, no error", printable(file),
                                profile->name, profile->criteria.size()));
  }
  if (!problems.empty()) return print_error(context, inventory::reported_once(std::move(problems)));
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"problems", boost::json::array{}}}));
  else
    for (const auto& line : lines) say("{}\n", line);
  return Exit::passed;
}

struct ShowAsked {
  std::string name{}, inventory = default_inventory();
  bool inventory_named = false;
};

OrExit<Profile> profile_or_exit(const Context& context, const ShowAsked& asked) {
  const auto readable = check_named_inventory(asked.inventory_named, asked.inventory);
  if (!readable) return print_error(context, readable.error(), Exit::invalid);
  const auto folder = absolute_path(asked.inventory).parent_path() / "profiles";
  const inventory::ProfileSource source{folder};
  std::vector<Problem> problems;
  auto profile = source.load(asked.name, problems);
  if (profile && problems.empty()) return *std::move(profile);
  if (!problems.empty()) return print_error(context, problems);
  const auto known = source.names();
  return print_error(
      context,
      Error{Code::kInvalid,
            fmt::format("there is no profile '{}'{}", printable(asked.name),
                        inventory::did_you_mean(asked.name, std::span<const std::string>{known}))},
      Exit::invalid);
}

std::string limits_of(const Criterion& criterion) {
  std::vector<std::string> limits;
  if (criterion.at_least) limits.push_back("at least " + plain(*criterion.at_least));
  if (criterion.at_most) limits.push_back("at most " + plain(*criterion.at_most));
  auto text = limits.empty() ? std::string{"measured"} : limits.front();
  if (limits.size() > 1) text += ", " + limits.back();
  return criterion.unit.empty() ? text : text + " " + criterion.unit;
}

std::string parts_of(const Criterion& criterion) {
  const bool whole = criterion.parts.size() == 1 && criterion.parts.front().empty();
  return whole ? "node" : inventory::fold(criterion.parts);
}

boost::json::object to_json(const Criterion& criterion) {
  boost::json::object object{{"stage", criterion.stage},
                             {"measure", criterion.measure},
                             {"parts", parts_of(criterion)},
                             {"unit", criterion.unit},
                             {"where", to_string(criterion.where)},
                             {"source", criterion.source}};
  if (criterion.at_least) object["at_least"] = *criterion.at_least;
  if (criterion.at_most) object["at_most"] = *criterion.at_most;
  return object;
}

boost::json::object to_json(const Profile& profile) {
  boost::json::array criteria, parts, bios;
  for (const auto& each : profile.criteria) criteria.push_back(to_json(each));
  for (const auto& each : profile.parts)
    parts.push_back({{"kind", to_string(each.kind)},
                     {"count", each.count},
                     {"where", to_string(each.where)},
                     {"source", each.source}});
  for (const auto& each : profile.bios)
    bios.push_back({{"attribute", each.attribute},
                    {"value", each.value},
                    {"where", to_string(each.where)},
                    {"source", each.source}});
  return {{"profile", profile.name},
          {"description", profile.description},
          {"parts", std::move(parts)},
          {"bios", std::move(bios)},
          {"criteria", std::move(criteria)}};
}

void print(const Profile& profile) {
  say("{}: {}\n\n", profile.name, printable(profile.description));
  for (const auto& each : profile.parts)
    say("{:<10} {:>4}  {:<28} {:<34} {}\n", to_string(each.kind), each.count,
        each.models.empty() ? "" : printable(each.models.front()), to_string(each.where),
        printable(each.source));
  for (const auto& each : profile.bios)
    say("bios {} = {}  {}  {}\n", printable(each.attribute), printable(each.value),
        to_string(each.where), printable(each.source));
  std::string stage;
  for (const auto& each : profile.criteria) {
    if (each.stage != stage) say("\n{}\n", each.stage);
    stage = each.stage;
    say("  {:<34} {:<14} {:<28} {:<34} {}\n", each.measure, parts_of(each), limits_of(each),
        to_string(each.where), printable(each.source));
  }
}

Exit show(const Context& context, const ShowAsked& asked) {
  TRY(const auto profile, profile_or_exit(context, asked));
  if (context.json)
    say("{}\n", boost::json::serialize(to_json(profile)));
  else
    print(profile);
  return Exit::passed;
}

/// The site's own, beside the inventory, and the shipped ones.
Exit list(const Context& context, const ShowAsked& asked) {
  const auto readable = check_named_inventory(asked.inventory_named, asked.inventory);
  if (!readable) return print_error(context, readable.error(), Exit::invalid);
  const auto folder = absolute_path(asked.inventory).parent_path() / "profiles";
  const inventory::ProfileSource source{folder};
  std::vector<Problem> problems;
  std::vector<Row> rows{{"profile", "from", "is"}};
  boost::json::array all;
  for (const auto& name : source.names()) {
    const auto profile = source.load(name, problems);
    if (!profile) continue;
    rows.push_back({name, source.file(name), profile->description});
    all.push_back(
        {{"profile", name}, {"file", source.file(name)}, {"description", profile->description}});
  }
  if (!problems.empty()) return print_error(context, problems);
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"profiles", all}}));
  else
    say("{}", table(rows));
  return Exit::passed;
}

CommandRow list_profiles_command(Context& context) {
  auto asked = std::make_shared<ShowAsked>();
  CommandRow row{"list", "the profiles beside the inventory, and those that are part of cupel"};
  row.footer = "Example: cupel profile list";
  row.options = {{"-i,--inventory",
                  &asked->inventory,
                  "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]",
                  {.given = &asked->inventory_named}},
                 json_flag(context)};
  row.run = [&context, asked] { return list(context, *asked); };
  return row;
}

struct LearnAsked {
  std::vector<std::string> nodes{};
  std::string name = "learned", inventory = default_inventory();
};

Exit learn(const Context& context, const LearnAsked& asked) {
  TRY(const auto site, inventory_or_exit(context, asked.inventory));
  const auto store = store::Store::open(context.state);
  if (!store) return print_error(context, store.error(), Exit::unfinished);
  std::vector<requalify::NodeRun> runs;
  std::string kind;
  for (const auto& name : asked.nodes) {
    const auto* node = site.node(name);
    const bool other = node != nullptr && !kind.empty() && node->profile != kind;
    if (node == nullptr || other)
      return print_error(
          context,
          Error{Code::kInvalid,
                other ? fmt::format("{} is of profile {}, the others of {}", name, node->profile,
                                    kind)
                      : fmt::format("{} has no node '{}'", site.file, printable(name))},
          Exit::invalid);
    kind = node->profile;
    auto run = requalify::passed_run(**store, name);
    if (!run && run.error().code == Code::kNotFound)
      return print_error(
          context,
          Error{Code::kNotFound,
                fmt::format("{0} has passed no run with a stage that loads it, so it "
                            "has no numbers to learn from: cupel run new-rack --nodes "
                            "{0}",
                            name)},
          Exit::invalid);
    if (!run) return print_error(context, run.error(), Exit::invalid);
    runs.push_back(*std::move(run));
  }
  std::vector<report::GoodMachine> machines;
  for (const auto& each : runs) machines.push_back({each.record.node, each.run.id, &each.record});
  const auto yaml = report::learn_profile(asked.name, site.profiles.at(kind), machines);
  if (!yaml) return print_error(context, yaml.error(), Exit::invalid);
  say("{}", *yaml);
  return Exit::passed;
}

CommandRow show_profile_command(Context& context) {
  auto asked = std::make_shared<ShowAsked>();
  CommandRow row{"show", "the effective numbers, and where each comes from"};
  row.footer = "Example: cupel profile show dgx-h100";
  row.options = {
      {"NAME", &asked->name, "of profiles/ beside the inventory, or a shipped one", kRequired},
      {"-i,--inventory",
       &asked->inventory,
       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]",
       {.given = &asked->inventory_named}},
      json_flag(context)};
  row.run = [&context, asked] { return show(context, *asked); };
  return row;
}

CommandRow learn_profile_command(Context& context) {
  auto asked = std::make_shared<LearnAsked>();
  CommandRow row{"learn",
                 "print a profile of machines that are known to be good, by the runs they passed"};
  row.footer = "Example: cupel profile learn a01-n01 a01-n02 --name my-dgx > profiles/my-dgx.yaml";
  row.options = {
      {"NODES", &asked->nodes, "the machines, all of one profile", kRequired},
      {"--name",
       &asked->name,
       "the profile's name [learned]",
       {.check =
            [](const std::string& name) {
              return inventory::fault_in_name(inventory::Named::profile, name).value_or("");
            }}},
      {"-i,--inventory", &asked->inventory,
       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"}};
  row.run = [&context, asked] { return learn(context, *asked); };
  return row;
}

}  // namespace

CommandRow profile_command(Context& context) {
  auto files = std::make_shared<std::vector<std::string>>();
  auto of = std::make_shared<std::string>("profile");
  CommandRow check_row{"check", "list all errors in profiles"};
  check_row.footer = "Example: cupel profile check profiles/my-dgx.yaml";
  check_row.options = {{"FILES", files.get(), "", kRequired}, json_flag(context)};
  check_row.run = [&context, files] { return check(context, *files); };
  CommandRow schema_row{"schema", "print the JSON Schema for editors"};
  schema_row.footer = "Example: cupel profile schema inventory > inventory.schema.json";
  schema_row.options = {
      {"OF", of.get(), "profile or inventory [profile]", {.among = {"profile", "inventory"}}}};
  schema_row.run = [of] {
    say("{}\n", boost::json::serialize(*of == "profile" ? inventory::profile_schema()
                                                        : inventory::inventory_schema()));
    return Exit::passed;
  };
  CommandRow row{"profile", "kinds of machines: their numbers, errors, schemas"};
  row.footer =
      "Examples: cupel profile list\n"
      "          cupel profile show dgx-h100\n"
      "          cupel profile check profiles/*.yaml\n"
      "          cupel profile schema > profile.schema.json\n"
      "          cupel profile learn a01-n01 a01-n02 --name my-dgx";
  row.subcommands = {list_profiles_command(context), show_profile_command(context), check_row,
                     schema_row, learn_profile_command(context)};
  return row;
}

}  // namespace cupel::cli
