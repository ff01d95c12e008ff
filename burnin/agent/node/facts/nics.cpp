#include "base/text.h"
#include "burnin/agent/node/facts/sections.h"

namespace cupel::agent {
namespace {

constexpr std::string_view kNicFolder = "/sys/class/net";
constexpr std::string_view kEthernet = "1";  // ARPHRD_ETHER; IPoIB is its HCA's

}  // namespace

std::optional<std::string> uevent_value(const Tree& tree, const std::string& device,
                                        std::string_view key) {
  const auto uevent = tree.text(device + "/uevent").value_or("");
  for (const auto line : lines(uevent))
    if (line.starts_with(key) && line.substr(key.size()).starts_with('='))
      return std::string{line.substr(key.size() + 1)};
  return std::nullopt;
}

std::optional<std::string> pci_address_of(const Tree& tree, const std::string& device) {
  if (const auto slot = uevent_value(tree, device, "PCI_SLOT_NAME")) return pci_address(*slot);
  const auto place = tree.resolved(device);
  return place ? pci_address(last_name(*place)) : std::nullopt;
}

void add_nics(const Tree& tree, Report& report) {
  constexpr std::size_t kMostNics = 256;
  std::size_t count = 0;
  report.line.array("nics");
  for (const auto& name : tree.names(kNicFolder)) {
    const auto folder = std::string{kNicFolder} + "/" + name;
    const auto driver = uevent_value(tree, folder + "/device", "DRIVER");
    const auto slot = uevent_value(tree, folder + "/device", "PCI_SLOT_NAME");
    if (tree.text(folder + "/type") != kEthernet || (!driver && !slot)) continue;
    if (count++ == kMostNics) break;
    report.line.object().add("name", std::string_view{name});
    report.add("address", tree.text(folder + "/address"));
    report.add("driver", driver);
    report.add("pci", slot);
    const auto megabits = tree.number(folder + "/speed");
    if (megabits && *megabits >= 0) report.line.add("gbits", *megabits / 1000);  // -1: no link
    report.line.end();
  }
  report.line.end();
}

}  // namespace cupel::agent
