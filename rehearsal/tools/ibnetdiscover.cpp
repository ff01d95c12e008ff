// ibnetdiscover of infiniband-diags 44: every switch that the port reaches, then every HCA, each
// with its links. Source: an own run of it on ibsim, and its man page.
#include <fmt/format.h>

#include <map>

#include "rehearsal/shell/host.h"
#include "rehearsal/tools/infiniband.h"
#include "rehearsal/tools/sets.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

/// "946dae1234567890" of "946d:ae12:3456:7890".
std::string digits_of(std::string guid) {
  std::erase(guid, ':');
  return guid;
}

std::string title_of(const SeenSwitch& one) { return fmt::format("MF0;{}:MQM9700/U1", one.name); }

std::string switch_text(const SeenSwitch& one) {
  const auto guid = digits_of(one.guid);
  auto text = fmt::format(
      "vendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x{0}\nswitchguid=0x{0}({0})\nSwitch\t65 "
      "\"S-{0}\"\t\t# \"{1}\" enhanced port 0 lid {2} lmc 0\n",
      guid, title_of(one), one.lid);
  for (const auto& link : one.links) {
    const auto far = digits_of(link.guid);
    if (link.to_switch)
      text += fmt::format("[{}]\t\"S-{}\"[{}]\t\t# \"MF0;{}:MQM9700/U1\" lid {} {}x{}\n", link.port,
                          far, link.far_port, link.name, link.lid, link.width, link.speed);
    else
      text += fmt::format("[{}]\t\"H-{}\"[1]({}) \t\t# \"{}\" lid {} {}x{}\n", link.port, far, far,
                          link.name, link.lid, link.width, link.speed);
  }
  return text + "\n";
}

std::string hca_text(const SeenSwitch& leaf, const SeenSwitch::Link& link) {
  const auto guid = digits_of(link.guid);
  return fmt::format(
      "vendid=0x2c9\ndevid=0x1021\nsysimgguid=0x{0}\ncaguid=0x{0}\nCa\t1 \"H-{0}\"\t\t# "
      "\"{1}\"\n[1]({0}) \t\"S-{2}\"[{3}]\t\t# lid {4} lmc 0 \"{5}\" lid {6} {7}x{8}\n\n",
      guid, link.name, digits_of(leaf.guid), link.port, link.lid, title_of(leaf), leaf.lid,
      link.width, link.speed);
}

Task<int> ibnetdiscover(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "C:P:o:t:s", {{"Ca", 'C'}, {"Port", 'P'}});
  if (!options.unknown.empty())
    co_return co_await print_error(process, "ibnetdiscover",
                                   "invalid option -- '" + options.unknown.substr(1) + "'");
  const auto requested = options.value('C');
  const auto& machine = process->host.machine();
  for (const auto& adapter : machine.hardware().adapters) {
    if (!adapter.infiniband || (!requested.empty() && adapter.name != requested)) continue;
    const auto seen = machine.fabric().discover(machine.name(), adapter.name);
    if (seen.empty()) continue;  // the first port that is up
    const auto guid = digits_of(adapter.guid);
    auto text = fmt::format(
        "#\n# Topology file: generated on Wed Nov 25 12:00:00 2026\n#\n# Initiated from node {0} "
        "port "
        "{0}\n\n",
        guid);
    for (const auto& one : seen) text += switch_text(one);
    for (const auto& one : seen)
      for (const auto& link : one.links)
        if (!link.to_switch) text += hca_text(one, link);
    co_await process->say(text);
    co_return 0;
  }
  const auto line = fmt::format(
      "ibwarn: [{0}] mad_rpc_open_port: can't open UMAD port ({1}:0)\n"
      "./libibnetdisc/src/ibnetdisc.c:811; can't open MAD port ({1}:0)\n"
      "ibnetdiscover: iberror: failed: discover failed\n",
      process->number, requested.empty() ? "(null)" : requested);
  co_await process->print_error(line);
  co_return 255;
}

constexpr auto kDiscoveryTools = std::to_array<Tool>({{"ibnetdiscover", ibnetdiscover}});

}  // namespace

std::span<const Tool> discovery_tools() { return kDiscoveryTools; }

}  // namespace cupel::rehearsal
