// `cupel export netbox`: results go back to where the site keeps its machines.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iostream>

#include "base/json.h"
#include "base/text.h"
#include "inventory/load.h"
#include "inventory/model.h"
#include "inventory/select.h"
#include "orchestrator/cli/archive_export.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/dcim_server.h"
#include "orchestrator/cli/newest_verdicts.h"
#include "orchestrator/cli/otlp_export.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/seen_assets.h"
#include "orchestrator/cli/seen_cables.h"
#include "orchestrator/dcim/cables.h"
#include "orchestrator/dcim/changes.h"

namespace cupel::cli {
namespace {

struct ExportOptions {
  DcimOptions server{};
  std::string inventory = default_inventory(), nodes = "all";
  dcim::ChangeRules rules{};
  std::vector<std::string> ports{};
  bool yes = false;
};

/// The serial number of each chassis, as its machine says, by node.
Result<std::map<std::string, std::string>> serials_of(const store::Store& store) {
  TRY(const auto seen, seen_machines(store));
  std::map<std::string, std::string> serials;
  for (const auto& [node, parts] : seen.machines)
    for (const auto& part : parts.parts())
      if (part.kind == inventory::PartKind::system && !part.serial.empty())
        serials[node] = part.serial;
  return serials;
}

struct ExpectedNode {
  std::string id{};
  dcim::NodeResult result{};
  std::map<std::string, dcim::SeenCable> cables{};  // by HCA
};

std::set<std::string, std::less<>> names_of(const std::vector<const inventory::Node*>& nodes) {
  std::set<std::string, std::less<>> names;
  for (const auto* node : nodes) names.insert(node->name);
  return names;
}

/// By node, of those that the lock names.
OrExit<std::map<std::string, ExpectedNode>> expected_or_exit(const Context& context,
                                                             const ExportOptions& options) {
  TRY(const auto inventory, inventory_or_exit(context, options.inventory));
  const auto nodes = inventory::select(inventory, options.nodes, inventory::RackScope::all(),
                                       nodes_of_run(context));
  if (!nodes) return print_error(context, nodes.error(), Exit::invalid);
  const auto lock = read_lock(options.inventory);
  if (!lock)
    return print_error(
        context,
        Error{Code::kInvalid, fmt::format("{} (an import of the inventory writes it: see "
                                          "docs/know/inventory.md)",
                                          lock.error().what)},
        Exit::invalid);
  const auto known = newest_verdicts(context, inventory);
  if (!known) return print_error(context, known.error(), Exit::unfinished);
  if (known->rehearsal)
    return print_error(context,
                       Error{Code::kInvalid,
                             "the state folder is a rehearsal's: its machines are "
                             "virtual, and nothing of them goes to NetBox"},
                       Exit::invalid);
  const auto store = store::Store::open(context.state);
  if (!store) return print_error(context, store.error(), Exit::unfinished);
  const auto serials = serials_of(**store);
  if (!serials) return print_error(context, serials.error(), Exit::unfinished);
  auto cables = seen_cables(**store, names_of(*nodes));
  if (!cables) return print_error(context, cables.error(), Exit::unfinished);
  std::map<std::string, ExpectedNode> expected;
  const auto* devices = find(*lock, "devices");
  const auto* by_name = devices == nullptr ? nullptr : devices->if_object();
  for (const auto* node : *nodes) {
    const auto* device = by_name == nullptr ? nullptr : by_name->if_contains(node->name);
    const auto id = device == nullptr ? std::string{} : text_at(*device, "id").value_or("");
    if (!number<std::int64_t>(id))
      return print_error(
          context,
          Error{Code::kInvalid,
                fmt::format("{} is no device of NetBox by {}: import again, or leave "
                            "it out of NODES",
                            node->name, lock_of(options.inventory).string())},
          Exit::invalid);
    auto& one = expected[node->name];
    one.id = id;
    if (const auto verdict = known->verdicts.find(node->name); verdict != known->verdicts.end())
      one.result = {verdict->second.run, verdict->second.state, verdict->second.cause};
    if (const auto serial = serials->find(node->name); serial != serials->end())
      one.result.serial = serial->second;
    if (const auto seen = cables->find(node->name); seen != cables->end())
      one.cables = std::move(seen->second);
  }
  return expected;
}

Task<Result<bool>> has_entry(dcim::Client& client, const ExpectedNode& expected,
                             Deadline deadline) {
  const auto mark = dcim::journal_mark(expected.result.run);
  CO_TRY(const auto entries, co_await client.first("/api/extras/journal-entries/",
                                                   {{"assigned_object_type", "dcim.device"},
                                                    {"assigned_object_id", expected.id}},
                                                   deadline));
  co_return std::ranges::any_of(entries, [&](const json::object& entry) {
    return text_at(json::value(entry), "comments").value_or("").starts_with(mark);
  });
}

/// The devices as they are now, by id.
Task<Result<std::map<std::string, dcim::Device>>> devices_of(dcim::Client& client,
                                                             std::vector<std::string> ids,
                                                             Deadline deadline) {
  constexpr std::size_t kAtOnce = 50;
  std::map<std::string, dcim::Device> devices;
  for (std::size_t at = 0; at < ids.size(); at += kAtOnce) {
    dcim::Filters filters;
    for (auto i = at; i < std::min(at + kAtOnce, ids.size()); ++i)
      filters.emplace_back("id", ids[i]);
    CO_TRY(const auto items,
           co_await client.list("/api/dcim/devices/", std::move(filters), deadline));
    for (const auto& item : items) {
      CO_TRY(auto device, dcim::parse_device(item));
      devices.emplace(device.id, std::move(device));
    }
  }
  co_return devices;
}

struct Changes {
  std::vector<dcim::DeviceChange> devices{};
  std::vector<dcim::CableChange> cables{};
};

std::vector<dcim::DeviceCables> cables_of(const std::map<std::string, ExpectedNode>& expected) {
  std::vector<dcim::DeviceCables> cables;
  for (const auto& [node, one] : expected)
    if (!one.cables.empty()) cables.push_back({one.id, node, one.cables});
  return cables;
}

/// What would change. `ports`: what NetBox calls them. Errors: kConflict: a device has another name
/// than its node.
Task<Result<Changes>> changes_for(dcim::Client& client,
                                  std::map<std::string, ExpectedNode> expected,
                                  dcim::ChangeRules rules, std::map<std::string, std::string> ports,
                                  Deadline deadline) {
  CO_TRY(const auto server, co_await client.status(deadline));
  if (server.product != dcim::Product::netbox)
    co_return Error{Code::kUnsupported, "results go back to NetBox alone: Nautobot is only read"};
  std::vector<std::string> ids;
  for (const auto& [node, one] : expected) ids.push_back(one.id);
  CO_TRY(const auto devices, co_await devices_of(client, std::move(ids), deadline));
  Changes changes;
  for (const auto& [node, one] : expected) {
    const auto device = devices.find(one.id);
    const auto name = device == devices.end() ? "gone" : printable(device->second.name);
    if (name != node)
      co_return Error{Code::kConflict, fmt::format("device {} was {} and is {} now: import again",
                                                   one.id, node, name)};
    bool entered = true;
    if (one.result.run != 0) {
      CO_TRY(entered, co_await has_entry(client, one, deadline));
    }
    changes.devices.push_back(dcim::change_of(device->second, one.result, rules, entered));
  }
  auto seen = cables_of(expected);
  CO_TRY(changes.cables,
         co_await dcim::read_cable_changes(client, std::move(seen), std::move(ports), deadline));
  co_return changes;
}

/// The entry last: what has none is tried again by the next export.
Task<Result<void>> write_change(dcim::Client& client, dcim::DeviceChange change,
                                Deadline deadline) {
  if (!change.fields.empty()) {
    CO_TRY(co_await client.patch(fmt::format("/api/dcim/devices/{}/", change.id), change.fields,
                                 deadline));
  }
  if (!change.journal.empty()) {
    CO_TRY(co_await client.post("/api/extras/journal-entries/", change.journal, deadline));
  }
  co_return ok();
}

bool is_change(const dcim::DeviceChange& change) {
  return !change.fields.empty() || !change.journal.empty();
}

bool is_cable_change(const dcim::CableChange& change) { return !change.fields.empty(); }

json::array json_of(const std::vector<dcim::CableChange>& changes) {
  json::array all;
  for (const auto& each : changes)
    if (is_cable_change(each) || !each.warnings.empty())
      all.push_back({{"node", each.node},
                     {"cable", each.id},
                     {"changes", json::array(each.words.begin(), each.words.end())},
                     {"warnings", json::array(each.warnings.begin(), each.warnings.end())}});
  return all;
}

json::array json_of(const std::vector<dcim::DeviceChange>& changes) {
  json::array all;
  for (const auto& each : changes)
    if (is_change(each) || !each.warnings.empty())
      all.push_back({{"node", each.node},
                     {"device", each.id},
                     {"changes", json::array(each.words.begin(), each.words.end())},
                     {"warnings", json::array(each.warnings.begin(), each.warnings.end())}});
  return all;
}

void say_changes(const auto& changes) {
  for (const auto& each : changes) {
    for (const auto& word : each.words) say("{}: {}\n", printable(each.node), word);
    for (const auto& warning : each.warnings) say("{}: {}\n", printable(each.node), warning);
  }
}

/// "3 devices", "3 devices and 8 cables".
std::string counted(std::size_t devices, std::size_t cables) {
  return cables == 0 ? fmt::format("{} devices", devices)
                     : fmt::format("{} devices and {} cables", devices, cables);
}

/// Whether a person at a terminal wants it.
bool is_requested(const std::string& counted, const std::string& url) {
  if (::isatty(STDIN_FILENO) == 0) return false;
  say("write this to {} of {}? [y/N] ", counted, printable(url));
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

/// Devices first. Errors: of the first that cannot be written, with its name.
Task<Result<void>> write_all(dcim::Client& client, Changes changes) {
  const auto named = [](const std::string& name, const Error& error) {
    return Error{error.code,
                 fmt::format("{}: {}; what stands before it is written", name, error.what)};
  };
  for (const auto& change : changes.devices) {
    if (!is_change(change)) continue;
    const auto written = co_await write_change(client, change, Deadline::in(kDcimPatience));
    if (!written) co_return named(change.node, written.error());
  }
  for (const auto& change : changes.cables) {
    if (!is_cable_change(change)) continue;
    const auto written = co_await client.patch(fmt::format("/api/dcim/cables/{}/", change.id),
                                               change.fields, Deadline::in(kDcimPatience));
    if (!written) co_return named("cable " + change.id, written.error());
  }
  co_return ok();
}

Exit export_results(const Context& context, const ExportOptions& options) {
  auto client = client_of(options.server);
  if (!client) return print_error(context, client.error(), Exit::invalid);
  const auto ports = pairs_of(options.ports, "--interface");
  if (!ports) return print_error(context, ports.error(), Exit::invalid);
  TRY(auto expected, expected_or_exit(context, options));
  asio::io_context io{1};
  auto looking = changes_for(*client, std::move(expected), options.rules,
                             {ports->begin(), ports->end()}, Deadline::in(kDcimPatience));
  const auto changes = run_to_end(io, std::move(looking));
  if (!changes) return print_error(context, changes.error(), Exit::unfinished);
  const auto devices = static_cast<std::size_t>(std::ranges::count_if(changes->devices, is_change));
  const auto cables =
      static_cast<std::size_t>(std::ranges::count_if(changes->cables, is_cable_change));
  const auto count = counted(devices, cables);
  if (context.json) {
    say("{}\n", json::serialize(json::object{{"devices", json_of(changes->devices)},
                                             {"cables", json_of(changes->cables)}}));
  } else {
    say_changes(changes->devices);
    say_changes(changes->cables);
  }
  if (devices + cables == 0) {
    if (!context.json) say("NetBox has it so already\n");
    return Exit::passed;
  }
  if (!options.yes && (context.json || !is_requested(count, options.server.url))) {
    if (!context.json) say("nothing was written; --yes writes it\n");
    return Exit::failed;
  }
  io.restart();
  const auto written = run_to_end(io, write_all(*client, *changes));
  if (!written) return print_error(context, written.error(), Exit::unfinished);
  if (!context.json) say("{} are written\n", count);
  return Exit::passed;
}

}  // namespace

CommandRow export_command(Context& context) {
  auto options = std::make_shared<ExportOptions>();
  CommandRow netbox{"netbox",
                    "writes results back: status, serial number, a journal entry, cables"};
  netbox.footer =
      "Example: cupel export netbox --url https://netbox.example.com --token file:token\n"
      "Exit codes: 0 written, or nothing to write, 1 not written: without a yes, 2 the input is\n"
      "            wrong, 3 NetBox could not be read or written.";
  netbox.options = joined<OptionRow>(
      {{{"NODES", &options->nodes, "as with run --nodes [all]"},
        {"-i,--inventory", &options->inventory,
         "that was imported [$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"}},
       options_of(options->server),
       {{"--passed", &options->rules.passed, "status of devices whose node passed [active]"},
        {"--failed", &options->rules.failed, "status of devices whose node failed [failed]"},
        {"--serials", &options->rules.serials, "write serial numbers that differ, too"},
        {"--interface",
         &options->ports,
         "what NetBox calls the interface of an HCA, such as mlx5_0=ib0 [its own name]",
         {.repeatable = true, .placeholder = "HCA=NAME"}},
        {"--yes", &options->yes, "do not ask"},
        json_flag(context)}});
  netbox.run = [&context, options] { return export_results(context, *options); };
  CommandRow row{"export", "results to the site's inventory, telemetry or bucket"};
  row.subcommands = {netbox, otlp_row(context), s3_row(context)};
  return row;
}

}  // namespace cupel::cli
