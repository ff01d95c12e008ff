#include "orchestrator/cli/dcim_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iostream>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/ownership.h"
#include "base/text.h"
#include "inventory/check_files.h"
#include "inventory/load.h"
#include "inventory/model.h"
#include "inventory/read_access.h"
#include "inventory/read_bmc.h"
#include "inventory/read_slurm.h"
#include "inventory/secret.h"
#include "inventory/select.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/ca_file.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/newest_verdicts.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/seen_assets.h"
#include "orchestrator/dcim/changes.h"
#include "orchestrator/dcim/inventory_text.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/report/summary.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = 64u << 20;
constexpr std::chrono::minutes kPatience{30};
constexpr int kLockSchema = 1;

struct ServerOptions {
  std::string url{}, token{}, ca{};
};

struct ImportOptions {
  ServerOptions server{};
  fs::path base{}, out{};
  std::vector<std::string> filters{}, profiles{};
  bool checks = false, overwrite = false;
};

struct ExportOptions {
  ServerOptions server{};
  std::string inventory = default_inventory(), nodes = "all";
  dcim::ChangeRules rules{};
  bool yes = false;
};

std::vector<OptionRow> options_of(ServerOptions& server) {
  return {{"--url", &server.url, "of its front page: https://netbox.example.com", kRequired},
          {"--token", &server.token, "of its API: file:PATH, env:NAME or cmd:COMMAND", kRequired},
          {"--ca", &server.ca, "PEM file of the authority of its certificate [the system's]"}};
}

/// Errors: kInvalid.
Result<dcim::Client> client_of(const ServerOptions& wish) {
  if (const auto fault = inventory::fault_in_server_url(wish.url, false))
    return Error{Code::kInvalid, "--url " + *fault};
  std::error_code unknown;
  const auto token = inventory::secret_of(wish.token, fs::current_path(unknown));
  if (!token) return Error{Code::kInvalid, "--token " + std::string{inventory::kSecretForm}};
  if (token->kind == inventory::SecretRef::Kind::file) {
    TRY(inventory::check_secret_file(token->where));
  }
  TRY(check_ca_file(wish.ca));
  auto url = wish.url;
  while (url.ends_with('/')) url.pop_back();
  return dcim::Client{std::move(url), wish.ca, *token};
}

/// "KEY=VALUE", each. Errors: kInvalid, with all that are none.
Result<dcim::Filters> pairs_of(const std::vector<std::string>& words, std::string_view option) {
  dcim::Filters pairs;
  std::string wrong;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    const bool is_pair = equals != word.npos && equals > 0 && equals + 1 < word.size();
    if (is_pair)
      pairs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    else
      wrong += fmt::format("{}{} '{}' is no NAME=VALUE", wrong.empty() ? "" : "; ", option,
                           printable(word));
  }
  if (!wrong.empty()) return Error{Code::kInvalid, wrong};
  return pairs;
}

fs::path lock_of(const fs::path& file) { return file.string() + ".lock.json"; }

/// The lock of an inventory that was imported. Errors: kNotFound, kInvalid, kMalformed.
Result<json::value> read_lock(const fs::path& file) {
  TRY(const auto text, read_file(lock_of(file), kLargestFile));
  auto lock = parse_json(text);
  if (!lock)
    return Error{Code::kMalformed,
                 fmt::format("{}: {}", lock_of(file).string(), lock.error().what)};
  return lock;
}

struct Imported {
  dcim::Server server{};
  std::vector<dcim::Device> devices{};
  std::map<std::string, int> racks{};
};

Task<Result<Imported>> read_all(dcim::Client client, dcim::Filters filters, Deadline deadline) {
  Imported all;
  CO_TRY(all.server, co_await client.status(deadline));
  CO_TRY(all.devices,
         co_await dcim::read_devices(client, all.server, std::move(filters), deadline));
  CO_TRY(all.racks, co_await dcim::read_racks(client, all.devices, deadline));
  co_return all;
}

struct Base {
  std::string text{};
  bool has_racks = false;
};

/// What is written by hand: everything but the nodes. It becomes an inventory of ours, with its
/// commands that fetch secrets.
OrExit<Base> base_or_exit(const Context& context, const ImportOptions& wish) {
  auto text = read_trusted_file(wish.base, kLargestFile);
  if (!text) return print_error(context, text.error(), Exit::invalid);
  std::vector<inventory::Problem> problems;
  const auto document = inventory::parse_yaml(*text, wish.base.string(), problems);
  if (document && document->root.entry("nodes") != nullptr)
    problems.push_back({{wish.base.string(), document->root.entry("nodes")->line,
                         document->root.entry("nodes")->column},
                        "nodes come from NetBox: leave nodes out of the file that --base names"});
  // Paths in it are relative to the inventory that it becomes.
  std::error_code unknown;
  const auto here = fs::weakly_canonical(fs::absolute(wish.base, unknown).parent_path(), unknown);
  const auto there = fs::weakly_canonical(fs::absolute(wish.out, unknown).parent_path(), unknown);
  if (here != there)
    problems.push_back({{wish.base.string(), 0, 0},
                        "--base and --out are to be in one folder: paths in the file are relative "
                        "to it"});
  if (!problems.empty()) return print_error(context, problems);
  return Base{*std::move(text), document && document->root.entry("racks") != nullptr};
}

/// What stands there now; empty: no file. Errors: kConflict: somebody has changed it by hand.
Result<std::string> standing_text(const ImportOptions& wish) {
  std::error_code failed;
  if (!fs::exists(wish.out, failed) && !failed) return std::string{};
  TRY(const auto text, read_file(wish.out, kLargestFile));
  const auto lock = read_lock(wish.out);
  const bool ours = lock && text_at(*lock, "sha256") == sha256_hex(text);
  if (ours || wish.overwrite) return text;
  return Error{Code::kConflict,
               fmt::format("{} is not as the last import left it: move what was written by hand "
                           "into {}, or replace the file with --overwrite",
                           printable(wish.out.string()), printable(wish.base.string()))};
}

std::string lock_text(const ImportOptions& wish, const Imported& all, const std::string& text) {
  json::object devices;
  for (const auto& device : all.devices)
    devices[valid_utf8(device.name)] =
        json::object{{"id", device.id}, {"updated", printable(device.updated)}};
  json::array filters(wish.filters.begin(), wish.filters.end());
  return json::serialize(json::object{{"schema", kLockSchema},
                                      {"server", wish.server.url},
                                      {"product", to_string(all.server.product)},
                                      {"version", all.server.version},
                                      {"filters", std::move(filters)},
                                      {"read", report::utc(report::wall_now())},
                                      {"sha256", sha256_hex(text)},
                                      {"devices", std::move(devices)}}) +
         "\n";
}

Exit say_import(const Context& context, const ImportOptions& wish, const Imported& all,
                const std::vector<std::string>& changes) {
  if (context.json) {
    say("{}\n",
        json::serialize(json::object{{"product", to_string(all.server.product)},
                                     {"version", all.server.version},
                                     {"devices", all.devices.size()},
                                     {"written", !wish.checks},
                                     {"changes", json::array(changes.begin(), changes.end())}}));
  } else {
    for (const auto& line : changes) say("{}\n", printable(line));
    say("{} {}: {} devices; {}{}\n", to_string(all.server.product), all.server.version,
        all.devices.size(), printable(wish.out.string()),
        changes.empty() ? " is as they are"
        : wish.checks   ? " would change so"
                        : " is written");
  }
  return wish.checks && !changes.empty() ? Exit::failed : Exit::passed;
}

Exit import_inventory(const Context& context, const ImportOptions& wish) {
  auto client = client_of(wish.server);
  if (!client) return print_error(context, client.error(), Exit::invalid);
  auto filters = pairs_of(wish.filters, "--filter");
  if (!filters) return print_error(context, filters.error(), Exit::invalid);
  const auto profiles = pairs_of(wish.profiles, "--profile");
  if (!profiles) return print_error(context, profiles.error(), Exit::invalid);
  TRY(const auto base, base_or_exit(context, wish));
  const auto before = standing_text(wish);
  if (!before) return print_error(context, before.error(), Exit::invalid);
  asio::io_context io{1};
  auto reading = read_all(*std::move(client), *std::move(filters), Deadline::in(kPatience));
  const auto all = run_to_end(io, std::move(reading));
  if (!all) return print_error(context, all.error(), Exit::unfinished);
  dcim::InventoryRules rules{.with_racks = !base.has_racks};
  for (const auto& [type, profile] : *profiles) rules.profiles[lower_case(type)] = profile;
  const auto made = dcim::inventory_text(all->devices, all->racks, rules);
  if (!made.faults.empty()) {
    std::vector<inventory::Problem> problems;
    for (const auto& fault : made.faults) problems.push_back({{wish.server.url, 0, 0}, fault});
    return print_error(context, problems);
  }
  auto text = base.text;
  if (!text.ends_with('\n')) text += '\n';
  text += fmt::format("# From {} at {}: each import writes it anew.\n",
                      to_string(all->server.product), wish.server.url);
  text += made.text;
  std::error_code unknown;
  const auto folder = fs::absolute(wish.out, unknown).parent_path();
  const auto checked = inventory::parse_inventory(text, wish.out.string(), folder);
  if (!checked.problems.empty()) return print_error(context, checked.problems);
  const auto changes = dcim::changed_lines(*before, text);
  if (!wish.checks) {
    // Reading NetBox takes its time, and editors are quick.
    const auto now = standing_text(wish);
    if (!now) return print_error(context, now.error(), Exit::invalid);
    if (*now != *before)
      return print_error(
          context,
          Error{Code::kConflict, fmt::format("{} was changed meanwhile: import again",
                                             printable(wish.out.string()))},
          Exit::invalid);
    const auto written = write_file(wish.out, text);
    if (!written) return print_error(context, written.error(), Exit::unfinished);
    const auto locked = write_file(lock_of(wish.out), lock_text(wish, *all, text));
    if (!locked) return print_error(context, locked.error(), Exit::unfinished);
  }
  return say_import(context, wish, *all, changes);
}

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

struct Wanted {
  std::string id{};
  dcim::NodeResult result{};
};

/// By node, of those that the lock names.
OrExit<std::map<std::string, Wanted>> wanted_or_exit(const Context& context,
                                                     const ExportOptions& wish) {
  TRY(const auto inventory, inventory_or_exit(context, wish.inventory));
  const auto nodes =
      inventory::select(inventory, wish.nodes, inventory::RackScope::all(), nodes_of_run(context));
  if (!nodes) return print_error(context, nodes.error(), Exit::invalid);
  const auto lock = read_lock(wish.inventory);
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
  std::map<std::string, Wanted> wanted;
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
                            node->name, lock_of(wish.inventory).string())},
          Exit::invalid);
    auto& one = wanted[node->name];
    one.id = id;
    if (const auto verdict = known->verdicts.find(node->name); verdict != known->verdicts.end())
      one.result = {verdict->second.run, verdict->second.state, verdict->second.cause};
    if (const auto serial = serials->find(node->name); serial != serials->end())
      one.result.serial = serial->second;
  }
  return wanted;
}

Task<Result<bool>> has_entry(dcim::Client& client, const Wanted& wanted, Deadline deadline) {
  const auto mark = dcim::journal_mark(wanted.result.run);
  CO_TRY(const auto entries, co_await client.first("/api/extras/journal-entries/",
                                                   {{"assigned_object_type", "dcim.device"},
                                                    {"assigned_object_id", wanted.id}},
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

/// What would change. Errors: kConflict: a device has another name than its node.
Task<Result<std::vector<dcim::DeviceChange>>> changes_for(dcim::Client& client,
                                                          std::map<std::string, Wanted> wanted,
                                                          dcim::ChangeRules rules,
                                                          Deadline deadline) {
  CO_TRY(const auto server, co_await client.status(deadline));
  if (server.product != dcim::Product::netbox)
    co_return Error{Code::kUnsupported, "results go back to NetBox alone: Nautobot is only read"};
  std::vector<std::string> ids;
  for (const auto& [node, one] : wanted) ids.push_back(one.id);
  CO_TRY(const auto devices, co_await devices_of(client, std::move(ids), deadline));
  std::vector<dcim::DeviceChange> changes;
  for (const auto& [node, one] : wanted) {
    const auto device = devices.find(one.id);
    const auto name = device == devices.end() ? "gone" : printable(device->second.name);
    if (name != node)
      co_return Error{Code::kConflict, fmt::format("device {} was {} and is {} now: import again",
                                                   one.id, node, name)};
    bool entered = true;
    if (one.result.run != 0) {
      CO_TRY(entered, co_await has_entry(client, one, deadline));
    }
    changes.push_back(dcim::change_of(device->second, one.result, rules, entered));
  }
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

void say_changes(const std::vector<dcim::DeviceChange>& changes) {
  for (const auto& each : changes) {
    for (const auto& word : each.words) say("{}: {}\n", printable(each.node), word);
    for (const auto& warning : each.warnings) say("{}: {}\n", printable(each.node), warning);
  }
}

/// Whether a person at a terminal wants it.
bool is_wanted(std::size_t devices, const std::string& url) {
  if (::isatty(STDIN_FILENO) == 0) return false;
  say("write this to {} devices of {}? [y/N] ", devices, printable(url));
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

Exit export_results(const Context& context, const ExportOptions& wish) {
  auto client = client_of(wish.server);
  if (!client) return print_error(context, client.error(), Exit::invalid);
  TRY(auto wanted, wanted_or_exit(context, wish));
  asio::io_context io{1};
  auto looking = changes_for(*client, std::move(wanted), wish.rules, Deadline::in(kPatience));
  const auto changes = run_to_end(io, std::move(looking));
  if (!changes) return print_error(context, changes.error(), Exit::unfinished);
  const auto count = static_cast<std::size_t>(std::ranges::count_if(*changes, is_change));
  if (context.json)
    say("{}\n", json::serialize(json::object{{"devices", json_of(*changes)}}));
  else
    say_changes(*changes);
  if (count == 0) {
    if (!context.json) say("NetBox has it so already\n");
    return Exit::passed;
  }
  if (!wish.yes && (context.json || !is_wanted(count, wish.server.url))) {
    if (!context.json) say("nothing was written; --yes writes it\n");
    return Exit::failed;
  }
  for (const auto& change : *changes) {
    if (!is_change(change)) continue;
    io.restart();
    const auto written = run_to_end(io, write_change(*client, change, Deadline::in(kPatience)));
    if (!written)
      return print_error(
          context,
          Error{written.error().code, fmt::format("{}: {}; devices before it are written",
                                                  change.node, written.error().what)},
          Exit::unfinished);
  }
  if (!context.json) say("{} devices are written\n", count);
  return Exit::passed;
}

}  // namespace

CommandRow import_row(Context& context) {
  auto wish = std::make_shared<ImportOptions>();
  CommandRow netbox{"netbox", "writes an inventory from NetBox or Nautobot"};
  netbox.footer =
      "Example: cupel inventory import netbox --url https://netbox.example.com --token file:token "
      "--profile dgx-h100=dgx-h100 --base base.yaml --out inventory.yaml\n"
      "Exit codes: 0 written, or as it was, 1 with --check: it would change, 2 the input is "
      "wrong,\n"
      "            3 NetBox could not be read.";
  netbox.options = joined<OptionRow>(
      {options_of(wish->server),
       {{"--base", &wish->base, "what is written by hand: site, defaults, slurm; no nodes",
         kRequired},
        {"--out", &wish->out, "the inventory that is written, in the same folder", kRequired},
        {"--filter",
         &wish->filters,
         "of the list of devices, as the API has it [all]",
         {.repeatable = true, .placeholder = "NAME=VALUE"}},
        {"--profile",
         &wish->profiles,
         "which profile a device type has",
         {.repeatable = true, .placeholder = "TYPE=PROFILE"}},
        {"--check", &wish->checks, "only say what would change"},
        {"--overwrite", &wish->overwrite, "replace a file that was changed by hand"},
        json_flag(context)}});
  netbox.run = [&context, wish] { return import_inventory(context, *wish); };
  CommandRow row{"import", "an inventory from where the site keeps its machines"};
  row.subcommands = {netbox};
  return row;
}

CommandRow export_command(Context& context) {
  auto wish = std::make_shared<ExportOptions>();
  CommandRow netbox{"netbox", "writes results back: status, serial number, a journal entry"};
  netbox.footer =
      "Example: cupel export netbox --url https://netbox.example.com --token file:token\n"
      "Exit codes: 0 written, or nothing to write, 1 not written: without a yes, 2 the input is\n"
      "            wrong, 3 NetBox could not be read or written.";
  netbox.options = joined<OptionRow>(
      {{{"NODES", &wish->nodes, "as with run --nodes [all]"},
        {"-i,--inventory", &wish->inventory,
         "that was imported [$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"}},
       options_of(wish->server),
       {{"--passed", &wish->rules.passed, "status of devices whose node passed [active]"},
        {"--failed", &wish->rules.failed, "status of devices whose node failed [failed]"},
        {"--serials", &wish->rules.serials, "write serial numbers that differ, too"},
        {"--yes", &wish->yes, "do not ask"},
        json_flag(context)}});
  netbox.run = [&context, wish] { return export_results(context, *wish); };
  CommandRow row{"export", "results to where the site keeps its machines"};
  row.subcommands = {netbox};
  return row;
}

}  // namespace cupel::cli
