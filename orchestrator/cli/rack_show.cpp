// `cupel rack show RACK`: what the trays, switches, shelves and cooling unit of a rack say of
// themselves, on one page. Reads only.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/for_each_of.h"
#include "base/text.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/interrupt.h"
#include "orchestrator/cli/rack_commands.h"
#include "orchestrator/cli/rack_page.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/controller/connections.h"

namespace cupel::cli {
namespace {

using bmc::rack::Door;
using inventory::NvlRack;

/// Devices of a rack that are asked at a time: all of one rack's.
constexpr std::size_t kAtOnce = 64;

/// What one question fills; they end before the page goes.
using Ask = std::function<Task<Result<void>>()>;

template <class Reading, class Device, class Read>
Ask asked(DeviceReading<Reading>& reported, Door door, Device device, Read read,
          std::chrono::seconds patience) {
  return [&reported, door, device = std::move(device), read, patience]() -> Task<Result<void>> {
    return [](DeviceReading<Reading>& into, Task<Result<Reading>> reading) -> Task<Result<void>> {
      into.reading = co_await std::move(reading);
      co_return ok();
    }(reported, read(door, device, Deadline::in(patience)));
  };
}

/// A place for each answer, in the inventory's order.
RackPage empty_page(const NvlRack& rack) {
  RackPage page{.rack = &rack};
  for (const auto& tray : rack.compute)
    page.compute.push_back({.name = tray.bmc.name, .slot = tray.slot, .node = tray.node});
  for (const auto& tray : rack.switches) {
    if (tray.bmc) page.switch_bmcs.push_back({.name = tray.name, .slot = tray.slot});
    page.switches.push_back({.name = tray.name, .slot = tray.slot});
  }
  for (const auto& shelf : rack.shelves) page.shelves.push_back({.name = shelf.name});
  if (rack.cdu) page.cdu.push_back({.name = rack.cdu->name});
  return page;
}

std::vector<Ask> questions(RackPage& page, const Door& door, std::chrono::seconds patience) {
  const auto& rack = *page.rack;
  std::vector<Ask> all;
  for (std::size_t i = 0; i < rack.compute.size(); ++i)
    all.push_back(
        asked(page.compute[i], door, rack.compute[i].bmc, bmc::rack::read_tray, patience));
  std::size_t bmcs = 0;
  for (std::size_t i = 0; i < rack.switches.size(); ++i) {
    const auto& tray = rack.switches[i];
    if (tray.bmc)
      all.push_back(
          asked(page.switch_bmcs[bmcs++], door, *tray.bmc, bmc::rack::read_tray, patience));
    all.push_back(asked(page.switches[i], door, tray, bmc::rack::read_switch, patience));
  }
  for (std::size_t i = 0; i < rack.shelves.size(); ++i)
    all.push_back(
        asked(page.shelves[i], door, rack.shelves[i], bmc::rack::read_equipment, patience));
  if (rack.cdu)
    all.push_back(asked(page.cdu[0], door, *rack.cdu, bmc::rack::read_equipment, patience));
  return all;
}

Task<std::vector<Result<void>>> ask_all(std::vector<Ask> all) {
  const auto one = [](Ask& ask) { return ask(); };
  return for_each_of<void>(std::move(all), kAtOnce, one);
}

OrExit<const NvlRack*> rack_or_exit(const Context& context, const inventory::LoadedRacks& site,
                                    const std::string& name, const std::string& file) {
  std::vector<std::string> names;
  for (const auto& rack : site.racks) {
    if (rack.name == name) return &rack;
    names.push_back(rack.name);
  }
  const auto known = names.empty()
                         ? std::string{"none has a kind: racks: {a01: {kind: gb200-nvl72}}"}
                         : fmt::format("there are: {}", fmt::join(names, ", "));
  return print_error(
      context,
      Error{Code::kNotFound,
            fmt::format("{} has no rack '{}' that is one machine{}; {}", file, printable(name),
                        inventory::did_you_mean(name, std::span<const std::string>{names}), known)},
      Exit::invalid);
}

/// What a device has refused may be tried again, once.
void forget_refusals(bmc::redfish::Transport& transport, const NvlRack& rack) {
  for (const auto* device : devices_of(rack))
    transport.bmc_limits(device->pin_name()).logins.accepted(device->user);
}

Exit show(const Context& context, const RackAsked& asked) {
  const auto patience = inventory::duration_of(asked.patience);
  if (!patience || patience->count() <= 0)
    return print_error(
        context,
        Error{Code::kInvalid, "--patience must be a duration such as 90s or 5m, not '" +
                                  printable(asked.patience) + "'"},
        Exit::invalid);
  const auto site = inventory::load_racks(asked.inventory);
  if (!site.inventory) return print_error(context, site.problems);
  TRY(const auto* rack, rack_or_exit(context, site, asked.rack, asked.inventory));
  auto store = open_store_for(context, *site.inventory);
  if (!store) return print_error_of_store(context, store.error());
  controller::Network network{**store};
  const Door door{
      .transport = network.redfish,
      .known = **store,
      .secret = [](const inventory::SecretRef& ref) { return controller::secret_source(ref); }};
  if (asked.retry_logins) forget_refusals(network.redfish, *rack);
  auto page = empty_page(*rack);
  const auto ended =
      run_to_end(network.io, until_interrupted(ask_all(questions(page, door, *patience))));
  if (context.json)
    say("{}\n", boost::json::serialize(object_of(page)));
  else
    say("{}", text_of(page));
  if (ended.interrupted) return Exit::unfinished;
  return faults_of(page).empty() && not_read(page).empty() ? Exit::passed : Exit::failed;
}

}  // namespace

CommandRow rack_show_command(Context& context) {
  auto asked = std::make_shared<RackAsked>();
  CommandRow row{
      "show",
      "asks the trays, switches, shelves and cooling unit of a rack where they are and how "
      "they are; names what contradicts"};
  row.footer =
      "Exit codes: 0 all was read and nothing contradicts, 1 something is wrong or was not read.\n"
      "Examples: cupel rack show a01\n"
      "          cupel rack show a01 --json --inventory site.yaml";
  row.options = {{"NAME", &asked->rack, "a rack of the inventory that is one machine", kRequired},
                 {"-i,--inventory", &asked->inventory,
                  "the site [$CUPEL_INVENTORY, ./inventory.yaml or /etc/cupel/inventory.yaml]"},
                 {"--retry-logins", &asked->retry_logins,
                  "tries user and password again where a device has refused them"},
                 {"--patience", &asked->patience, "how long one device may take to answer [2m]"},
                 json_flag(context)};
  row.run = [&context, asked] { return show(context, *asked); };
  return row;
}

}  // namespace cupel::cli
