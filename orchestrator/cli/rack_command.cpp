// `cupel rack serve`: a virtual rack that stands for whoever wants to talk to it, until SIGINT or
// SIGTERM. The rack itself is cupel-sim. `cupel rack list`: the racks that are part of cupel, or
// those of a site.
#include <boost/json.hpp>
#include <filesystem>

#include "inventory/node_range.h"
#include "inventory/rack.h"
#include "inventory/shipped.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/rack_commands.h"
#include "orchestrator/cli/rack_source.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/sim_program.h"
#include "orchestrator/cli/table.h"

namespace cupel::cli {
namespace {

Exit serve(const Context& context, RackSource source) {
  const auto sim = find_sim(context.programs);
  if (!sim) return print_error(context, sim.error(), Exit::invalid);
  auto answer = ask_sim(context.programs, words_for("check", source));
  if (!answer) return print_error(context, answer.error(), Exit::unfinished);
  const auto problems = problems_of(*answer);
  if (!problems.empty()) return print_error(context, problems);
  const auto ready = choose_folder(source, "cupel-rack");
  if (!ready) return print_error(context, ready.error(), Exit::invalid);
  return print_error(context, become_sim(context.programs, words_for("serve", source)),
                     Exit::unfinished);
}

/// A text of a rack's file; only cupel-sim knows what else is in there.
std::string text_of_rack(const inventory::YamlDocument& rack, std::string_view key) {
  const auto* value = rack.root.entry(key);
  return value == nullptr ? std::string{} : value->text;
}

Exit list_racks(const Context& context) {
  std::vector<inventory::Problem> problems;
  std::vector<Row> rows{{"rack", "nodes", "profile", "is"}};
  boost::json::array all;
  for (const auto& file : inventory::shipped_files()) {
    if (!file.path.starts_with("rehearsal/racks/")) continue;
    const auto rack = inventory::parse_yaml(file.text, std::string{file.path}, problems);
    if (!rack) continue;
    const auto name = std::filesystem::path{file.path}.stem().string();
    const auto nodes = inventory::expand(text_of_rack(*rack, "nodes"));
    const auto count = nodes ? nodes->size() : 0;
    const auto profile = text_of_rack(*rack, "profile");
    const auto description = text_of_rack(*rack, "description");
    rows.push_back({name, std::to_string(count), profile, description});
    all.push_back({{"rack", name},
                   {"file", file.path},
                   {"nodes", count},
                   {"profile", profile},
                   {"description", description}});
  }
  if (!problems.empty()) return print_error(context, problems);
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"racks", std::move(all)}}));
  else
    say("{}\n", table(rows));
  return Exit::passed;
}

/// Of each rack of a site its kind, and how many of its parts the inventory names.
Exit list_site_racks(const Context& context, const std::string& inventory) {
  const auto site = inventory::load_racks(inventory);
  if (!site.inventory) return print_error(context, site.problems);
  std::vector<Row> rows{{"rack", "kind", "compute trays", "switch trays", "power shelves", "cdu"}};
  boost::json::array all;
  for (const auto& rack : site.inventory->racks) {
    const auto parts = std::ranges::find(site.racks, rack.name, &inventory::NvlRack::name);
    if (parts == site.racks.end()) {
      rows.push_back({rack.name, "servers", "", "", "", ""});
      all.push_back({{"rack", rack.name}, {"kind", "servers"}});
      continue;
    }
    const auto compute = parts->compute.size(), switches = parts->switches.size(),
               shelves = parts->shelves.size();
    rows.push_back({rack.name, std::string{parts->kind->name}, std::to_string(compute),
                    std::to_string(switches), std::to_string(shelves), parts->cdu ? "1" : "0"});
    all.push_back({{"rack", rack.name},
                   {"kind", parts->kind->name},
                   {"compute_trays", compute},
                   {"switch_trays", switches},
                   {"power_shelves", shelves},
                   {"cdu", parts->cdu.has_value()}});
  }
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"racks", std::move(all)}}));
  else
    say("{}\n", table(rows));
  return Exit::passed;
}

}  // namespace

CommandRow rack_command(Context& context) {
  auto source = std::make_shared<RackSource>();
  CommandRow serve_row{"serve",
                       "serves until SIGINT or SIGTERM, and prints the addresses of each node"};
  serve_row.footer =
      "Examples: cupel rack serve h100-8\n"
      "          cupel rack serve --inventory site.yaml --scenario quirks --folder ~/rack";
  serve_row.options = joined<OptionRow>({{{"RACK",
                                           &source->rack,
                                           "a file, or a shipped one by its name",
                                           {.excludes = {"--inventory"}}}},
                                         rack_options(*source)});
  serve_row.run = [&context, source] { return serve(context, *source); };
  CommandRow list_row{"list",
                      "the racks of a site; without --inventory the virtual racks that are "
                      "part of cupel"};
  list_row.footer =
      "Examples: cupel rack list\n"
      "          cupel rack list --inventory site.yaml";
  auto site = std::make_shared<std::string>();
  auto site_named = std::make_shared<bool>(false);
  list_row.options = {{"-i,--inventory",
                       site.get(),
                       "the site whose racks are listed",
                       {.given = site_named.get()}},
                      json_flag(context)};
  list_row.run = [&context, site, site_named] {
    return *site_named ? list_site_racks(context, *site) : list_racks(context);
  };
  CommandRow row{"rack", "racks: those of a site and what their parts report, and virtual ones"};
  row.subcommands = {serve_row, list_row, rack_show_command(context)};
  return row;
}

}  // namespace cupel::cli
