#include "burnin/fabric/discovery/ibnetdiscover.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "burnin/fabric/discovery/scan.h"

namespace cupel::burnin {
namespace {

using inventory::SeenDevice;
using inventory::SeenFabricBuilder;

struct Width {
  int lanes = 0;
  std::string_view speed{};
};

/// "4xNDR"; nothing of any other word.
Width width_in(std::string_view word) {
  Scan scan{word};
  const auto lanes = scan.number<int>();
  constexpr std::size_t kLongestSpeed = 8;
  if (!lanes || *lanes < 1 || !scan.skip("x") || scan.rest().empty()) return {};
  return scan.rest().size() > kLongestSpeed ? Width{} : Width{*lanes, scan.rest()};
}

/// The word of `table` for what stands behind "s=", "w=" or "e="; nothing for any other.
template <class Value, std::size_t N>
Value coded(std::string_view word, std::string_view key,
            const std::array<std::pair<int, Value>, N>& table) {
  if (!word.starts_with(key)) return {};
  const auto code = number<int>(word.substr(key.size()));
  for (const auto& [number, value] : table)
    if (code == number) return value;
  return {};
}

/// What stands behind the description: "lid 9 4xNDR", with --full also "s=4 w=2 v=4 e=8". Source:
/// IBA volume 1, 14.2.5.6, PortInfo: LinkSpeedActive, LinkWidthActive, LinkSpeedExtActive.
Width width_of(std::string_view text) {
  constexpr std::array<std::pair<int, int>, 5> kLanes{{{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}}};
  constexpr std::array<std::pair<int, std::string_view>, 3> kSpeeds{
      {{1, "SDR"}, {2, "DDR"}, {4, "QDR"}}};
  constexpr std::array<std::pair<int, std::string_view>, 5> kExtended{
      {{1, "FDR"}, {2, "EDR"}, {4, "HDR"}, {8, "NDR"}, {16, "XDR"}}};
  Width of_codes;
  std::string_view extended;
  for (const auto word : words(text)) {
    if (const auto found = width_in(word); found.lanes > 0) return found;
    if (const auto lanes = coded(word, "w=", kLanes)) of_codes.lanes = lanes;
    if (const auto speed = coded(word, "s=", kSpeeds); !speed.empty()) of_codes.speed = speed;
    if (const auto speed = coded(word, "e=", kExtended); !speed.empty()) extended = speed;
  }
  if (!extended.empty()) of_codes.speed = extended;
  return of_codes;
}

struct Named {
  SeenDevice::Kind kind{};
  std::uint64_t guid = 0;
};

/// `S-b0cf0e0300000000"`, after the opening quote.
std::optional<Named> named(Scan& scan) {
  Named found;
  if (scan.skip("S-"))
    found.kind = SeenDevice::Kind::switch_device;
  else if (scan.skip("H-") || scan.skip("R-"))
    found.kind = SeenDevice::Kind::hca;
  else
    return std::nullopt;
  const auto guid = scan.hexadecimal();
  if (!guid || *guid == 0 || !scan.skip("\"")) return std::nullopt;
  found.guid = *guid;
  return found;
}

/// What stands in quotes after the '#'.
std::string_view quoted_comment(Scan& scan) {
  if (!scan.until("#") || !scan.until("\"")) return {};
  return scan.until("\"").value_or(scan.rest());
}

/// The topology file: a block for each device, a line in it for each port that is connected.
class Topology {
 public:
  explicit Topology(SeenFabricBuilder& into) : into_{into} {}

  void line(std::string_view line) {
    if (line.empty()) return;
    if (line.front() == '[') return port(line);
    // A terminal that loses tabs leaves "Switch41".
    if (line.starts_with("Switch") || line.starts_with("Ca") || line.starts_with("Rt"))
      return begin(line);
    Scan scan{line};
    if (scan.skip("devid=0x")) type_ = scan.hexadecimal().value_or(0);
  }

  void finish() {
    if (found_) into_.expect_each_listed();
    if (without_width_ > 0)
      into_.doubt(
          fmt::format("{} lines have no width and speed that is understood, such as 4xNDR: "
                      "those of their links are not compared",
                      without_width_));
  }

 private:
  void begin(std::string_view line) {
    Scan scan{line};
    device_.reset();
    if (!scan.until("\"")) return;
    const auto found = named(scan);
    if (!found) return into_.doubt("a device without a GUID: " + doubted(line));
    const auto description = quoted_comment(scan);
    device_ = into_.device(found->guid, found->kind, description, true);
    if (type_ > 0) into_.type(*device_, static_cast<std::uint32_t>(type_));
    type_ = 0;
    found_ = true;
  }

  void port(std::string_view line) {
    Scan scan{line};
    scan.skip("[");
    const auto mine = scan.number<int>();
    if (!device_ || !mine || !scan.skip("]") || !scan.until("\"")) return reject(line);
    const auto peer = named(scan);
    if (!peer || !scan.skip("[")) return reject(line);
    const auto theirs = scan.number<int>();
    if (!theirs || !scan.skip("]")) return reject(line);
    const auto description = quoted_comment(scan);
    const auto width = width_of(scan.rest());
    if (width.lanes == 0 || width.speed.empty()) ++without_width_;
    const auto other = into_.device(peer->guid, peer->kind, description, false);
    into_.link({*device_, *mine}, {other, *theirs}, width.lanes, width.speed);
  }

  void reject(std::string_view line) { into_.doubt("not understood: " + doubted(line)); }
  static std::string doubted(std::string_view line) {
    constexpr std::size_t kShown = 100;
    return shortened(printable(valid_utf8(line.substr(0, 4 * kShown))), kShown);
  }

  SeenFabricBuilder& into_;
  std::optional<std::size_t> device_{};
  std::uint64_t type_ = 0;  // of the device that begins next
  std::size_t without_width_ = 0;
  bool found_ = false;
};

/// The list of ports: `CA   268  1 0xa088c2030001f071 4x NDR - SW    12 32 0xb0cf0e0300000700 (
/// 'n32 mlx5_7' - 'MF0;leaf1-r7:MQM9700/U1' )`, and `SW 24 1 0x946d... 4x SDR 'spine1'` where
/// nothing is connected.
class PortList {
 public:
  explicit PortList(SeenFabricBuilder& into) : into_{into} {}

  static bool has(std::string_view line) {
    return line.starts_with("CA ") || line.starts_with("SW ") || line.starts_with("RT ");
  }

  void line(std::string_view line) {
    Scan scan{line};
    const auto mine = end(scan);
    if (!mine) return into_.doubt("a port without a GUID in the list of ports");
    scan.skip_blanks();
    const auto lanes = scan.number<int>();
    if (!lanes || !scan.skip("x ")) return into_.doubt("a port without a width");
    const auto speed = scan.until(" ").value_or("");
    scan.skip_blanks();
    if (!scan.skip("- ")) return lonely(*mine, scan);
    const auto theirs = end(scan);
    if (!theirs || !scan.until("( '")) return into_.doubt("a link without its other end");
    const auto name = scan.until("' - '").value_or("");
    const auto other = scan.until("' )").value_or(scan.rest());
    into_.link({into_.device(mine->guid, mine->kind, name, false), mine->port},
               {into_.device(theirs->guid, theirs->kind, other, false), theirs->port}, *lanes,
               speed);
  }

 private:
  struct End {
    SeenDevice::Kind kind{};
    std::uint64_t guid = 0;
    int port = 0;
  };

  static std::optional<End> end(Scan& scan) {
    End found{.kind = scan.rest().starts_with("SW") ? SeenDevice::Kind::switch_device
                                                    : SeenDevice::Kind::hca};
    if (scan.rest().size() < 3) return std::nullopt;
    scan.skip(scan.rest().substr(0, 2));
    scan.skip_blanks();
    const auto lid = scan.number<int>();
    scan.skip_blanks();
    const auto port = scan.number<int>();
    scan.skip_blanks();
    if (!lid || !port || !scan.skip("0x")) return std::nullopt;
    const auto guid = scan.hexadecimal();
    if (!guid || *guid == 0) return std::nullopt;
    found.guid = *guid;
    found.port = *port;
    return found;
  }

  void lonely(const End& mine, Scan& scan) {
    if (!scan.until("'")) return;
    const auto name = scan.until("'").value_or("");
    into_.down({into_.device(mine.guid, mine.kind, name, false), mine.port}, "Down");
  }

  SeenFabricBuilder& into_;
};

}  // namespace

Result<inventory::SeenFabric> parse_ibnetdiscover(std::string_view text) {
  if (text.size() > kLargestReport)
    return Error{Code::kMalformed, "ibnetdiscover printed more than 256 MiB"};
  SeenFabricBuilder seen;
  Topology topology{seen};
  PortList ports{seen};
  for_each_line(text, [&](std::string_view line) {
    if (PortList::has(line))
      ports.line(line);
    else
      topology.line(line);
  });
  topology.finish();
  return std::move(seen).finish("ibnetdiscover");
}

}  // namespace cupel::burnin
