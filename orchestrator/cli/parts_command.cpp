// parts: what runs have read of the parts of machines, as a table, as JSON, or as the list of
// assets that `cupel audit assets` takes. Reads the store; asks no machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "base/bytes.h"
#include "base/text.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/node_range.h"
#include "inventory/select.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/seen_assets.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/report/part_list.h"
#include "orchestrator/report/summary.h"

namespace cupel::cli {
namespace {

using report::ListedPart;
using NodeNames = std::set<std::string, std::less<>>;

struct PartsAsked {
  std::string nodes{};  // empty: all that runs have seen, also such as no inventory has any more
  std::string inventory = default_inventory();
  bool csv = false;
  bool all = false;
};

OrExit<NodeNames> asked_nodes(const Context& context, const PartsAsked& asked) {
  NodeNames names;
  if (asked.nodes.empty()) return names;
  TRY(const auto inventory, inventory_or_exit(context, asked.inventory));
  const auto nodes =
      inventory::select(inventory, asked.nodes, inventory::RackScope::all(), nodes_of_run(context));
  if (!nodes) return print_error(context, nodes.error(), Exit::invalid);
  for (const auto* node : *nodes) names.insert(node->name);
  return names;
}

/// By node; says of which of those that were asked for nothing is known.
OrExit<std::vector<ListedPart>> parts_or_exit(const Context& context, const NodeNames& nodes) {
  const auto store = store::Store::open(context.state);
  if (!store) return print_error(context, store.error(), Exit::unfinished);
  const auto seen = seen_machines(**store, nodes);
  if (!seen) return print_error(context, seen.error(), Exit::unfinished);
  std::vector<ListedPart> all;
  NodeNames absent = nodes;
  for (const auto& [node, of] : seen->machines) {
    const auto parts = report::list_parts(node, of.reports(), seen->began);
    if (!parts.empty()) absent.erase(node);
    all.insert(all.end(), parts.begin(), parts.end());
  }
  if (all.empty())
    return print_error(
        context,
        Error{Code::kNotFound,
              "no run has read a part of these machines; to read them: cupel run audit"},
        Exit::invalid);
  if (!absent.empty())
    say(stderr, "cupel: no run has read a part of {}\n",
        inventory::fold(std::vector<std::string>{absent.begin(), absent.end()}));
  return all;
}

boost::json::array json_words(const std::vector<std::string>& words) {
  boost::json::array all;
  for (const auto& each : words) all.emplace_back(valid_utf8(each));
  return all;
}

boost::json::object to_json(const ListedPart& each) {
  boost::json::object object{{"node", each.node},
                             {"kind", to_string(each.part.kind)},
                             {"names", json_words(each.names)},
                             {"slot", valid_utf8(each.part.slot)},
                             {"model", valid_utf8(each.part.model)},
                             {"manufacturer", valid_utf8(each.part.manufacturer)},
                             {"part_number", valid_utf8(each.part.part_number)},
                             {"serial", valid_utf8(each.part.serial)},
                             {"firmware", valid_utf8(each.part.firmware)}};
  if (each.part.size_bytes) object["size_bytes"] = *each.part.size_bytes;
  object["sources"] = json_words(each.sources);
  object["run"] = each.run;
  object["seen"] = report::utc(each.seen);
  object["current"] = each.is_current;
  return object;
}

/// Drives are sold by decimal units, memory by binary ones.
std::string size_text(const inventory::Part& part) {
  if (!part.size_bytes) return {};
  const bool drive =
      part.kind == inventory::PartKind::nvme || part.kind == inventory::PartKind::drive;
  return drive ? plain(*part.size_bytes / 1e12, 2) + " TB"
               : plain(*part.size_bytes / kGiB, 1) + " GiB";
}

std::string table_of(const std::vector<ListedPart>& parts) {
  std::vector<Row> rows{{"node", "kind", "name", "slot", "model", "part number", "serial",
                         "firmware", "size", "source", "run", "seen"}};
  for (const auto& each : parts)
    rows.push_back({each.node, std::string{to_string(each.part.kind)},
                    fmt::format("{}", fmt::join(each.names, ", ")), each.part.slot, each.part.model,
                    each.part.part_number, each.part.serial, each.part.firmware,
                    size_text(each.part), fmt::format("{}", fmt::join(each.sources, ", ")),
                    fmt::format("{}", each.run),
                    report::utc(each.seen) + (each.is_current ? "" : ", not read since")});
  return table(rows);
}

void print_csv(const std::vector<ListedPart>& parts, bool rehearsal, bool all) {
  const auto sheet = report::parts_csv(parts, rehearsal, all);
  say("{}", sheet.text);
  if (sheet.without_serial > 0)
    say(stderr, "cupel: {} parts without a serial number left out: --all lists them, too\n",
        sheet.without_serial);
  if (sheet.twice > 0)
    say(stderr,
        "cupel: {} parts left out whose serial numbers other machines report, too; to see which: "
        "cupel audit assets FILE\n",
        sheet.twice);
}

Exit list_known_parts(const Context& context, const PartsAsked& asked) {
  TRY(const auto nodes, asked_nodes(context, asked));
  TRY(const auto parts, parts_or_exit(context, nodes));
  const auto rehearsal = rehearsal_line(context.state);
  if (context.json) {
    boost::json::array all;
    for (const auto& each : parts) all.push_back(to_json(each));
    say("{}\n", boost::json::serialize(boost::json::object{{"rehearsal", !rehearsal.empty()},
                                                           {"parts", std::move(all)}}));
  } else if (asked.csv) {
    print_csv(parts, !rehearsal.empty(), asked.all);
  } else {
    say("{}{}\n", rehearsal, table_of(parts));
  }
  return Exit::passed;
}

}  // namespace

CommandRow parts_command(Context& context) {
  auto asked = std::make_shared<PartsAsked>();
  CommandRow row{"parts", "the parts of machines, as the newest runs have read them"};
  row.footer =
      "Examples: cupel parts a01-n07\n"
      "          cupel parts --csv > assets.csv      a list that audit assets takes\n"
      "          cupel parts rack:a01 --csv --all > parts.csv\n"
      "Exit codes: 0 printed, 2 the input is wrong or no run has read a part, 3 the store could\n"
      "            not be read.";
  row.options = {{"NODES", &asked->nodes, "as with run --nodes [all that runs have seen]"},
                 {"-i,--inventory", &asked->inventory,
                  "of NODES [$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
                 {"--csv",
                  &asked->csv,
                  "print a list of assets: parts that have a serial number, each once",
                  {.excludes = {"--json"}}},
                 {"--all",
                  &asked->all,
                  "with --csv: also the parts that a list of assets cannot have",
                  {.needs = {"--csv"}}},
                 json_flag(context)};
  row.run = [&context, asked] { return list_known_parts(context, *asked); };
  return row;
}

}  // namespace cupel::cli
