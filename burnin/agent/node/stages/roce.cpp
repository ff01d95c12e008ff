// How the node is set up for RoCE, of each HCA whose port is Ethernet. Paths: Linux,
// Documentation/ABI/stable/sysfs-class-infiniband; NVIDIA's mlx5 driver for tc/ and ecn/, and
// configfs for rdma_cm; mlnx_qos is of MLNX_OFED.
#include "base/text.h"
#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {
namespace {

constexpr int kMostGids = 256;
constexpr int kPriorities = 8;
constexpr double kMostValue = 65535;  // of an MTU, of a type of service
constexpr std::chrono::seconds kQosLimit{10};

/// The first of RoCE v2 with an IPv4 address: "0000:0000:0000:0000:0000:ffff:0a01:0203". An index
/// that holds nothing has no type: the kernel answers with an error.
void read_gid(const Node& node, const std::string& hca, const std::string& port) {
  constexpr std::string_view kMapped = "0000:0000:0000:0000:0000:ffff:";
  for (int i = 0; i < kMostGids; ++i) {
    const auto index = std::to_string(i);
    const auto type = node.tree.text(port + "/gid_attrs/types/" + index);
    if (!type || !type->contains("v2")) continue;
    const auto gid = node.tree.text(port + "/gids/" + index);
    if (gid && gid->starts_with(kMapped)) return node.lines.measured("roce.gid", hca, i);
  }
  node.lines.unmeasured("roce.gid", hca, "no GID of RoCE v2 with an IPv4 address");
}

/// "Global tclass=106", where one is set.
void read_traffic_class(const Node& node, const std::string& hca, const std::string& folder) {
  constexpr std::string_view kClass = "Global tclass=";
  constexpr int kDscpStep = 4;  // the two lower bits of a traffic class are ECN's (RFC 3168)
  const auto file = node.tree.text(folder + "/tc/1/traffic_class");
  if (!file) return;
  for (const auto line : lines(*file)) {
    const auto bare = trimmed(line);
    if (!bare.starts_with(kClass)) continue;
    const auto value = number<int>(bare.substr(kClass.size()));
    if (!value) return;
    node.lines.measured("roce.tclass", hca, *value);
    const int dscp = *value / kDscpStep;
    return node.lines.measured("roce.dscp", hca, dscp);
  }
}

void read_number(const Node& node, std::string_view measure, const std::string& hca,
                 const std::string& file) {
  const auto text = node.tree.text(file);
  const auto value = text ? number<int>(*text) : std::nullopt;
  if (value && *value >= 0 && *value <= kMostValue) node.lines.measured(measure, hca, *value);
}

/// On where both ends react: the notification point and the reaction point of DCQCN.
void read_ecn(const Node& node, const std::string& hca, const std::string& net) {
  bool any = false;
  for (int i = 0; i < kPriorities; ++i) {
    const auto priority = std::to_string(i);
    const auto notifies = node.tree.text(net + "/ecn/roce_np/enable/" + priority);
    const auto reacts = node.tree.text(net + "/ecn/roce_rp/enable/" + priority);
    if (!notifies && !reacts) continue;
    any = true;
    node.lines.measured("roce.ecn." + priority, hca, notifies == "1" && reacts == "1" ? 1 : 0);
  }
  if (!any) node.lines.unmeasured("roce.ecn", hca, "the driver has no ecn/ in /sys/class/net");
}

/// Trust and priority flow control. mlnx_qos accepts names of network interfaces alone.
Work<bool> ask_mlnx_qos(Node& node, std::string hca, std::string net) {
  if (!node.programs.has("mlnx_qos")) {
    node.lines.unmeasured("roce.pfc", hca, "mlnx_qos is not installed on the node");
    co_return false;
  }
  const Command command{.argv = {"mlnx_qos", "-i", net}, .limit = kQosLimit};
  const auto ran = co_await node.programs.run(command);
  node.lines.evidence("mlnx_qos", hca, command, ran);
  co_return true;
}

Work<bool> read_hca(Node& node, std::string hca) {
  const auto folder = "/sys/class/infiniband/" + hca;
  read_gid(node, hca, folder + "/ports/1");
  read_traffic_class(node, hca, folder);
  read_number(node, "roce.tos", hca,
              "/sys/kernel/config/rdma_cm/" + hca + "/ports/1/default_roce_tos");
  const auto nets = node.tree.names(folder + "/device/net");
  if (nets.empty()) {
    for (const auto* measure : {"roce.ecn", "roce.pfc"})
      node.lines.unmeasured(measure, hca, "the HCA has no network interface");
    co_return false;
  }
  const auto net = folder + "/device/net/" + nets.front();
  read_number(node, "roce.mtu", hca, net + "/mtu");
  read_ecn(node, hca, net);
  co_return co_await ask_mlnx_qos(node, hca, nets.front());
}

}  // namespace

Work<GaveUp> run_roce(Node& node, const JsonValue&) {
  int hcas = 0;
  for (const auto& hca : node.tree.names("/sys/class/infiniband")) {
    const auto layer = node.tree.text("/sys/class/infiniband/" + hca + "/ports/1/link_layer");
    if (layer != "Ethernet") continue;
    ++hcas;
    co_await read_hca(node, hca);
  }
  if (hcas == 0)
    co_return "no HCA has a port whose link layer is Ethernet: RoCE is not in use here";
  node.lines.measured("roce.hcas", "", hcas);
  co_return {};
}

}  // namespace cupel::agent
