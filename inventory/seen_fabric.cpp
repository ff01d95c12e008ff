#include "inventory/seen_fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kLongestDescription = 128;  // NodeDescription has 64 bytes (IBA 14.2.5.2)
constexpr std::size_t kMostDoubts = 100;
constexpr int kMostPorts = 255;  // NodeInfo.NumPorts has 8 bits (IBA 14.2.5.3)

std::uint64_t key_of(const SeenEnd& end) {
  constexpr unsigned kPortBits = 8;
  return end.device << kPortBits | static_cast<std::uint64_t>(end.port);
}

std::string description_of(std::string_view reported) {
  return shortened(printable(valid_utf8(trimmed(reported))), kLongestDescription);
}

/// Every switch with SHARP shows an HCA of its own.
bool is_aggregation(std::string_view description) {
  return description.contains("Aggregation Node");
}

}  // namespace

std::size_t SeenFabric::count(SeenDevice::Kind kind) const {
  return static_cast<std::size_t>(std::ranges::count(devices, kind, &SeenDevice::kind));
}

std::string switch_name(std::string_view description) {
  auto rest = trimmed(description);
  if (const auto module = rest.find(';'); rest.starts_with("MF") && module != rest.npos)
    rest.remove_prefix(module + 1);
  const auto colon = rest.rfind(':');
  if (colon == rest.npos) return std::string{rest};
  std::string name{rest.substr(0, colon)};
  const auto model = rest.substr(colon + 1);
  // "MQM9700/U1" is a whole switch, "MCS8500/L16/U2" a chip of one.
  const auto slash = model.find('/');
  if (slash != model.npos && model.find('/', slash + 1) != model.npos) name += model.substr(slash);
  return name;
}

std::string guid_text(std::uint64_t guid) { return fmt::format("{:016x}", guid); }

std::optional<std::uint64_t> guid_of(std::string_view text) {
  constexpr std::size_t kDigits = 16;
  constexpr int kHexadecimal = 16;
  std::string digits;
  text = trimmed(text);
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  for (const char one : text.substr(0, 2 * kDigits))
    if (one != ':') digits += one;
  std::uint64_t guid = 0;
  const auto* end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, guid, kHexadecimal);
  const bool whole = failure == std::errc{} && stop == end && digits.size() <= kDigits;
  return whole && guid != 0 ? std::optional{guid} : std::nullopt;
}

void SeenFabricBuilder::name(SeenDevice& device, std::string_view description) {
  device.description = description_of(description);
  if (device.kind == Kind::switch_device) {
    device.name = switch_name(device.description);
    return;
  }
  if (is_aggregation(device.description)) device.kind = Kind::aggregation;
  const auto parts = words(device.description);
  // The driver's own words, "MT4123 ConnectX6   Mellanox Technologies", name no node.
  if (parts.size() != 2) return;
  device.name = parts[0];
  device.hca = parts[1];
}

std::size_t SeenFabricBuilder::device(std::uint64_t guid, Kind kind, std::string_view description,
                                      bool listed) {
  if (too_many_) return 0;  // the GUID of one more has an index, and no device
  const auto [found, fresh] = devices_.try_emplace(guid, seen_.devices.size());
  if (fresh) {
    too_many_ = too_many_ || seen_.devices.size() >= kMostDevices;
    if (too_many_) return 0;
    seen_.devices.push_back({.kind = kind, .guid = guid});
  }
  auto& known = seen_.devices[found->second];
  // An HCA of two planes is listed by the report of each.
  const bool of_planes =
      known.kind == Kind::hca && known.description == description_of(description);
  if (listed && known.listed && !of_planes)
    doubt(fmt::format("GUID {} is reported twice: as '{}' and as '{}'", guid_text(guid),
                      known.description, shortened(printable(description), kLongestDescription)));
  known.listed = known.listed || listed;
  if (known.description.empty()) name(known, description);
  return found->second;
}

void SeenFabricBuilder::type(std::size_t device, std::uint32_t id) {
  if (device < seen_.devices.size()) seen_.devices[device].type = id;
}

void SeenFabricBuilder::link(SeenEnd from, SeenEnd to, int width, std::string_view speed) {
  const auto possible = [](const SeenEnd& end) { return end.port >= 1 && end.port <= kMostPorts; };
  if (!possible(from) || !possible(to)) return doubt("a port's number is not in 1 to 255");
  const auto [found, fresh] = ends_.try_emplace(key_of(from), seen_.links.size());
  if (!fresh) {
    auto& known = seen_.links[found->second];
    const bool same =
        (known.from == from && known.to == to) || (known.from == to && known.to == from);
    if (!same)
      doubt(fmt::format("the two ends of a link disagree at {} port {}",
                        seen_.devices[from.device].description, from.port));
    else
      take_other_end(known, width, speed);
    return;
  }
  too_many_ = too_many_ || seen_.links.size() >= kMostLinks;
  if (too_many_) return;
  ends_.try_emplace(key_of(to), seen_.links.size());
  seen_.links.push_back({from, to, width, std::string{speed}});
}

void SeenFabricBuilder::take_other_end(SeenLink& known, int width, std::string_view speed) {
  if (known.width <= 0) known.width = width;
  if (known.speed.empty()) known.speed = std::string{speed};
  const bool same = (width <= 0 || known.width == width) && (speed.empty() || known.speed == speed);
  if (same) return;
  doubt(
      fmt::format("the two ends of a link disagree about its rate at {} port {}: {}x {} and {}x {}",
                  seen_.devices[known.from.device].description, known.from.port, known.width,
                  known.speed, width, printable(speed)));
}

void SeenFabricBuilder::down(SeenEnd end, std::string_view state) {
  too_many_ = too_many_ || seen_.down.size() >= kMostLinks;
  if (too_many_ || end.port < 1 || end.port > kMostPorts) return;
  seen_.down.push_back({end, std::string{state}});
}

void SeenFabricBuilder::doubt(std::string text) {
  if (seen_.doubts.size() < kMostDoubts) seen_.doubts.push_back(std::move(text));
}

Result<SeenFabric> SeenFabricBuilder::finish(std::string_view tool) && {
  if (too_many_)
    return Error{Code::kMalformed, fmt::format("{}: more than {} devices or {} links", tool,
                                               kMostDevices, kMostLinks)};
  if (seen_.devices.empty())
    return Error{Code::kNoMeasurement,
                 fmt::format("{} reported no device: it could not look, which does not mean that "
                             "there is nothing. Check that a subnet manager runs and that the "
                             "host's port is active (ibstat)",
                             tool)};
  if (seen_.links.empty())
    return Error{Code::kNoMeasurement,
                 fmt::format("{} reported {} devices and no link: its output is cut off, or its "
                             "host's port is down (ibstat)",
                             tool, seen_.devices.size())};
  const auto is_unlisted = [](const SeenDevice& device) {
    return !device.listed && device.kind != SeenDevice::Kind::aggregation;
  };
  const auto unlisted = std::ranges::count_if(seen_.devices, is_unlisted);
  if (each_listed_ && unlisted > 0) {
    seen_.whole = false;
    seen_.doubts.insert(
        seen_.doubts.begin(),
        fmt::format("the output of {} is cut off: {} devices are named as peers and are not listed "
                    "themselves ({}). What is absent or missing is not judged: save it whole, and "
                    "look again",
                    tool, unlisted, std::ranges::find_if(seen_.devices, is_unlisted)->description));
  }
  return std::move(seen_);
}

}  // namespace cupel::inventory
