#include "rehearsal/tools/infiniband.h"

#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {

PortReading read_port(const Host& host, const std::string& adapter) {
  const auto& machine = host.machine();
  auto reading = machine.fabric().port(machine.name(), adapter, machine.clock().elapsed());
  return reading.value_or(PortReading{});
}

std::string state_text(const PortReading& port) {
  constexpr std::array<std::string_view, 5> kNames{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE"};
  const auto number = static_cast<std::size_t>(port.state);
  return fmt::format("{}: {}", number, kNames.at(std::min<std::size_t>(number, 4)));
}

std::string physical_text(const PortReading& port) {
  constexpr std::array<std::string_view, 7> kNames{"NOP",
                                                   "Sleep",
                                                   "Polling",
                                                   "Disabled",
                                                   "PortConfigurationTraining",
                                                   "LinkUp",
                                                   "LinkErrorRecovery"};
  const auto number = static_cast<std::size_t>(port.physical);
  return fmt::format("{}: {}", number, kNames.at(std::min<std::size_t>(number, 6)));
}

/// A port that is down tells of the lowest rate that there is.
std::string rate_text(const PortReading& port) {
  if (port.state == PortState::down) return "10 Gb/sec (4X SDR)";
  if (port.link_layer != "InfiniBand") return fmt::format("{:g} Gb/sec", port.gbit);
  return fmt::format("{:g} Gb/sec ({}X {})", port.gbit, port.width, port.speed);
}

std::string net_name(const Adapter& adapter) {
  return adapter.infiniband ? "ib" + adapter.name.substr(5) : adapter.name;
}

namespace {

/// "0x946dae1234567890" of "946d:ae12:3456:7890".
std::string number_of(std::string guid) {
  std::erase(guid, ':');
  return "0x" + guid;
}

std::string capital(std::string text) {
  text = text.substr(text.find(' ') + 1);
  for (std::size_t i = 1; i < text.size(); ++i)
    text[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
  return text == "Init" ? "Initializing" : text;
}

std::string physical_word(const PortReading& port) {
  const auto text = physical_text(port);
  return text.substr(text.find(' ') + 1);
}

std::vector<const Adapter*> adapters_of(const Host& host) {
  std::vector<const Adapter*> all;
  for (const auto& adapter : host.machine().hardware().adapters)
    if (adapter.infiniband) all.push_back(&adapter);
  return all;
}

std::string about(const Host& host, const Adapter& adapter) {
  const auto port = read_port(host, adapter.name);
  const auto guid = number_of(adapter.guid);
  return fmt::format(
      "CA '{}'\n\tCA type: {}\n\tNumber of ports: 1\n\tFirmware version: {}\n\tHardware version: "
      "0\n\tNode GUID: {}\n\tSystem image GUID: {}\n\tPort 1:\n\t\tState: {}\n\t\tPhysical state: "
      "{}\n\t\tRate: {:g}\n\t\tBase lid: {}\n\t\tLMC: 0\n\t\tSM lid: {}\n\t\tCapability mask: "
      "{}\n\t\tPort GUID: {}\n\t\tLink layer: {}\n",
      adapter.name, adapter.model, adapter.firmware, guid, guid, capital(state_text(port)),
      physical_word(port), port.state == PortState::down ? 10 : port.gbit, port.lid, port.sm_lid,
      port.link_layer == "InfiniBand" ? "0xa751e848" : "0x00010000", guid, port.link_layer);
}

Task<int> ibstat(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "lspVh");
  if (!options.unknown.empty())
    co_return co_await print_error(process, "ibstat",
                                   "invalid option -- '" + options.unknown.substr(1) + "'");
  std::string text;
  const auto requested = options.operands.empty() ? std::string{} : options.operands[0];
  bool any = requested.empty();
  for (const auto* adapter : adapters_of(process->host)) {
    if (!requested.empty() && adapter->name != requested) continue;
    any = true;
    if (options.has('l'))
      text += adapter->name + "\n";
    else if (options.has('p'))
      text += number_of(adapter->guid) + "\n";
    else
      text += about(process->host, *adapter);
  }
  if (!any) {
    const auto line = fmt::format(
        "ibpanic: [{}] main: stat of IB device '{}' failed: No such file or directory\n",
        process->number, requested);
    co_await process->print_error(line);
    co_return 255;
  }
  co_await process->say(text);
  co_return 0;
}

Task<int> ibstatus(ProcessPtr process, Arguments arguments) {
  std::string text;
  for (const auto* adapter : adapters_of(process->host)) {
    const auto& name = adapter->name;
    const bool selected =
        arguments.size() < 2 || arguments[1] == name || arguments[1] == name + ":1";
    if (!selected) continue;
    const auto port = read_port(process->host, name);
    text += fmt::format(
        "Infiniband device '{}' port 1 status:\n\tdefault gid:\t "
        "fe80:0000:0000:0000:{}\n\tbase lid:\t 0x{:x}\n\tsm lid:\t\t 0x{:x}\n\tstate:\t\t "
        "{}\n\tphys state:\t {}\n\trate:\t\t {}\n\tlink_layer:\t {}\n\n",
        name, adapter->guid, port.lid, port.sm_lid, state_text(port), physical_text(port),
        rate_text(port), port.link_layer);
  }
  co_await process->say(text);
  co_return text.empty() ? 255 : 0;
}

Task<int> ibv_devinfo(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "d:i:lv");
  if (!options.unknown.empty())
    co_return co_await print_error(process, "ibv_devinfo",
                                   "invalid option -- '" + options.unknown.substr(1) + "'");
  const auto adapters = adapters_of(process->host);
  std::string text;
  if (options.has('l')) {
    text = fmt::format("{} HCA{} found:\n", adapters.size(), adapters.size() == 1 ? "" : "s");
    for (const auto* adapter : adapters) text += "\t" + adapter->name + "\n";
    text += "\n";
    co_await process->say(text);
    co_return 0;
  }
  const auto requested = options.value('d');
  for (const auto* adapter : adapters) {
    if (!requested.empty() && adapter->name != requested) continue;
    const auto port = read_port(process->host, adapter->name);
    const bool active = port.state == PortState::active;
    text += fmt::format(
        "hca_id:\t{}\n\ttransport:\t\t\tInfiniBand (0)\n\tfw_ver:\t\t\t\t{}\n\tnode_guid:\t\t\t"
        "{}\n\tsys_image_guid:\t\t\t{}\n\tvendor_id:\t\t\t0x02c9\n\tvendor_part_id:\t\t\t4129\n\t"
        "hw_ver:\t\t\t\t0x0\n\tboard_id:\t\t\tMT_0000000838\n\tphys_port_cnt:\t\t\t1\n\t\tport:"
        "\t1\n"
        "\t\t\tstate:\t\t\t{} ({})\n\t\t\tmax_mtu:\t\t4096 (5)\n\t\t\tactive_mtu:\t\t4096 "
        "(5)\n\t\t\t"
        "sm_lid:\t\t\t{}\n\t\t\tport_lid:\t\t{}\n\t\t\tport_lmc:\t\t0x00\n\t\t\tlink_layer:\t\t{}"
        "\n\n",
        adapter->name, adapter->firmware, adapter->guid, adapter->guid,
        active ? "PORT_ACTIVE" : "PORT_DOWN", static_cast<int>(port.state), port.sm_lid, port.lid,
        port.link_layer);
  }
  if (text.empty() && !requested.empty())
    co_return co_await print_error(process, "ibv_devinfo",
                                   "IB device '" + requested + "' wasn't found", 255);
  if (text.empty()) text = "No IB devices found\n";
  co_await process->say(text);
  co_return adapters.empty() ? 255 : 0;
}

/// "SymbolErrorCounter:..............0": the name and dots fill 33 places.
std::string counter(std::string_view name, std::uint64_t value) {
  return fmt::format("{:.<33}{}\n", std::string{name} + ":", value);
}

std::string counters_text(const PortReading& port, bool extended) {
  const auto& c = port.counters;
  auto text = extended
                  ? fmt::format(
                        "# Port extended counters: Lid {} port 1 (CapMask: 0x5300 "
                        "CapMask2: 0x0000002)\n",
                        port.lid)
                  : fmt::format("# Port counters: Lid {} port 1 (CapMask: 0x5300)\n", port.lid);
  text += counter("PortSelect", 1) + "CounterSelect:...................0x0000\n";
  const auto data =
      counter("PortXmitData", c.transmit_data) + counter("PortRcvData", c.receive_data) +
      counter("PortXmitPkts", c.transmit_packets) + counter("PortRcvPkts", c.receive_packets);
  if (extended)
    text += data + counter("PortUnicastXmitPkts", c.transmit_packets) +
            counter("PortUnicastRcvPkts", c.receive_packets) + counter("PortMulticastXmitPkts", 0) +
            counter("PortMulticastRcvPkts", 0) + "CounterSelect2:..................0x00000000\n";
  text += counter("SymbolErrorCounter", c.symbol_errors) +
          counter("LinkErrorRecoveryCounter", c.link_recoveries) +
          counter("LinkDownedCounter", c.link_downed) + counter("PortRcvErrors", c.receive_errors) +
          counter("PortRcvRemotePhysicalErrors", c.remote_physical_errors) +
          counter("PortRcvSwitchRelayErrors", 0) +
          counter("PortXmitDiscards", c.transmit_discards) +
          counter("PortXmitConstraintErrors", 0) + counter("PortRcvConstraintErrors", 0);
  if (!extended) text += "CounterSelect2:..................0x00\n";
  text += counter("LocalLinkIntegrityErrors", c.local_integrity_errors) +
          counter("ExcessiveBufferOverrunErrors", c.buffer_overruns) +
          counter("VL15Dropped", c.vl15_dropped);
  if (!extended) text += data;
  text += counter("PortXmitWait", c.transmit_wait);
  return text + (extended ? counter("QP1Dropped", 0) : "");
}

/// "33,34" or "33"; empty: no list of ports.
std::vector<int> ports_in(std::string_view list) {
  std::vector<int> ports;
  for (const auto& each : split(list, ',')) {
    const auto port = number<int>(each);
    if (!port) return {};
    ports.push_back(*port);
  }
  return ports;
}

/// Data alone is counted at ports of switches.
std::string switch_text(int lid, int number, const SwitchPort& port) {
  PortReading reading{.lid = static_cast<std::uint16_t>(lid)};
  reading.counters.transmit_data = port.sent;
  reading.counters.receive_data = port.received;
  auto text = counters_text(reading, true);
  const std::string first = " port 1 (";
  text.replace(text.find(first), first.size(), fmt::format(" port {} (", number));
  const auto select = counter("PortSelect", 1);
  return text.replace(text.find(select), select.size(),
                      counter("PortSelect", static_cast<std::uint64_t>(number)));
}

/// `perfquery -x [-l] LID PORTS`, by the first port that is up, or the one that is requested.
std::string switch_counters(const Host& host, std::string_view requested, int lid,
                            const std::vector<int>& ports) {
  const auto& machine = host.machine();
  for (const auto* adapter : adapters_of(host)) {
    if (!requested.empty() && adapter->name != requested) continue;
    std::string text;
    for (const int port : ports) {
      const auto seen = machine.fabric().switch_port(machine.name(), adapter->name,
                                                     static_cast<std::uint16_t>(lid), port);
      if (!seen) break;
      text += switch_text(lid, port, *seen);
    }
    if (!text.empty()) return text;
  }
  return {};
}

Task<int> perfquery(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(
      arguments, "xXSDC:P:arRelGLVt:", {{"extended", 'x'}, {"Ca", 'C'}, {"Port", 'P'}});
  if (!options.unknown.empty())
    co_return co_await print_error(process, "perfquery",
                                   "invalid option -- '" + options.unknown.substr(1) + "'");
  const auto adapters = adapters_of(process->host);
  const auto requested = options.value('C');
  const auto lid =
      options.operands.empty() ? std::optional<int>{} : number<int>(options.operands[0]);
  if (lid && options.has('x') && options.operands.size() > 1) {
    const auto text =
        switch_counters(process->host, requested, *lid, ports_in(options.operands[1]));
    if (!text.empty()) {
      co_await process->say(text);
      co_return 0;
    }
  }
  for (const auto* adapter : adapters) {
    const auto port = read_port(process->host, adapter->name);
    const bool chosen = lid ? port.lid == *lid : requested.empty() || adapter->name == requested;
    if (!chosen) continue;
    if (port.state == PortState::down) {
      if (!requested.empty()) break;
      continue;  // the first port that is up
    }
    const auto text = counters_text(port, options.has('x'));
    co_await process->say(text);
    co_return 0;
  }
  const auto line = fmt::format(
      "ibwarn: [{0}] mad_rpc_open_port: can't open UMAD port ({1}:0)\n"
      "perfquery: iberror: failed: Failed to open '{1}' port '0'\n",
      process->number, requested.empty() ? "(null)" : requested);
  co_await process->print_error(line);
  co_return 1;
}

/// The ends of this node's own cables.
Task<int> iblinkinfo(ProcessPtr process, Arguments) {
  std::string text = "CA: " + process->host.machine().name() + " HCA:\n";
  for (const auto* adapter : adapters_of(process->host)) {
    const auto port = read_port(process->host, adapter->name);
    if (port.peer.empty())
      text += fmt::format(
          "      {}      0    1[  ] ==(                Down/ Polling)==>             [  ] \"\" ( "
          ")\n",
          number_of(adapter->guid));
    else
      text += fmt::format(
          "      {} {:>6}    1[  ] ==( {}X {:>14} Gbps Active/  LinkUp)==>  {:>6}  {:>3}[  ] "
          "\"{}\" ( )\n",
          number_of(adapter->guid), port.lid, port.width,
          fmt::format("{:g}", port.gbit / port.width), port.peer_lid, port.peer_port, port.peer);
  }
  co_await process->say(text);
  co_return 0;
}

constexpr auto kTools = std::to_array<Tool>({{"ibstat", ibstat},
                                             {"ibstatus", ibstatus},
                                             {"ibv_devinfo", ibv_devinfo},
                                             {"iblinkinfo", iblinkinfo},
                                             {"perfquery", perfquery}});

}  // namespace

std::span<const Tool> infiniband_tools() { return kTools; }

}  // namespace cupel::rehearsal
