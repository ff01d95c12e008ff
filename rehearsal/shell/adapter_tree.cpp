// /sys/class/infiniband and /sys/class/net: every value is read from the fabric when it is asked
// for.
#include <fmt/format.h>

#include "rehearsal/shell/host.h"
#include "rehearsal/shell/tree_parts.h"
#include "rehearsal/tools/fault_now.h"
#include "rehearsal/tools/infiniband.h"

namespace cupel::rehearsal {
namespace {

using Value = std::string (*)(const PortReading& port);

std::string text_of(std::uint64_t value) { return fmt::format("{}\n", value); }

struct PortFile {
  std::string_view path;
  Value value;
};

/// Below ports/1. The counters' names are those of an H100 node's tree.
constexpr auto kFiles = std::to_array<PortFile>({
    {"state", [](const PortReading& port) { return state_text(port) + "\n"; }},
    {"phys_state", [](const PortReading& port) { return physical_text(port) + "\n"; }},
    {"rate", [](const PortReading& port) { return rate_text(port) + "\n"; }},
    {"link_layer", [](const PortReading& port) { return port.link_layer + "\n"; }},
    {"lid", [](const PortReading& port) { return fmt::format("0x{:x}\n", port.lid); }},
    {"sm_lid", [](const PortReading& port) { return fmt::format("0x{:x}\n", port.sm_lid); }},
    {"lid_mask_count", [](const PortReading&) { return std::string{"0\n"}; }},
    {"sm_sl", [](const PortReading&) { return std::string{"0\n"}; }},
    {"cap_mask", [](const PortReading&) { return std::string{"0xa751e848\n"}; }},
    {"counters/symbol_error",
     [](const PortReading& port) { return text_of(port.counters.symbol_errors); }},
    {"counters/link_error_recovery",
     [](const PortReading& port) { return text_of(port.counters.link_recoveries); }},
    {"counters/link_downed",
     [](const PortReading& port) { return text_of(port.counters.link_downed); }},
    {"counters/port_rcv_errors",
     [](const PortReading& port) { return text_of(port.counters.receive_errors); }},
    {"counters/port_rcv_remote_physical_errors",
     [](const PortReading& port) { return text_of(port.counters.remote_physical_errors); }},
    {"counters/port_rcv_switch_relay_errors", [](const PortReading&) { return text_of(0); }},
    {"counters/port_rcv_constraint_errors", [](const PortReading&) { return text_of(0); }},
    {"counters/port_xmit_constraint_errors", [](const PortReading&) { return text_of(0); }},
    {"counters/port_xmit_discards",
     [](const PortReading& port) { return text_of(port.counters.transmit_discards); }},
    {"counters/local_link_integrity_errors",
     [](const PortReading& port) { return text_of(port.counters.local_integrity_errors); }},
    {"counters/excessive_buffer_overrun_errors",
     [](const PortReading& port) { return text_of(port.counters.buffer_overruns); }},
    {"counters/VL15_dropped",
     [](const PortReading& port) { return text_of(port.counters.vl15_dropped); }},
    {"counters/port_xmit_wait",
     [](const PortReading& port) { return text_of(port.counters.transmit_wait); }},
    {"counters/port_xmit_data",
     [](const PortReading& port) { return text_of(port.counters.transmit_data); }},
    {"counters/port_rcv_data",
     [](const PortReading& port) { return text_of(port.counters.receive_data); }},
    {"counters/port_xmit_packets",
     [](const PortReading& port) { return text_of(port.counters.transmit_packets); }},
    {"counters/port_rcv_packets",
     [](const PortReading& port) { return text_of(port.counters.receive_packets); }},
    {"counters/unicast_xmit_packets",
     [](const PortReading& port) { return text_of(port.counters.transmit_packets); }},
    {"counters/unicast_rcv_packets",
     [](const PortReading& port) { return text_of(port.counters.receive_packets); }},
    {"hw_counters/packet_seq_err",
     [](const PortReading& port) { return text_of(port.counters.sequence_naks); }},
    {"hw_counters/out_of_sequence",
     [](const PortReading& port) { return text_of(port.counters.out_of_order); }},
    {"counters/multicast_xmit_packets", [](const PortReading&) { return text_of(0); }},
    {"counters/multicast_rcv_packets", [](const PortReading&) { return text_of(0); }},
});

/// Of mlx5's own, the few that people look at; nothing here makes any of these count: streams do
/// not crowd each other out, so that no packet is marked and no port pauses another.
constexpr auto kQuiet = std::to_array<std::string_view>(
    {"implied_nak_seq_err", "local_ack_timeout_err", "np_cnp_sent", "req_cqe_error",
     "resp_cqe_error", "rnr_nak_retry_err", "roce_adp_retrans", "rp_cnp_handled"});

/// A port in InfiniBand mode has one GID; RoCE v2's stands at 3, unless a fault has moved it.
void plant_gids(FileSystem& disk, const Machine& machine, const Adapter& adapter,
                const std::string& port) {
  const bool ethernet = fault_now(machine, FaultKind::hca_ethernet, adapter.name) != nullptr;
  const auto* moved = fault_now(machine, FaultKind::gid_wrong, adapter.name);
  const auto put = [&](int index, std::string_view type, const std::string& gid) {
    disk.put(fmt::format("{}/gids/{}", port, index), gid + "\n");
    disk.put(fmt::format("{}/gid_attrs/types/{}", port, index), std::string{type} + "\n");
  };
  const auto local = "fe80:0000:0000:0000:" + adapter.guid;
  put(0, "IB/RoCE v1", local);
  if (!ethernet && moved == nullptr) return;
  constexpr int kUsual = 3, kMoved = 5;
  const int index = moved != nullptr ? moved->number.value_or(kMoved) : kUsual;
  const auto mapped = fmt::format("0000:0000:0000:0000:0000:ffff:0a{}:{}",
                                  adapter.guid.substr(7, 2), adapter.guid.substr(10, 4));
  for (int i = 1; i < index; ++i)
    put(i, i % 2 == 1 ? "RoCE v2" : "IB/RoCE v1",
        i == 1 ? local : "0000:0000:0000:0000:0000:0000:0000:0000");
  put(index, "RoCE v2", mapped);
}

void plant_port(Host& host, const Adapter& adapter) {
  auto& disk = host.disk();
  const auto folder = "/sys/class/infiniband/" + adapter.name;
  const auto port = folder + "/ports/1";
  disk.put_link(folder + "/device", pci_folder(adapter.pci));
  disk.put(folder + "/fw_ver", adapter.firmware + "\n");
  disk.put(folder + "/hca_type", adapter.model + "\n");
  disk.put(folder + "/board_id", "MT_0000000838\n");
  disk.put(folder + "/node_guid", adapter.guid + "\n");
  disk.put(folder + "/sys_image_guid", adapter.guid + "\n");
  disk.put(folder + "/node_desc", host.machine().name() + " " + adapter.name + "\n");
  disk.put(folder + "/node_type", "1: CA\n");
  for (const auto& file : kFiles)
    disk.put_generated(port + "/" + std::string{file.path},
                       [&host, name = adapter.name, value = file.value] {
                         const auto reading = read_port(host, name);
                         return value(reading);
                       });
  for (const auto counter : kQuiet) disk.put(port + "/hw_counters/" + std::string{counter}, "0\n");
  disk.put(port + "/hw_counters/lifespan", "12\n");
  plant_gids(disk, host.machine(), adapter, port);
}

}  // namespace

void plant_adapter(Host& host, const Adapter& adapter) {
  auto& disk = host.disk();
  plant_pci(disk, {.address = adapter.pci,
                   .vendor = adapter.infiniband ? "0x15b3" : "0x8086",
                   .device = adapter.infiniband ? "0x1021" : "0x1592",
                   .type = adapter.infiniband ? "0x020700" : "0x020000",
                   .driver = adapter.infiniband ? "mlx5_core" : "ice",
                   .gen = adapter.link.gen,
                   .gen_max = adapter.link.gen_max,
                   .width = adapter.link.width,
                   .width_max = adapter.link.width_max,
                   .numa = adapter.numa});
  const auto net = "/sys/class/net/" + net_name(adapter);
  disk.put(net + "/address", link_address(adapter) + "\n");
  disk.put_link(net + "/device", pci_folder(adapter.pci));
  if (!adapter.infiniband) {
    disk.put(net + "/operstate", "up\n");
    disk.put(net + "/type", "1\n");
    disk.put(net + "/speed", "100000\n");
    disk.put(net + "/mtu", "1500\n");
    return;
  }
  disk.put(net + "/type", "32\n");
  disk.put(net + "/mtu", "4092\n");
  disk.put_generated(net + "/operstate", [&host, name = adapter.name] {
    const auto port = read_port(host, name);
    return std::string{port.state == PortState::active ? "up\n" : "down\n"};
  });
  disk.put_generated(net + "/speed", [&host, name = adapter.name] {
    const auto port = read_port(host, name);
    return port.state == PortState::active ? fmt::format("{:.0f}\n", port.gbit * 1000)
                                           : std::string{"-1\n"};
  });
  plant_port(host, adapter);
}

}  // namespace cupel::rehearsal
