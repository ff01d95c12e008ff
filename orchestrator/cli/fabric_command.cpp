// `cupel fabric ...`: the cable plan of an inventory, and the plan against what tools report.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "base/file.h"
#include "base/text.h"
#include "burnin/fabric/discovery/ibdiagnet.h"
#include "burnin/fabric/discovery/iblinkinfo.h"
#include "burnin/fabric/discovery/ibnetdiscover.h"
#include "burnin/fabric/discovery/scan.h"
#include "burnin/fabric/discovery/ufm_rest.h"
#include "burnin/fabric/lldp_cables.h"
#include "inventory/model.h"
#include "inventory/slurm_topology.h"
#include "orchestrator/cli/audit_progress.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/fabric_text.h"
#include "orchestrator/cli/file_changes.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/handoff/ufm_client.h"

namespace cupel::cli {
namespace {

struct FabricAsked {
  std::string inventory = default_inventory();
  std::string ibnetdiscover{};  // file with its output
  std::string iblinkinfo{};
  std::string ibdiagnet{};  // file ibdiagnet2.db_csv
  std::string lldp{};       // folder with lldpctl's output of each switch
  std::string slurm{};      // "conf" or "yaml"
  std::string columns{};
  bool ufm = false;  // the inventory's is asked
  bool every = false;
  bool list = false;
  bool watch = false;
};

struct FabricCommand {
  Context& context;
  std::shared_ptr<FabricAsked> asked = std::make_shared<FabricAsked>();
};

void print(const boost::json::object& object) { say("{}\n", boost::json::serialize(object)); }

/// The inventory, where it has a cable plan.
OrExit<inventory::Inventory> planned(const FabricCommand& command) {
  TRY(auto inventory,
      inventory_or_exit(command.context, command.asked->inventory, command.asked->columns));
  if (inventory.fabric) return inventory;
  return print_error(
      command.context,
      Error{Code::kInvalid, fmt::format("{} has no cable plan: add fabric: (docs/do/fabric.md)",
                                        command.asked->inventory)},
      Exit::invalid);
}

Exit plan(const FabricCommand& command) {
  TRY(const auto inventory, planned(command));
  const auto& site = *inventory.fabric;
  if (command.asked->slurm == "conf")
    say("{}", inventory::topology_conf(site.fabric));
  else if (command.asked->slurm == "yaml")
    say("{}", inventory::topology_yaml(site.fabric));
  else if (command.context.json)
    print(plan_json(site));
  else
    say("{}", plan_text(site, command.asked->every));
  return Exit::passed;
}

/// What the named file says, "-" being standard input.
Result<inventory::SeenFabric> seen_in(const FabricAsked& asked) {
  if (!asked.ibdiagnet.empty()) {
    TRY(const auto text, read_file(asked.ibdiagnet, burnin::kLargestReport));
    TRY(auto found, within(asked.ibdiagnet, burnin::parse_ibdiagnet(text)));
    return std::move(found.seen);
  }
  const bool links = asked.ibnetdiscover.empty();
  const auto& file = links ? asked.iblinkinfo : asked.ibnetdiscover;
  if (file.empty())
    return Error{
        Code::kInvalid,
        "name the file with the output of ibnetdiscover (--ibnetdiscover) or of iblinkinfo "
        "(--iblinkinfo), ibdiagnet2.db_csv (--ibdiagnet), or a folder with those of lldpctl "
        "(--lldp), or ask the inventory's UFM "
        "(--ufm)"};
  const auto parse = [&](std::string_view text) {
    return links ? burnin::parse_iblinkinfo(text) : burnin::parse_ibnetdiscover(text);
  };
  if (file == "-") {
    std::string text;
    std::array<char, 1 << 16> piece{};
    while (text.size() <= burnin::kLargestReport &&
           std::cin.read(piece.data(), piece.size()).gcount() > 0)
      text.append(piece.data(), static_cast<std::size_t>(std::cin.gcount()));
    return parse(text);
  }
  TRY(const auto text, read_file(file, burnin::kLargestReport));
  return within(file, parse(text));
}

/// leaf1-r1.json, spine1.json, ...: lldpctl's output of each switch. Errors: a file that is none.
Result<std::vector<burnin::fabric::SwitchNeighbours>> switches_in(const std::string& folder) {
  namespace fs = std::filesystem;
  constexpr std::size_t kMostSwitches = 10'000;
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::directory_iterator at{folder, failure}, end; !failure && at != end;
       at.increment(failure)) {
    if (at->path().extension() != ".json") continue;
    if (files.size() == kMostSwitches)
      return Error{Code::kInvalid,
                   fmt::format("{}: more than {} files", printable(folder), kMostSwitches)};
    files.push_back(at->path());
  }
  if (failure)
    return Error{Code::kNotFound, fmt::format("{}: {}", printable(folder), failure.message())};
  std::ranges::sort(files);
  std::vector<burnin::fabric::SwitchNeighbours> switches;
  for (const auto& file : files) {
    TRY(const auto text, read_file(file, burnin::kLargestReport));
    auto neighbours = burnin::parse_lldpctl(text);
    // One without neighbours does not hide what the others see.
    if (!neighbours && neighbours.error().code == Code::kNoMeasurement)
      neighbours = std::vector<burnin::LldpNeighbour>{};
    TRY(auto known, within(file.string(), std::move(neighbours)));
    switches.push_back({printable(valid_utf8(file.stem().string())), std::move(known)});
  }
  if (switches.empty())
    return Error{Code::kNoMeasurement,
                 fmt::format("{}: no file. Save lldpctl -f json0 of each switch there as "
                             "SWITCH.json",
                             printable(folder))};
  return switches;
}

/// What the inventory's UFM lists now.
Result<inventory::SeenFabric> seen_by_ufm(const inventory::FabricSite& site) {
  if (!site.ufm)
    return Error{Code::kInvalid,
                 "the inventory has no UFM: add ufm: {url: ..., token: ...} to "
                 "its fabric: (docs/do/fabric.md)"};
  constexpr std::chrono::seconds kPatience{90};
  asio::io_context io{1};
  handoff::UfmClient client{*site.ufm};
  TRY(const auto answers, run_to_end(io, client.ask(Deadline::in(kPatience))));
  return burnin::parse_ufm_rest(answers.links, answers.ports, answers.systems);
}

/// The plan that was compared, and what was found.
Result<burnin::fabric::SwitchAudit> audited(const FabricAsked& asked,
                                            const inventory::FabricSite& site) {
  const auto& fabric = site.fabric;
  if (asked.ufm) {
    TRY(const auto seen, seen_by_ufm(site));
    return burnin::fabric::SwitchAudit{fabric, inventory::audit_fabric(fabric, seen)};
  }
  if (!asked.lldp.empty()) {
    TRY(const auto switches, switches_in(asked.lldp));
    return burnin::fabric::audit_switches_by_lldp(fabric, switches);
  }
  TRY(const auto seen, seen_in(asked));
  return burnin::fabric::SwitchAudit{fabric, inventory::audit_fabric(fabric, seen)};
}

/// Looks again each time that the file is written, until each cable is in its port.
Exit watch(const FabricCommand& command, const inventory::Fabric& fabric) {
  const auto& asked = *command.asked;
  const auto& file = !asked.ibdiagnet.empty()      ? asked.ibdiagnet
                     : asked.ibnetdiscover.empty() ? asked.iblinkinfo
                                                   : asked.ibnetdiscover;
  if (file.empty() || file == "-")
    return print_error(
        command.context,
        Error{Code::kInvalid, "--watch needs a file that is written again and again"},
        Exit::invalid);
  auto changes = FileChanges::of(file);
  if (!changes) return print_error(command.context, changes.error(), Exit::invalid);
  std::optional<inventory::FabricAudit> last;
  do {
    const auto seen = seen_in(asked);
    if (!seen) {
      say("not judged: {}\n", printable(seen.error().what));
      continue;
    }
    auto audit = inventory::audit_fabric(fabric, *seen);
    say("{}", last ? audit_progress(*last, audit) : audit_text(audit));
    last = std::move(audit);
    if (last->passed()) return Exit::passed;
    // What is behind a pipe reads it now, and not at the end.
  } while (std::fflush(stdout) == 0 && changes->wait());
  return Exit::failed;
}

Exit audit(const FabricCommand& command) {
  TRY(const auto inventory, planned(command));
  if (command.asked->watch) return watch(command, inventory.fabric->fabric);
  const auto done = audited(*command.asked, *inventory.fabric);
  if (!done) {
    // What a UFM does not answer was not looked at, either.
    const bool empty = done.error().code == Code::kNoMeasurement ||
                       (command.asked->ufm && done.error().code != Code::kInvalid);
    return print_error(command.context, done.error(), empty ? Exit::unfinished : Exit::invalid);
  }
  const auto& audit = done->audit;
  if (command.context.json)
    print(audit_json(audit));
  else if (command.asked->list)
    say("{}", walking_list(done->compared, audit));
  else
    say("{}", audit_text(audit));
  return audit.passed() ? Exit::passed : Exit::failed;
}

OptionRow columns_option(FabricAsked& asked) {
  return {"--columns", &asked.columns,
          "what the columns of the file of cables are called, where its header is not understood: "
          "from=Host,from_port=NIC,to=Switch,to_port=Port [columns: of the inventory]"};
}

CommandRow fabric_plan_command(Context& context) {
  const FabricCommand command{context};
  CommandRow row{"plan", "what the cable plan means"};
  row.footer =
      "Examples: cupel fabric plan\n          cupel fabric plan --slurm conf > topology.conf";
  row.options = {
      {"-i,--inventory", &command.asked->inventory,
       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
      {"--cables", &command.asked->every, "list each cable too"},
      columns_option(*command.asked),
      {"--slurm",
       &command.asked->slurm,
       "print the leaves and spines as Slurm's topology.conf (conf) or topology.yaml (yaml)",
       {.among = {"conf", "yaml"}}},
      json_flag(context)};
  row.run = [command] { return plan(command); };
  return row;
}

CommandRow fabric_audit_command(Context& context) {
  const FabricCommand command{context};
  CommandRow row{"audit", "the cable plan against what tools report"};
  row.footer =
      "Examples: ibnetdiscover | cupel fabric audit --ibnetdiscover -\n"
      "          cupel fabric audit --iblinkinfo links.txt --list\n"
      "          cupel fabric audit --lldp switches\n"
      "          cupel fabric audit --ufm\n"
      "Exit codes: 0 each cable is in its port, 1 some are not, 2 the input is wrong,\n"
      "            3 the tool reported nothing: it could not look.";
  row.options = {
      {"-i,--inventory", &command.asked->inventory,
       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
      {"--ibnetdiscover", &command.asked->ibnetdiscover,
       "file with the output of ibnetdiscover; - is standard input"},
      {"--iblinkinfo",
       &command.asked->iblinkinfo,
       "file with the output of iblinkinfo; - is standard input",
       {.excludes = {"--ibnetdiscover"}}},
      {"--ibdiagnet",
       &command.asked->ibdiagnet,
       "file ibdiagnet2.db_csv of ibdiagnet",
       {.excludes = {"--ibnetdiscover", "--iblinkinfo"}}},
      {"--lldp",
       &command.asked->lldp,
       "folder with the output of lldpctl -f json0 of each Ethernet switch, as SWITCH.json; "
       "compares the cables between switches",
       {.excludes = {"--ibnetdiscover", "--iblinkinfo", "--ibdiagnet"}}},
      {"--ufm",
       &command.asked->ufm,
       "ask the UFM that the inventory names (fabric: ufm:), by GET alone",
       {.excludes = {"--ibnetdiscover", "--iblinkinfo", "--ibdiagnet", "--lldp"}}},
      columns_option(*command.asked),
      {"--list", &command.asked->list, "the moves by switch and port, to print and tick off"},
      {"--watch",
       &command.asked->watch,
       "look again each time that the file is written; report each move that was made",
       {.excludes = {"--ufm"}}},
      json_flag(context)};
  row.run = [command] { return audit(command); };
  return row;
}

}  // namespace

CommandRow fabric_command(Context& context) {
  CommandRow row{"fabric",
                 "the cable plan, the cables as they are, the health of links and their repairs"};
  row.footer =
      "Examples: cupel fabric plan\n"
      "          ibnetdiscover | cupel fabric audit --ibnetdiscover -\n"
      "          cupel fabric health now --before earlier";
  row.subcommands = {fabric_plan_command(context), fabric_audit_command(context),
                     health_command(context),      repaired_command(context),
                     history_command(context),     after_swap_command(context)};
  return row;
}

}  // namespace cupel::cli
