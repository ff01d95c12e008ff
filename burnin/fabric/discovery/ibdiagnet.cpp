#include "burnin/fabric/discovery/ibdiagnet.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "burnin/fabric/discovery/scan.h"
#include "inventory/identity.h"
#include "inventory/sheet.h"

namespace cupel::burnin {
namespace {

using inventory::SeenDevice;
using Cells = std::vector<std::string>;

/// "12", "0xc"; nothing for "N/A".
std::optional<std::uint64_t> whole(std::string_view text) {
  if (!text.starts_with("0x")) return number<std::uint64_t>(text);
  text.remove_prefix(2);
  std::uint64_t value = 0;
  constexpr int kHexadecimal = 16;
  const auto* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value, kHexadecimal);
  return failure == std::errc{} && stop == end && !text.empty() ? std::optional{value}
                                                                : std::nullopt;
}

/// A row with the names of its columns.
class SectionRow {
 public:
  SectionRow(const Cells& header, const Cells& cells) : header_{header}, cells_{cells} {}

  /// The first of these columns that is there; empty: none.
  std::string_view text(std::initializer_list<std::string_view> names) const {
    for (const auto name : names)
      for (std::size_t i = 0; i < header_.size() && i < cells_.size(); ++i)
        if (lower_case(header_[i]) == lower_case(name)) return cells_[i];
    return {};
  }
  std::optional<std::uint64_t> number_of(std::initializer_list<std::string_view> names) const {
    return whole(text(names));
  }
  std::uint64_t guid(std::initializer_list<std::string_view> names) const {
    return inventory::guid_of(text(names)).value_or(0);
  }
  int port(std::initializer_list<std::string_view> names) const {
    constexpr std::uint64_t kMostPorts = 255;
    const auto found = number_of(names);
    return found && *found <= kMostPorts ? static_cast<int>(*found) : -1;
  }
  const Cells& header() const { return header_; }
  const Cells& cells() const { return cells_; }

 private:
  const Cells& header_;
  const Cells& cells_;
};

/// LinkWidthActv as in PortInfo; LinkSpeedActv with the extended speeds from bit 8 on. Source:
/// ibutils2, ibdm, Fabric.h.
int lanes_of(std::uint64_t code) {
  constexpr std::array<std::pair<std::uint64_t, int>, 5> kLanes{
      {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}}};
  for (const auto& [value, lanes] : kLanes)
    if (value == code) return lanes;
  return 0;
}
std::string_view speed_of(std::uint64_t code) {
  constexpr std::array<std::pair<std::uint64_t, std::string_view>, 9> kSpeeds{{{1, "SDR"},
                                                                               {2, "DDR"},
                                                                               {4, "QDR"},
                                                                               {0x100, "FDR"},
                                                                               {0x200, "EDR"},
                                                                               {0x400, "HDR"},
                                                                               {0x800, "NDR"},
                                                                               {0x1000, "XDR"},
                                                                               {0x10000, "FDR10"}}};
  for (const auto& [value, name] : kSpeeds)
    if (value == code) return name;
  return {};
}

/// "PortRcvErrorsExt" and "PortRcvErrorsExtended" count what PortRcvErrors counts.
std::string_view without_extension(std::string_view name) {
  for (const std::string_view end : {"Extended", "Ext"})
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
  return name;
}

/// What is of the port, or of traffic: neither errors nor discards.
bool is_no_error(std::string_view name) {
  return name.contains("GUID") || name.contains("Guid") || name == "PortNumber" ||
         name == "PortNum" || name.contains("Data") || name.contains("Pkts") ||
         name.contains("Select") || name.contains("Lane");
}

class Sections {
 public:
  void read(std::string_view text) {
    inventory::SheetReader reader{text};
    std::string section;
    Cells header;
    while (!reader.is_at_end()) {
      const auto line = trimmed(reader.peek());
      auto cells = reader.next();
      if (line.starts_with("START_")) {
        section = line.substr(std::string_view{"START_"}.size());
        header.clear();
      } else if (line.starts_with("END_")) {
        section.clear();
      } else if (!section.empty() && !line.empty() && cells) {
        if (header.empty())
          header = *std::move(cells);
        else
          row(section, SectionRow{header, *cells});
      }
    }
    cut_off_ = section;
  }

  Result<IbdiagnetReport> finish() && {
    for (const auto& [one, other] : links_) {
      const auto of_one = devices_.find(one.first), of_other = devices_.find(other.first);
      if (of_one == devices_.end() || of_other == devices_.end()) {
        ++strays_;
        continue;
      }
      const auto at = ports_.find(one);
      const auto active = at == ports_.end() ? Active{} : at->second;
      if (active.lanes == 0 || active.speed.empty()) ++without_width_;
      builder_.link({of_one->second, one.second}, {of_other->second, other.second}, active.lanes,
                    active.speed);
    }
    if (!cut_off_.empty())
      builder_.doubt(fmt::format("ibdiagnet's file is cut off in its section {}",
                                 shortened(printable(valid_utf8(cut_off_)), 40)));
    if (strays_ > 0)
      builder_.doubt(
          fmt::format("ibdiagnet: {} links lead to devices that are not listed", strays_));
    if (without_width_ > 0)
      builder_.doubt(
          fmt::format("ibdiagnet: {} links have no width and speed that is understood: they are "
                      "not compared",
                      without_width_));
    TRY(report_.seen, std::move(builder_).finish("ibdiagnet"));
    report_.seen.whole = cut_off_.empty() && strays_ == 0;
    return std::move(report_);
  }

 private:
  using End = std::pair<std::uint64_t, int>;
  struct Active {
    int lanes = 0;
    std::string_view speed{};
  };

  void row(std::string_view section, const SectionRow& row) {
    if (section == "NODES") return node(row);
    if (section == "PORTS") return port(row);
    if (section == "LINKS") return link(row);
    if (section == "PM_INFO") return counters(row);
    if (section == "CABLE_INFO") return cable(row);
    if (section == "NODES_INFO") return firmware(row);
  }

  void node(const SectionRow& row) {
    const auto guid = row.guid({"NodeGUID"});
    const auto type = row.number_of({"NodeType"}).value_or(0);
    if (guid == 0 || type < 1 || type > 3) return;
    constexpr std::uint64_t kSwitch = 2;
    const auto device = builder_.device(
        guid, type == kSwitch ? SeenDevice::Kind::switch_device : SeenDevice::Kind::hca,
        row.text({"NodeDesc"}), true);
    builder_.type(device, static_cast<std::uint32_t>(row.number_of({"DeviceID"}).value_or(0)));
    devices_.emplace(guid, device);
  }

  void port(const SectionRow& row) {
    const End end{row.guid({"NodeGuid"}), row.port({"PortNum"})};
    if (end.first == 0 || end.second < 0 || ports_.size() >= 2 * inventory::kMostLinks) return;
    ports_[end] = {lanes_of(row.number_of({"LinkWidthActv"}).value_or(0)),
                   speed_of(row.number_of({"LinkSpeedActv"}).value_or(0))};
  }

  void link(const SectionRow& row) {
    const End one{row.guid({"NodeGuid1"}), row.port({"PortNum1"})};
    const End other{row.guid({"NodeGuid2"}), row.port({"PortNum2"})};
    if (one.first == 0 || other.first == 0 || one.second < 1 || other.second < 1) return;
    if (links_.size() <= inventory::kMostLinks) links_.emplace_back(one, other);
  }

  void counters(const SectionRow& row) {
    PortCounters counted{.guid = row.guid({"NodeGUID"}),
                         .port = row.port({"PortNumber", "PortNum"})};
    if (counted.guid == 0 || counted.port < 1 || report_.ports.size() >= inventory::kMostLinks)
      return;
    constexpr std::size_t kMostCounters = 64;
    for (std::size_t i = 0; i < row.header().size() && i < row.cells().size(); ++i) {
      const auto& name = row.header()[i];
      const auto value = whole(row.cells()[i]);
      if (!value || is_no_error(name) || counted.counters.size() >= kMostCounters) continue;
      const auto bare = without_extension(name);
      if (bare.size() < name.size())
        counted.counters.insert_or_assign(std::string{bare}, *value);
      else
        counted.counters.emplace(bare, *value);
    }
    report_.ports.push_back(std::move(counted));
  }

  void cable(const SectionRow& row) {
    const End end{row.guid({"NodeGuid"}), row.port({"PortNum"})};
    if (end.first == 0 || end.second < 1 || report_.cables.size() >= 2 * inventory::kMostLinks)
      return;
    const auto word = [&](std::initializer_list<std::string_view> names) {
      const auto text = row.text(names);
      return text == "N/A" || text == "NA" ? std::string{} : std::string{text};
    };
    CableModule module{.vendor = word({"Vendor"}),
                       .part = word({"PN"}),
                       .serial = inventory::reported_serial(word({"SN"})),
                       .firmware = word({"FWVersion"})};
    if (module.part.empty() && module.serial.empty()) return;
    // "42C"
    const auto heat = row.text({"Temperature"});
    if (const auto celsius = number<double>(heat.substr(0, heat.find_first_not_of("0123456789.-"))))
      module.celsius = Ranged{.value = *celsius};
    report_.cables.emplace(end, std::move(module));
  }

  void firmware(const SectionRow& row) {
    const auto guid = row.guid({"NodeGUID"});
    const auto major = row.number_of({"FWInfo_Extended_Major", "FWInfo_Major"}),
               minor = row.number_of({"FWInfo_Extended_Minor", "FWInfo_Minor"}),
               last = row.number_of({"FWInfo_Extended_SubMinor", "FWInfo_SubMinor"});
    if (guid != 0 && major && minor && last && report_.firmware.size() < inventory::kMostDevices)
      report_.firmware.emplace(guid, fmt::format("{}.{}.{:04}", *major, *minor, *last));
  }

  inventory::SeenFabricBuilder builder_{};
  IbdiagnetReport report_{};
  std::map<std::uint64_t, std::size_t> devices_{};
  std::map<End, Active> ports_{};
  std::vector<std::pair<End, End>> links_{};
  std::string cut_off_{};
  std::size_t strays_ = 0, without_width_ = 0;
};

}  // namespace

Result<IbdiagnetReport> parse_ibdiagnet(std::string_view text) {
  if (text.size() > kLargestReport)
    return Error{Code::kMalformed, "ibdiagnet's file has more than 256 MiB"};
  Sections sections;
  sections.read(text);
  return std::move(sections).finish();
}

}  // namespace cupel::burnin
