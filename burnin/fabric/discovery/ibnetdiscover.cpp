#include "burnin/fabric/discovery/ibnetdiscover.h"

#include <fmt/format.h>

#include "burnin/fabric/discovery/scan.h"

namespace cupel::burnin {
namespace {

using inventory::SeenDevice;
using inventory::SeenFabricBuilder;

struct Width {
  int lanes = 0;
  std::string_view speed{};
};

/// "4xNDR", the last word of a line; nothing where it is another one.
Width width_of(std::string_view line) {
  const auto blank = line.find_last_of(" \t");
  Scan scan{blank == line.npos ? line : line.substr(blank + 1)};
  const auto lanes = scan.number<int>();
  if (!lanes || !scan.skip("x") || scan.rest().size() > 8) return {};
  return {*lanes, scan.rest()};
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
    if (line.starts_with("Switch") || line.starts_with("Ca") || line.starts_with("Rt")) begin(line);
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
    const auto width = width_of(line);
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
  return std::move(seen).finish("ibnetdiscover");
}

}  // namespace cupel::burnin
