// `cupel boot dhcp`: dnsmasq's configuration for the inventory, printed, or run until it is
// stopped.

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "inventory/model.h"
#include "inventory/select.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/interrupt.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/netboot/dhcp_log.h"
#include "orchestrator/netboot/dnsmasq.h"

namespace cupel::cli {
namespace {

using netboot::DhcpConf;
using netboot::DhcpNode;

struct BootAsked {
  std::string inventory = default_inventory();
  std::string nodes = "all";
  std::string programs = "/usr/lib/ipxe";
  std::string leases = "/var/lib/misc/cupel-dhcp.leases";
  bool run = false;
};

/// What machines cannot do with what there is: said, and no error.
void warn_of_lacks(const DhcpConf& conf, const BootAsked& asked,
                   const std::vector<const inventory::Node*>& nodes) {
  for (const auto program : netboot::tftp_programs())
    if (std::ranges::find(conf.programs, program) == conf.programs.end())
      say(stderr, "cupel: warning: {} has no {}: firmware that needs it gets no PXE answer\n",
          asked.programs, program);
  for (const auto* node : nodes)
    if (node->boot.macs.empty())
      say(stderr, "cupel: warning: {} has no MAC address (boot: macs) and gets no answer\n",
          node->name);
  if (conf.mode == inventory::DhcpMode::proxy)
    say(stderr,
        "cupel: warning: a proxy answers PXE alone: for dhcp-http give the site's DHCP server the "
        "URL {}ram.efi\n",
        conf.boot_url);
}

Exit print(const Context& context, const DhcpConf& conf, const std::vector<DhcpNode>& nodes) {
  const auto text = netboot::dnsmasq_conf(conf, nodes);
  if (!text) return print_error(context, text.error(), Exit::invalid);
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"conf", *text}}));
  else
    std::fputs(text->c_str(), stdout);
  return Exit::passed;
}

void tell(const Context& context, const netboot::DhcpEvent& event) {
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"cause", event.cause},
                                                           {"node", event.node},
                                                           {"problem", event.is_problem},
                                                           {"text", valid_utf8(event.text)}}));
  else
    say("{}{}{}: {}\n", event.is_problem ? "problem: " : "", event.node,
        event.node.empty() ? event.cause : " " + event.cause, event.text);
  std::fflush(stdout);
}

Exit run(const Context& context, const DhcpConf& conf, const std::vector<DhcpNode>& nodes,
         const BootAsked& asked) {
  auto dnsmasq = netboot::Dnsmasq::prepare(conf, nodes, asked.programs);
  if (!dnsmasq)
    return print_error(context, dnsmasq.error(),
                       dnsmasq.error().code == Code::kInvalid ? Exit::invalid : Exit::unfinished);
  netboot::DhcpLog log{nodes};
  const auto heard = [&](std::string_view line) {
    if (line.starts_with("dnsmasq[") && line.contains("started"))
      tell(context, {.cause = "started",
                     .text = fmt::format("DHCP on {} for {} nodes; Ctrl-C stops it", conf.interface,
                                         nodes.size())});
    if (const auto event = log.read(line)) tell(context, *event);
  };
  asio::io_context io{1};
  const auto stopped = run_to_end(io, until_interrupted(dnsmasq->run(heard)));
  if (stopped.interrupted) return Exit::passed;
  return print_error(context, stopped.value.error(), Exit::unfinished);
}

Exit dhcp(const Context& context, const BootAsked& asked) {
  TRY(const auto inventory, inventory_or_exit(context, asked.inventory));
  const auto selected =
      inventory::select(inventory, asked.nodes, inventory::RackScope::all(), nodes_of_run(context));
  if (!selected) return print_error(context, selected.error(), Exit::invalid);
  auto conf = netboot::dhcp_of(inventory.boot);
  if (!conf) return print_error(context, conf.error(), Exit::invalid);
  conf->tftp_folder = asked.programs;
  conf->programs = netboot::programs_in(asked.programs);
  conf->lease_file = asked.leases;
  warn_of_lacks(*conf, asked, *selected);
  const auto nodes = netboot::dhcp_nodes(*selected);
  return asked.run ? run(context, *conf, nodes, asked) : print(context, *conf, nodes);
}

}  // namespace

CommandRow boot_command(Context& context) {
  const auto asked = std::make_shared<BootAsked>();
  CommandRow dhcp_row{"dhcp",
                      "dnsmasq's configuration, or dnsmasq itself, for the nodes of the inventory"};
  dhcp_row.footer =
      "Examples: cupel boot dhcp > /etc/dnsmasq.d/cupel.conf\n"
      "          cupel boot dhcp --nodes rack:a01 --run\n"
      "Exit codes: 0 printed, or stopped by a signal, 2 the input is wrong,\n"
      "            3 dnsmasq could not run.";
  dhcp_row.options = {
      {"-i,--inventory", &asked->inventory,
       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
      {"-n,--nodes", &asked->nodes, "who is answered, as with run --nodes [all]"},
      {"--tftp", &asked->programs, "folder of the iPXE programs for PXE firmware [/usr/lib/ipxe]"},
      {"--lease-file", &asked->leases,
       "where dnsmasq keeps its leases [/var/lib/misc/cupel-dhcp.leases]"},
      {"--run",
       &asked->run,
       "run dnsmasq on the interface of boot: dhcp until Ctrl-C, and print who asks and what goes "
       "wrong",
       {.excludes = {"--lease-file"}}},
      json_flag(context)};
  dhcp_row.run = [&context, asked] { return dhcp(context, *asked); };
  CommandRow row{"boot", "what machines without an OS boot by"};
  row.subcommands = {dhcp_row};
  return row;
}

}  // namespace cupel::cli
