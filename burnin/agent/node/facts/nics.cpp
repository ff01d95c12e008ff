#include "base/text.h"
#include "burnin/agent/node/facts/sections.h"

namespace cupel::agent {
namespace {

constexpr std::string_view kNicFolder = "/sys/class/net";
constexpr std::string_view kEthernet = "1";  // ARPHRD_ETHER; IPoIB is its HCA's

/// "DRIVER=mlx5_core" of a device's uevent: mlx5_core.
std::optional<std::string> value_in(std::string_view uevent, std::string_view key) {
  for (const auto line : lines(uevent))
    if (line.starts_with(key) && line.substr(key.size()).starts_with('='))
      return std::string{line.substr(key.size() + 1)};
  return std::nullopt;
}

}  // namespace

void add_nics(const Tree& tree, Report& report) {
  constexpr std::size_t kMostNics = 256;
  std::size_t count = 0;
  report.line.array("nics");
  for (const auto& name : tree.names(kNicFolder)) {
    const auto folder = std::string{kNicFolder} + "/" + name;
    const auto uevent = tree.text(folder + "/device/uevent");
    if (!uevent || tree.text(folder + "/type") != kEthernet || count++ == kMostNics) continue;
    report.line.object().add("name", std::string_view{name});
    report.add("address", tree.text(folder + "/address"));
    report.add("driver", value_in(*uevent, "DRIVER"));
    report.add("pci", value_in(*uevent, "PCI_SLOT_NAME"));
    const auto megabits = tree.number(folder + "/speed");
    if (megabits && *megabits >= 0) report.line.add("gbits", *megabits / 1000);  // -1: no link
    report.line.end();
  }
  report.line.end();
}

}  // namespace cupel::agent
