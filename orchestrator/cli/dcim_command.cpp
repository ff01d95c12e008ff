#include "orchestrator/cli/dcim_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/ownership.h"
#include "base/text.h"
#include "inventory/check_files.h"
#include "inventory/load.h"
#include "inventory/model.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/dcim_server.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/dcim/inventory_text.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/report/summary.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kLockSchema = 1;

struct ImportOptions {
  DcimOptions server{};
  fs::path base{}, out{};
  std::vector<std::string> filters{}, profiles{};
  bool checks = false, overwrite = false;
};

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
OrExit<Base> base_or_exit(const Context& context, const ImportOptions& options) {
  auto text = read_trusted_file(options.base, kLargestDcimFile);
  if (!text) return print_error(context, text.error(), Exit::invalid);
  std::vector<inventory::Problem> problems;
  const auto document = inventory::parse_yaml(*text, options.base.string(), problems);
  if (document && document->root.entry("nodes") != nullptr)
    problems.push_back({{options.base.string(), document->root.entry("nodes")->line,
                         document->root.entry("nodes")->column},
                        "nodes come from NetBox: leave nodes out of the file that --base names"});
  // Paths in it are relative to the inventory that it becomes.
  std::error_code unknown;
  const auto here =
      fs::weakly_canonical(fs::absolute(options.base, unknown).parent_path(), unknown);
  const auto there =
      fs::weakly_canonical(fs::absolute(options.out, unknown).parent_path(), unknown);
  if (here != there)
    problems.push_back({{options.base.string(), 0, 0},
                        "--base and --out are to be in one folder: paths in the file are relative "
                        "to it"});
  if (!problems.empty()) return print_error(context, problems);
  return Base{*std::move(text), document && document->root.entry("racks") != nullptr};
}

/// What stands there now; empty: no file. Errors: kConflict: somebody has changed it by hand.
Result<std::string> standing_text(const ImportOptions& options) {
  std::error_code failed;
  if (!fs::exists(options.out, failed) && !failed) return std::string{};
  TRY(const auto text, read_file(options.out, kLargestDcimFile));
  const auto lock = read_lock(options.out);
  const bool ours = lock && text_at(*lock, "sha256") == sha256_hex(text);
  if (ours || options.overwrite) return text;
  return Error{Code::kConflict,
               fmt::format("{} is not as the last import left it: move what was written by hand "
                           "into {}, or replace the file with --overwrite",
                           printable(options.out.string()), printable(options.base.string()))};
}

std::string lock_text(const ImportOptions& options, const Imported& all, const std::string& text) {
  json::object devices;
  for (const auto& device : all.devices)
    devices[valid_utf8(device.name)] =
        json::object{{"id", device.id}, {"updated", printable(device.updated)}};
  json::array filters(options.filters.begin(), options.filters.end());
  return json::serialize(json::object{{"schema", kLockSchema},
                                      {"server", options.server.url},
                                      {"product", to_string(all.server.product)},
                                      {"version", all.server.version},
                                      {"filters", std::move(filters)},
                                      {"read", report::utc(report::wall_now())},
                                      {"sha256", sha256_hex(text)},
                                      {"devices", std::move(devices)}}) +
         "\n";
}

Exit say_import(const Context& context, const ImportOptions& options, const Imported& all,
                const std::vector<std::string>& changes) {
  if (context.json) {
    say("{}\n",
        json::serialize(json::object{{"product", to_string(all.server.product)},
                                     {"version", all.server.version},
                                     {"devices", all.devices.size()},
                                     {"written", !options.checks},
                                     {"changes", json::array(changes.begin(), changes.end())}}));
  } else {
    for (const auto& line : changes) say("{}\n", printable(line));
    say("{} {}: {} devices; {}{}\n", to_string(all.server.product), all.server.version,
        all.devices.size(), printable(options.out.string()),
        changes.empty()  ? " is as they are"
        : options.checks ? " would change so"
                         : " is written");
  }
  return options.checks && !changes.empty() ? Exit::failed : Exit::passed;
}

Exit import_inventory(const Context& context, const ImportOptions& options) {
  auto client = client_of(options.server);
  if (!client) return print_error(context, client.error(), Exit::invalid);
  auto filters = pairs_of(options.filters, "--filter");
  if (!filters) return print_error(context, filters.error(), Exit::invalid);
  const auto profiles = pairs_of(options.profiles, "--profile");
  if (!profiles) return print_error(context, profiles.error(), Exit::invalid);
  TRY(const auto base, base_or_exit(context, options));
  const auto before = standing_text(options);
  if (!before) return print_error(context, before.error(), Exit::invalid);
  asio::io_context io{1};
  auto reading = read_all(*std::move(client), *std::move(filters), Deadline::in(kDcimPatience));
  const auto all = run_to_end(io, std::move(reading));
  if (!all) return print_error(context, all.error(), Exit::unfinished);
  dcim::InventoryRules rules{.with_racks = !base.has_racks};
  for (const auto& [type, profile] : *profiles) rules.profiles[lower_case(type)] = profile;
  const auto made = dcim::inventory_text(all->devices, all->racks, rules);
  if (!made.faults.empty()) {
    std::vector<inventory::Problem> problems;
    for (const auto& fault : made.faults) problems.push_back({{options.server.url, 0, 0}, fault});
    return print_error(context, problems);
  }
  auto text = base.text;
  if (!text.ends_with('\n')) text += '\n';
  text += fmt::format("# From {} at {}: each import writes it anew.\n",
                      to_string(all->server.product), options.server.url);
  text += made.text;
  std::error_code unknown;
  const auto folder = fs::absolute(options.out, unknown).parent_path();
  const auto checked = inventory::parse_inventory(text, options.out.string(), folder);
  if (!checked.problems.empty()) return print_error(context, checked.problems);
  const auto changes = dcim::changed_lines(*before, text);
  if (!options.checks) {
    // Reading NetBox takes its time, and editors are quick.
    const auto now = standing_text(options);
    if (!now) return print_error(context, now.error(), Exit::invalid);
    if (*now != *before)
      return print_error(
          context,
          Error{Code::kConflict, fmt::format("{} was changed meanwhile: import again",
                                             printable(options.out.string()))},
          Exit::invalid);
    const auto written = write_file(options.out, text);
    if (!written) return print_error(context, written.error(), Exit::unfinished);
    const auto locked = write_file(lock_of(options.out), lock_text(options, *all, text));
    if (!locked) return print_error(context, locked.error(), Exit::unfinished);
  }
  return say_import(context, options, *all, changes);
}

}  // namespace

CommandRow import_row(Context& context) {
  auto options = std::make_shared<ImportOptions>();
  CommandRow netbox{"netbox", "writes an inventory from NetBox or Nautobot"};
  netbox.footer =
      "Example: cupel inventory import netbox --url https://netbox.example.com --token file:token "
      "--profile dgx-h100=dgx-h100 --base base.yaml --out inventory.yaml\n"
      "Exit codes: 0 written, or as it was, 1 with --check: it would change, 2 the input is "
      "wrong,\n"
      "            3 NetBox could not be read.";
  netbox.options = joined<OptionRow>(
      {options_of(options->server),
       {{"--base", &options->base, "what is written by hand: site, defaults, slurm; no nodes",
         kRequired},
        {"--out", &options->out, "the inventory that is written, in the same folder", kRequired},
        {"--filter",
         &options->filters,
         "of the list of devices, as the API has it [all]",
         {.repeatable = true, .placeholder = "NAME=VALUE"}},
        {"--profile",
         &options->profiles,
         "which profile a device type has",
         {.repeatable = true, .placeholder = "TYPE=PROFILE"}},
        {"--check", &options->checks, "only say what would change"},
        {"--overwrite", &options->overwrite, "replace a file that was changed by hand"},
        json_flag(context)}});
  netbox.run = [&context, options] { return import_inventory(context, *options); };
  CommandRow row{"import", "an inventory from where the site keeps its machines"};
  row.subcommands = {netbox};
  return row;
}

}  // namespace cupel::cli
