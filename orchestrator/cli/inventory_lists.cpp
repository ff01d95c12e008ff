#include "orchestrator/cli/inventory_lists.h"

#include <boost/json.hpp>

#include "inventory/model.h"
#include "inventory/select.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/newest_verdicts.h"
#include "orchestrator/cli/run_copy.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/report/site_lists.h"

namespace cupel::cli {
namespace {

struct ListOptions {
  std::string file = default_inventory(), nodes = "all";
  std::string host{};         // Ansible's --host
  bool list = false;          // Ansible's --list, which is what happens without it, too
  std::uint16_t port = 9100;  // Prometheus' node exporter
};

struct Listed {
  inventory::Inventory inventory;
  report::ListedNodes nodes{};  // of `inventory`
  NewestVerdicts known{};
};

OrExit<std::unique_ptr<Listed>> listed_or_exit(const Context& context, const ListOptions& options) {
  const auto service = service_to_ask(context);
  if (!service) return print_error(context, service.error(), Exit::invalid);
  TRY(auto inventory, inventory_or_exit(context, options.file));
  auto listed = std::make_unique<Listed>(Listed{.inventory = std::move(inventory)});
  auto nodes = inventory::select(listed->inventory, options.nodes, inventory::RackScope::all(),
                                 nodes_of_run(context));
  if (!nodes) return print_error(context, nodes.error(), Exit::invalid);
  listed->nodes.assign(nodes->begin(), nodes->end());
  auto known = *service ? newest_verdicts(**service) : newest_verdicts(context, listed->inventory);
  if (!known && *service) return print_error_of_service(context, known.error());
  if (!known) return print_error(context, known.error(), Exit::unfinished);
  listed->known = std::move(*known);
  return listed;
}

/// Ansible wants an empty object for a host that is not there.
boost::json::object variables_of_host(const boost::json::object& all, const std::string& host) {
  const auto& variables = all.at("_meta").at("hostvars").as_object();
  const auto* of = variables.if_contains(host);
  return of == nullptr ? boost::json::object{} : of->as_object();
}

Exit ansible(const Context& context, const ListOptions& options) {
  TRY(const auto listed, listed_or_exit(context, options));
  const auto all = report::ansible_inventory(listed->inventory, listed->nodes,
                                             listed->known.verdicts, listed->known.rehearsal);
  say("{}\n",
      boost::json::serialize(options.host.empty() ? all : variables_of_host(all, options.host)));
  return Exit::passed;
}

Exit prometheus(const Context& context, const ListOptions& options) {
  TRY(const auto listed, listed_or_exit(context, options));
  say("{}\n", boost::json::serialize(
                  report::prometheus_targets(listed->nodes, listed->known.verdicts, options.port)));
  return Exit::passed;
}

std::vector<OptionRow> options_of(ListOptions& options) {
  return {{"NODES", &options.nodes, "as with run --nodes [all]"},
          {"-i,--inventory", &options.file,
           "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"}};
}

}  // namespace

CommandRow ansible_row(Context& context) {
  auto options = std::make_shared<ListOptions>();
  CommandRow row{"ansible", "the nodes as a dynamic inventory of Ansible, with the last verdict"};
  row.footer =
      "Example: printf '#!/bin/sh\\nexec cupel inventory ansible \"$@\"\\n' > site && chmod +x "
      "site\n"
      "         ansible -i site verdict_pass -m ping";
  row.options = options_of(*options);
  row.options.push_back({"--list", &options->list, "as without it: Ansible asks so"});
  row.options.push_back(
      {"--host", &options->host, "the variables of this node alone", {.excludes = {"--list"}}});
  row.run = [&context, options] { return ansible(context, *options); };
  return row;
}

CommandRow prometheus_row(Context& context) {
  auto options = std::make_shared<ListOptions>();
  CommandRow row{"prometheus", "the nodes as targets for file_sd_configs of Prometheus"};
  row.footer =
      "Example: cupel inventory prometheus --port 9400 > dcgm.json\n"
      "A service has the same for http_sd_configs: https://HOST:8443/metrics/targets?port=9400";
  row.options = options_of(*options);
  row.options.push_back({"--port",
                         &options->port,
                         "that the exporter listens on [9100]",
                         {.range = NumberRange{1, 65535}}});
  row.run = [&context, options] { return prometheus(context, *options); };
  return row;
}

}  // namespace cupel::cli
