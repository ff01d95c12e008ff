#include "base/pci_vpd.h"
#include "base/text.h"
#include "burnin/agent/node/facts/sections.h"

namespace cupel::agent {
namespace {

constexpr std::string_view kFolder = "/sys/class/infiniband";
constexpr std::size_t kMostDevices = 128, kMostPorts = 8;

/// "400 Gb/sec (4X NDR)": 400.
std::optional<double> rate_of(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const auto cells = words(*text);
  if (cells.size() < 2 || cells[1] != "Gb/sec") return std::nullopt;
  const auto rate = number_in(cells[0]);
  return rate && *rate >= 0 ? rate : std::nullopt;
}

/// "4: ACTIVE": ACTIVE.
std::optional<std::string> word_of(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const auto colon = text->find(": ");
  return colon == text->npos ? *text : text->substr(colon + 2);
}

void add_port(const Tree& tree, const std::string& device, const std::string& port,
              Report& report) {
  const auto folder = std::string{kFolder} + "/" + device + "/ports/" + port;
  report.line.object().add("port", number<int>(port).value_or(0));
  const auto state = word_of(tree.text(folder + "/state"));
  const auto rate = tree.text(folder + "/rate");
  report.add("state", state);
  const auto physical = word_of(tree.text(folder + "/phys_state"));
  report.add("phys_state", physical);
  report.add("rate", rate);
  report.add("gbits", rate_of(rate));
  report.add("lid", tree.number(folder + "/lid"));
  report.add("sm_lid", tree.number(folder + "/sm_lid"));
  report.add("guid", tree.text(folder + "/gids/0"));
  report.add("link_layer", tree.text(folder + "/link_layer"));
  report.add("link_downed", tree.number(folder + "/counters/link_downed"));
  report.add("symbol_errors", tree.number(folder + "/counters/symbol_error"));
  report.add("receive_errors", tree.number(folder + "/counters/port_rcv_errors"));
  report.add("recovered", tree.number(folder + "/counters/link_error_recovery"));
  for (const char* counter :
       {"out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err",
        "roce_adp_retrans", "np_cnp_sent", "rp_cnp_handled"})
    report.add(counter, tree.number(folder + "/hw_counters/" + counter));
  report.line.end();
  if (!state || !physical || !rate)
    report.unknown("link of " + device + "/" + port, folder, "incomplete");
}

/// Who made the card, and its serial number: all ports of a card have one. Only root can read it.
void add_card(const Tree& tree, const std::string& device, Report& report) {
  const auto path = std::string{kFolder} + "/" + device + "/device/vpd";
  if (!tree.exists(path)) return;
  const auto bytes = tree.bytes(path, kMostVpd);
  const auto vpd = bytes ? parse_pci_vpd(*bytes) : std::nullopt;
  if (!vpd || vpd->serial.empty())
    return report.unknown("serial of " + device, path,
                          bytes ? "its VPD has none that can be read" : "not readable");
  report.line.add("serial", std::string_view{vpd->serial});
  if (!vpd->part_number.empty()) report.line.add("part_number", std::string_view{vpd->part_number});
}

}  // namespace

void add_infiniband(const Tree& tree, Report& report) {
  report.line.array("infiniband");
  std::size_t reported = 0;
  for (const auto& name : tree.names(kFolder)) {
    if (reported++ == kMostDevices) break;
    const auto folder = std::string{kFolder} + "/" + name;
    report.line.object().add("name", std::string_view{name});
    // A bond is made of HCAs and is none.
    report.line.add("bond", name.find("bond") != name.npos);
    report.add("type", tree.text(folder + "/hca_type"));
    report.add("firmware", tree.text(folder + "/fw_ver"));
    report.add("board_id", tree.text(folder + "/board_id"));
    report.add("node_guid", tree.text(folder + "/node_guid"));
    add_card(tree, name, report);
    report.add("system_guid", tree.text(folder + "/sys_image_guid"));
    report.add("pci", pci_address_of(tree, folder + "/device"));
    report.add("numa", tree.number(folder + "/device/numa_node"));
    report.add("pcie_width", tree.number(folder + "/device/current_link_width"));
    const auto networks = tree.names(folder + "/device/net");
    if (!networks.empty()) report.line.add("network", std::string_view{networks.front()});
    report.line.array("ports");
    const auto ports = tree.names(folder + "/ports");
    for (std::size_t i = 0; i < std::min(ports.size(), kMostPorts); ++i)
      add_port(tree, name, ports[i], report);
    report.line.end().end();
  }
  report.line.end();
}

}  // namespace cupel::agent
