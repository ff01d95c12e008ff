#include "burnin/fabric/discovery/iblinkinfo.h"

#include <array>
#include <cmath>

#include "burnin/fabric/discovery/scan.h"

namespace cupel::burnin {
namespace {

using inventory::SeenDevice;
using inventory::SeenFabricBuilder;

/// `CA: n32 mlx5_7:` or `Switch: 0xb0cf0e0300000700 MF0;leaf1-r7:MQM9700/U1:`, then a line a port:
/// `0xa088c2030001f071 268 1[ ] ==( 4X 106.25 Gbps Active/ LinkUp)==> 12 32[ ] "peer" ( ... )`.
/// Peers have no GUID there: they are found by their LID, which devices have one of.
class Links {
 public:
  explicit Links(SeenFabricBuilder& into) : into_{into} {}

  void line(std::string_view line) {
    Scan scan{line};
    if (scan.skip("CA: ")) return begin(SeenDevice::Kind::hca, without_colon(scan.rest()), 0);
    if (scan.skip("Switch: ")) return begin_switch(scan);
    if (line.contains("==(")) port(line);
  }

  /// Without a subnet manager each LID is 0, and after two of them one may stand twice: then nobody
  /// can say whose peer a line names. HCAs with several ports have a LID for each.
  bool ambiguous() const { return ambiguous_; }

  /// Once every device's LID is known.
  void finish() {
    for (const auto& link : found_) {
      const auto from = by_lid_.find(link.lid), to = by_lid_.find(link.peer_lid);
      if (from == by_lid_.end()) continue;
      if (to == by_lid_.end()) {
        into_.doubt("a link to a LID that no device reported: half a fabric");
        continue;
      }
      into_.link({from->second, link.port}, {to->second, link.peer_port}, link.width, link.speed);
    }
    for (const auto& down : down_)
      if (const auto at = by_lid_.find(down.lid); at != by_lid_.end())
        into_.down({at->second, down.port}, down.state);
  }

 private:
  struct Found {
    int lid = 0, port = 0, peer_lid = 0, peer_port = 0, width = 0;
    std::string_view speed{};
  };
  struct Down {
    int lid = 0, port = 0;
    std::string state{};
  };

  static std::string_view without_colon(std::string_view text) {
    return text.ends_with(':') ? text.substr(0, text.size() - 1) : text;
  }

  void begin(SeenDevice::Kind kind, std::string_view description, std::uint64_t guid) {
    kind_ = kind;
    description_ = description;
    guid_ = guid;
  }

  void begin_switch(Scan& scan) {
    scan.skip("0x");
    const auto guid = scan.hexadecimal().value_or(0);
    scan.skip_blanks();
    begin(SeenDevice::Kind::switch_device, without_colon(scan.rest()), guid);
  }

  void port(std::string_view line) {
    Scan scan{line};
    if (scan.skip("0x")) {
      const auto guid = scan.hexadecimal();
      if (guid && kind_ == SeenDevice::Kind::hca) guid_ = *guid;
      scan.skip_blanks();
    }
    const auto lid = scan.number<int>();
    scan.skip_blanks();
    const auto mine = scan.number<int>();
    if (!lid || !mine || guid_ == 0 || !scan.until("==(")) return;
    const auto device = into_.device(guid_, kind_, description_, false);
    const auto [known, fresh] = by_lid_.try_emplace(*lid, device);
    ambiguous_ = ambiguous_ || *lid == 0 || (!fresh && known->second != device);
    const auto state = scan.until(")==>");
    if (!state) return;
    scan.skip_blanks();
    const auto peer_lid = scan.number<int>();
    scan.skip_blanks();
    const auto peer_port = scan.number<int>();
    if (!peer_lid || !peer_port) {
      down_.push_back({*lid, *mine, state_word(*state)});
      return;
    }
    Scan link{*state};
    link.skip_blanks();
    const auto width = link.number<int>();
    if (width) link.skip("X");
    link.skip_blanks();
    const auto rate = link.number<double>();
    found_.push_back({*lid, *mine, *peer_lid, *peer_port, width.value_or(0),
                      rate ? speed_name(*rate) : std::string_view{}});
  }

  /// "Down/ Polling" as "Down/Polling".
  static std::string state_word(std::string_view text) {
    std::string word;
    for (const char one : trimmed(text))
      if (one != ' ' && word.size() < 40) word += one;
    return printable(valid_utf8(word));
  }

  SeenFabricBuilder& into_;
  SeenDevice::Kind kind_ = SeenDevice::Kind::hca;
  std::string_view description_{};
  std::uint64_t guid_ = 0;
  std::unordered_map<int, std::size_t> by_lid_{};
  std::vector<Found> found_{};
  std::vector<Down> down_{};
  bool ambiguous_ = false;
};

}  // namespace

std::string_view speed_name(double gbit_of_a_lane) {
  struct Row {
    double gbit;
    std::string_view name;
  };
  // The signalling rate and the one of its data: tools print either.
  constexpr std::array<Row, 15> kRows{{{2.5, "SDR"},
                                       {5, "DDR"},
                                       {10, "QDR"},
                                       {10.3125, "FDR10"},
                                       {14, "FDR"},
                                       {14.0625, "FDR"},
                                       {25, "EDR"},
                                       {25.78125, "EDR"},
                                       {26.5625, "EDR"},
                                       {50, "HDR"},
                                       {53.125, "HDR"},
                                       {100, "NDR"},
                                       {106.25, "NDR"},
                                       {200, "XDR"},
                                       {212.5, "XDR"}}};
  constexpr double kNear = 0.01;
  for (const auto& [gbit, name] : kRows)
    if (std::abs(gbit - gbit_of_a_lane) < kNear) return name;
  return {};
}

Result<inventory::SeenFabric> parse_iblinkinfo(std::string_view text) {
  if (text.size() > kLargestReport)
    return Error{Code::kMalformed, "iblinkinfo printed more than 256 MiB"};
  SeenFabricBuilder seen;
  Links links{seen};
  for_each_line(text, [&](std::string_view line) { links.line(line); });
  if (links.ambiguous())
    return Error{Code::kNoMeasurement,
                 "iblinkinfo names peers by their LID, and two devices have one LID: no subnet "
                 "manager has given them, or two have. Run one (sminfo), or use ibnetdiscover"};
  links.finish();
  return std::move(seen).finish("iblinkinfo");
}

}  // namespace cupel::burnin
