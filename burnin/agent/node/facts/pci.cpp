#include "burnin/agent/node/facts/pci.h"

#include <algorithm>
#include <array>

#include "base/enum_words.h"
#include "base/text.h"
#include "burnin/agent/common/little_endian.h"
#include "burnin/agent/node/facts/sections.h"

namespace cupel::agent {
namespace {

constexpr std::string_view kDevices = "/sys/bus/pci/devices/";
constexpr std::size_t kMostHops = 32, kMostDevices = 512;
constexpr std::size_t kWholeConfiguration = 4096, kExtended = 256;

std::optional<double> least(std::optional<double> one, std::optional<double> other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

/// 0 and 255 stand for "there is no link".
std::optional<double> lanes(const Tree& tree, const std::string& path) {
  const auto reported = tree.number(path);
  return reported && *reported > 0 && *reported <= 32 ? reported : std::nullopt;
}

LinkEnd read_link(const Tree& tree, const std::string& folder) {
  const auto speed = [&](const char* name) {
    return transfers_in(tree.text(folder + name).value_or(""));
  };
  return {speed("/current_link_speed"), lanes(tree, folder + "/current_link_width"),
          speed("/max_link_speed"), lanes(tree, folder + "/max_link_width")};
}

}  // namespace

std::string_view to_string(Acs acs) { return enum_word<'-'>(acs); }

std::optional<double> transfers_in(std::string_view text) {
  const auto cells = words(text);
  if (cells.size() < 2 || cells[1] != "GT/s") return std::nullopt;
  const auto speed = number_in(cells[0]);
  return speed && *speed > 0 && *speed < 1000 ? speed : std::nullopt;
}

double link_gbits(double speed, double width) {
  const double coded = speed <= 5 ? 8.0 / 10 : speed <= 32 ? 128.0 / 130 : 1.0;
  return speed * width * coded;
}

Acs acs_of(std::string_view configuration) {
  constexpr unsigned kAcs = 0x0D, kRedirects = 0x04 | 0x08;  // requests, completions
  constexpr std::size_t kControl = 6;
  if (configuration.size() < kWholeConfiguration) return Acs::unknown;
  std::size_t at = kExtended;
  // Each capability is at least eight bytes: a loop ends here.
  for (std::size_t i = 0; i < (kWholeConfiguration - kExtended) / 8; ++i) {
    const auto head = little_endian(configuration, at, 4);
    if (head == 0 || head == 0xFFFFFFFF) return i == 0 && head != 0 ? Acs::unknown : Acs::none;
    if ((head & 0xFFFF) == kAcs)
      return (little_endian(configuration, at + kControl, 2) & kRedirects) != 0 ? Acs::on
                                                                                : Acs::off;
    at = head >> 20 & 0xFFC;
    if (at < kExtended) return Acs::none;
  }
  return Acs::none;
}

std::vector<PciNode> way_to_root(const Tree& tree, const std::string& address) {
  std::vector<PciNode> way;
  const auto place = tree.resolved(std::string{kDevices} + address);
  if (!place) return way;
  std::string_view rest = *place;
  while (way.size() < kMostHops) {
    const auto name = last_name(rest);
    const auto found = pci_address(name);
    if (!found || *found != name) break;
    const std::string folder{rest};
    way.push_back({*found, read_link(tree, folder), Acs::unknown});
    // Of the device itself ACS says nothing of the way between others.
    if (way.size() > 1)
      way.back().acs = acs_of(tree.bytes(folder + "/config", kWholeConfiguration).value_or(""));
    rest = rest.substr(0, rest.rfind('/'));
  }
  return way;
}

std::vector<Hop> hops_of(const std::vector<PciNode>& way) {
  std::vector<Hop> hops;
  for (std::size_t i = 0; i < way.size(); i += 2) {
    const auto& below = way[i];
    // What is built into the root complex has no link at all.
    const LinkEnd above = i + 1 < way.size() ? way[i + 1].link : LinkEnd{};
    Hop hop{.below = below.address,
            .above = i + 1 < way.size() ? way[i + 1].address : std::string{},
            .speed = least(below.link.speed, above.speed),
            .width = least(below.link.width, above.width),
            .max_speed = least(below.link.max_speed, above.max_speed),
            .max_width = least(below.link.max_width, above.max_width)};
    if (hop.speed && hop.width) hop.gbits = link_gbits(*hop.speed, *hop.width);
    if (hop.max_speed && hop.max_width) hop.max_gbits = link_gbits(*hop.max_speed, *hop.max_width);
    hops.push_back(std::move(hop));
  }
  return hops;
}

const Hop* weakest(const std::vector<Hop>& hops) {
  const Hop* found = nullptr;
  for (const auto& hop : hops) {
    if (!hop.gbits) continue;
    const bool less = found == nullptr || *hop.gbits < *found->gbits ||
                      (*hop.gbits == *found->gbits && hop.sunk() && !found->sunk());
    if (less) found = &hop;
  }
  return found;
}

namespace {

struct Interest {
  std::string_view kind;
  std::string_view vendor;  // empty: any
  unsigned type, mask;      // of the class code
};

/// Class codes of the PCI Code and ID Assignment Specification.
constexpr std::array kInterests{Interest{"gpu", "0x10de", 0x030000, 0xFF0000},
                                Interest{"gpu", "0x1002", 0x038000, 0xFFFF00},
                                Interest{"gpu", "0x1002", 0x120000, 0xFFFF00},
                                Interest{"nvswitch", "0x10de", 0x068000, 0xFFFF00},
                                Interest{"hca", "", 0x020700, 0xFFFF00},
                                Interest{"nic", "", 0x020000, 0xFFFF00},
                                Interest{"nvme", "", 0x010800, 0xFFFF00}};

std::string_view kind_of(std::string_view vendor, unsigned type) {
  for (const auto& row : kInterests)
    if ((row.vendor.empty() || row.vendor == vendor) && (type & row.mask) == row.type)
      return row.kind;
  return {};
}

/// "TOTAL_ERR_COR 12", or the sum of all lines of a kernel that writes no total.
std::optional<double> errors_in(std::string_view text) {
  std::optional<double> sum;
  for (const auto line : lines(text)) {
    const auto cells = words(line);
    const auto count = cells.size() == 2 ? number_in(cells[1]) : std::nullopt;
    if (!count || *count < 0) continue;
    if (cells[0].starts_with("TOTAL_")) return count;
    sum = sum.value_or(0) + *count;
  }
  return sum;
}

void add_aer(const Tree& tree, const std::string& folder, Report& report) {
  const auto count = [&](const char* name) {
    return errors_in(tree.text(folder + "/aer_dev_" + name).value_or(""));
  };
  const auto corrected = count("correctable");
  if (!corrected) return;
  report.line.object("aer");
  report.add("correctable", corrected);
  report.add("nonfatal", count("nonfatal"));
  report.add("fatal", count("fatal"));
  report.line.end();
}

void add_hop(const Hop& hop, Report& report) {
  report.line.add("below", std::string_view{hop.below});
  if (!hop.above.empty()) report.line.add("above", std::string_view{hop.above});
  report.add("speed", hop.speed);
  report.add("width", hop.width);
  report.add("max_speed", hop.max_speed);
  report.add("max_width", hop.max_width);
  report.add("gbits", hop.gbits);
  report.add("max_gbits", hop.max_gbits);
  report.line.add("sunk", hop.sunk());
}

void add_way(const Tree& tree, const std::string& address, Report& report) {
  const auto way = way_to_root(tree, address);
  const auto hops = hops_of(way);
  report.line.array("hops");
  for (const auto& hop : hops) {
    report.line.object();
    add_hop(hop, report);
    report.line.end();
  }
  report.line.end();
  if (const auto* weak = weakest(hops)) {
    report.line.object("weakest");
    add_hop(*weak, report);
    report.line.end();
  } else {
    report.unknown("PCIe link of " + address, std::string{kDevices} + address,
                   "no link on its way tells a speed");
  }
  report.line.array("bridges");
  for (std::size_t i = 1; i < way.size(); ++i) {
    report.line.object().add("address", std::string_view{way[i].address});
    report.line.add("acs", to_string(way[i].acs)).end();
  }
  report.line.end();
}

void add_device(const Tree& tree, const std::string& address, std::string_view kind,
                Report& report) {
  const auto folder = std::string{kDevices} + address;
  report.line.object().add("address", std::string_view{address}).add("kind", kind);
  report.add("vendor", tree.text(folder + "/vendor"));
  report.add("device", tree.text(folder + "/device"));
  report.add("class", tree.text(folder + "/class"));
  report.add("subsystem_vendor", tree.text(folder + "/subsystem_vendor"));
  report.add("subsystem_device", tree.text(folder + "/subsystem_device"));
  report.add("revision", tree.text(folder + "/revision"));
  report.add("numa", tree.number(folder + "/numa_node"));
  if (const auto driver = tree.resolved(folder + "/driver"))
    report.line.add("driver", last_name(*driver));
  add_aer(tree, folder, report);
  add_way(tree, address, report);
  report.line.end();
}

}  // namespace

void add_pci(const Tree& tree, Report& report) {
  const std::string folder{kDevices.substr(0, kDevices.size() - 1)};
  report.line.array("pci");
  std::size_t reported = 0;
  auto addresses = tree.names(folder);
  std::ranges::sort(addresses);  // of fixed width, and hexadecimal
  for (const auto& address : addresses) {
    const auto type = tree.number(folder + "/" + address + "/class");
    const auto vendor = tree.text(folder + "/" + address + "/vendor").value_or("");
    if (!type || pci_address(address) != address || reported == kMostDevices) continue;
    // A virtual function is no part.
    if (tree.exists(folder + "/" + address + "/physfn")) continue;
    const auto kind = kind_of(vendor, static_cast<unsigned>(*type));
    if (kind.empty()) continue;
    ++reported;
    add_device(tree, address, kind, report);
  }
  report.line.end();
  if (!tree.exists(folder)) report.unknown("PCI devices", folder, "absent");
}

}  // namespace cupel::agent
