// `cupel bmc pins import|list|export`: certificates of BMCs and PDUs that are known before, or were
// pinned at first sight. Asks no BMC anything.
#include <fmt/format.h>

#include <map>

#include "base/file.h"
#include "base/ownership.h"
#include "base/text.h"
#include "bmc/pin_list.h"
#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"

namespace cupel::cli {
namespace {

using inventory::Trust;

/// Whoever shows a certificate: the BMC of a node, or a PDU.
struct Shower {
  std::string name;
  std::string bmc;  // by which its pin is kept: that of the first of the nodes that share one
  inventory::Endpoint endpoint;
  Trust trust;
};

std::vector<Shower> showers_of(const inventory::Inventory& inventory) {
  std::vector<Shower> all;
  for (const auto& node : inventory.nodes)
    all.push_back({node.name, inventory::bmc_name(node), node.bmc.endpoint, node.bmc.trust});
  for (const auto& pdu : inventory.pdus)
    all.push_back({pdu.name, pdu.name, pdu.endpoint, pdu.trust});
  return all;
}

/// By name, by address with port, or by an address that only one has.
const Shower* shower_named(const std::vector<Shower>& all, std::string_view name) {
  const Shower* by_host = nullptr;
  int with_host = 0;
  for (const auto& one : all) {
    if (one.name == name || to_string(one.endpoint) == name) return &one;
    const bool is_same = by_host != nullptr && one.bmc == by_host->bmc;
    if (one.endpoint.host != name || is_same) continue;
    by_host = &one;
    ++with_host;
  }
  return with_host == 1 ? by_host : nullptr;
}

std::string key_of(const Shower& one) { return "bmc:" + one.bmc; }

/// "inventory", where that names the certificate or an authority; else what the store has.
struct KnownPin {
  std::string certificate{};
  std::string_view from = "none";
};

KnownPin known_of(store::Store& store, const Shower& one) {
  if (one.trust.kind == Trust::Kind::ca) return {"CA " + one.trust.what, "inventory"};
  if (one.trust.kind == Trust::Kind::pinned && !one.trust.what.empty())
    return {one.trust.what, "inventory"};
  const auto pin = store.pinned(key_of(one));
  return pin ? KnownPin{*pin, "state"} : KnownPin{};
}

struct Import {
  std::string file{};
  bool replace = false;
};

/// What an import would do; nothing of it is done where there is one problem.
struct PlannedPin {
  std::map<std::string, std::string> pins{};  // by Shower::bmc
  int already = 0;
  std::vector<inventory::Problem> problems{};
};

PlannedPin planned(store::Store& store, const std::vector<Shower>& all, bmc::PinList list,
                   bool replace) {
  PlannedPin plan{.problems = std::move(list.problems)};
  std::map<std::string, std::string> reported;
  for (const auto& pin : list.pins) {
    const auto print_error = [&](std::string what) {
      plan.problems.push_back({pin.where, std::move(what)});
    };
    const auto* one = shower_named(all, pin.name);
    if (one == nullptr) {
      print_error("no node or PDU of the inventory is called '" + printable(pin.name) +
                  "' or is reached there");
      continue;
    }
    const auto [before, first] = reported.emplace(one->bmc, pin.certificate);
    if (!first && before->second != pin.certificate)
      print_error(one->name + " has another certificate further above");
    if (!first) continue;
    const auto known = known_of(store, *one);
    const bool same = lower_case(known.certificate) == lower_case(pin.certificate);
    if (same)
      ++plan.already;
    else if (known.from == "inventory")
      print_error("the inventory names the certificate of " + one->name + " itself (tls:)");
    else if (known.from == "state" && !replace)
      print_error(one->name + " is pinned to " + known.certificate +
                  "; --replace where the new one is meant");
    else
      plan.pins[one->bmc] = pin.certificate;
  }
  return plan;
}

struct Opened {
  inventory::Inventory inventory;
  std::unique_ptr<store::Store> store;
};

OrExit<Opened> opened(const BmcCommand& command) {
  TRY(auto inventory, inventory_or_exit(command.context, command.asked->inventory));
  auto store = store::Store::open(command.context.state);
  if (!store) return print_error(command.context, store.error(), Exit::unfinished);
  return Opened{std::move(inventory), *std::move(store)};
}

Exit import_pins(const BmcCommand& command, const Import& asked) {
  TRY(const auto site, opened(command));
  const auto text = read_trusted_file(asked.file, bmc::kLongestPinList);
  if (!text) return print_error(command.context, text.error(), Exit::invalid);
  const auto plan = planned(*site.store, showers_of(site.inventory),
                            bmc::parse_pin_list(*text, asked.file), asked.replace);
  if (!plan.problems.empty())
    return print_error(command.context, inventory::reported_once(plan.problems));
  for (const auto& [name, certificate] : plan.pins) {
    const auto kept = site.store->repin("bmc:" + name, certificate);
    if (!kept) return print_error(command.context, kept.error(), Exit::unfinished);
  }
  const auto count = plan.pins.size();
  if (command.context.json)
    say("{}\n", json::serialize(json::object{{"imported", count}, {"already", plan.already}}));
  else
    say("{} imported, {} known already\n", count, plan.already);
  return Exit::passed;
}

Exit list_pins(const BmcCommand& command) {
  TRY(const auto site, opened(command));
  std::vector<Row> rows{{"name", "address", "from", "certificate"}};
  json::array all;
  for (const auto& one : showers_of(site.inventory)) {
    const auto known = known_of(*site.store, one);
    rows.push_back({one.name, to_string(one.endpoint), std::string{known.from}, known.certificate});
    all.push_back(json::object{{"name", one.name},
                               {"address", to_string(one.endpoint)},
                               {"from", known.from},
                               {"certificate", known.certificate}});
  }
  if (command.context.json)
    say("{}\n", json::serialize(all));
  else
    say("{}", table(rows));
  return Exit::passed;
}

Exit export_pins(const BmcCommand& command) {
  TRY(const auto site, opened(command));
  say("# certificates of BMCs and PDUs; to be read by: cupel bmc pins import FILE\n");
  for (const auto& one : showers_of(site.inventory)) {
    const auto known = known_of(*site.store, one);
    if (known.certificate.starts_with("SHA256:")) say("{} {}\n", one.name, known.certificate);
  }
  return Exit::passed;
}

}  // namespace

CommandRow bmc_pins_command(const BmcCommand& command) {
  auto asked = std::make_shared<Import>();
  CommandRow import_row{"import", "pin all certificates in the file, or none"};
  import_row.options = {{"FILE", &asked->file, "the list", kRequired},
                        {"--replace", &asked->replace, "also where another certificate is pinned"}};
  import_row.run = [command, asked] { return import_pins(command, *asked); };
  CommandRow list_row{"list", "which certificates are pinned, and which are not"};
  list_row.run = [command] { return list_pins(command); };
  CommandRow export_row{"export", "the pinned certificates, as a file to import"};
  export_row.run = [command] { return export_pins(command); };
  CommandRow row{"pins",
                 "pinned certificates of BMCs and PDUs: import, list, export; contacts no BMC"};
  row.footer =
      "Examples: cupel bmc pins import certificates.txt\n"
      "          cupel bmc pins list\n"
      "          cupel bmc pins export > certificates.txt\n"
      "A line of the file: a node's name, a PDU's name or an address, and SHA256:<64 digits>;\n"
      "or the name alone, with its PEM certificate on the lines below. '#' begins a comment.";
  row.subcommands = {import_row, list_row, export_row};
  return row;
}

}  // namespace cupel::cli
