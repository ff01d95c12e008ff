#include "burnin/gpu/nvlink.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "burnin/script.h"
#include "burnin/xids.h"
#include "inventory/pci_address.h"

namespace cupel::burnin {
namespace {

constexpr std::string_view kSource = "nvidia-smi nvlink";

struct Links {
  std::map<std::string, bool, std::less<>> active{};     // by their numbers, each once
  std::optional<double> crc{}, replays{}, recoveries{};  // nothing: no such counter
  std::size_t counted = 0, uncounted = 0;
  std::string why{};  // nothing is reported
};

/// "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-...)": its UUID.
std::string uuid_of(std::string_view line) {
  constexpr std::string_view kMark = "(UUID: ";
  const auto at = line.find(kMark);
  if (!line.starts_with("GPU ") || at == line.npos) return {};
  const auto rest = line.substr(at + kMark.size());
  return script::clean(rest.substr(0, rest.find(')')));
}

/// "26.562 GB/s", not "<inactive>".
bool is_active(std::string_view reported) {
  constexpr std::string_view kUnit = " GB/s";
  const auto rate = reported.ends_with(kUnit)
                        ? script::finite(reported.substr(0, reported.size() - kUnit.size()))
                        : std::nullopt;
  return rate && *rate > 0;
}

struct Counter {
  std::string_view name;
  std::optional<double> Links::* sum;  // nullptr: it only shows that the link is counted
};

/// Up to NVLink 4, and of NVLink 5, whose links have neither CRC nor replay counters: a recovery
/// that fails takes the link down; one that succeeds counts in `watch` alone.
/// Source: nvidia-smi of driver 570 (H100) and of driver 595 (B300), nvlink --errorcounters; NVML,
/// NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS.
constexpr std::array kCounters{
    Counter{"CRC Errors", &Links::crc},
    Counter{"Replay Errors", &Links::replays},
    Counter{"Recovery Errors", &Links::recoveries},
    Counter{"Link recovery failed events", &Links::recoveries},
    Counter{"Malformed packet Errors", nullptr},
    Counter{"Buffer overrun Errors", nullptr},
    Counter{"Rx Errors", nullptr},
    Counter{"Local link integrity Errors", nullptr},
    Counter{"Effective Errors", nullptr},
    Counter{"Symbol Errors", nullptr},
};

/// What stands behind "Link 3: ". Of a link that is reported twice the worse counts.
void read_link(std::string_view link, std::string_view reported, Links& links) {
  constexpr std::size_t kMostLinks = 64;
  const auto colon = reported.find(':');
  if (colon == reported.npos) {
    if (links.active.size() == kMostLinks) return;
    const bool active = is_active(reported);
    const auto [known, is_new] = links.active.emplace(script::clean(link), active);
    known->second = known->second && active;
    return;
  }
  const auto count = script::finite(reported.substr(colon + 1));
  for (const auto& [name, sum] : kCounters) {
    if (reported.substr(0, colon) != name) continue;
    const bool good = count && *count >= 0;
    ++(good ? links.counted : links.uncounted);
    if (good && sum != nullptr) links.*sum = (links.*sum).value_or(0) + *count;
  }
}

std::map<std::string, Links> links_by_uuid(std::string_view text) {
  constexpr std::size_t kMostGpus = 256;
  std::map<std::string, Links> found;
  Links* now = nullptr;
  for (const auto line : lines(text)) {
    const auto word = trimmed(line);
    if (const auto uuid = uuid_of(word); !uuid.empty()) {
      now = found.size() < kMostGpus || found.contains(uuid) ? &found[uuid] : nullptr;
      continue;
    }
    if (now == nullptr || word.empty()) continue;
    const auto colon = word.find(": ");
    if (word.starts_with("Link ") && colon != word.npos)
      read_link(word.substr(5, colon - 5), word.substr(colon + 2), *now);
    else if (word.find("all links are inactive") != word.npos)
      now->active.emplace("all", false);
    else if (word.starts_with("Nvlink queries are not supported"))
      now->why = script::clean(word);
    else
      now = nullptr;  // another tool's
  }
  return found;
}

struct Seen {
  std::string bus;  // "0000:9b:00"
  int code = 0;
  std::string_view rest;
};

/// "NVRM: Xid (PCI:0000:9b:00): 79, pid=...", "nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034,
/// Fatal, Link 48 LTSSM Fault Up". Old drivers leave "PCI:" out.
std::optional<Seen> event_of(std::string_view line, std::string_view mark) {
  const auto at = line.find(mark);
  if (at == line.npos) return std::nullopt;
  auto rest = line.substr(at + mark.size());
  if (rest.starts_with("PCI:")) rest.remove_prefix(4);
  const auto end = rest.find("): ");
  if (end == rest.npos) return std::nullopt;
  // Of an instance of MIG: "0000:9b:00 GPU-I:05".
  auto bus = script::clean(rest.substr(0, std::min(end, rest.find(' '))));
  rest.remove_prefix(end + 3);
  const auto comma = std::min(rest.find(','), rest.size());
  const auto code = number<int>(trimmed(rest.substr(0, comma)));
  if (!code || *code <= 0) return std::nullopt;
  return Seen{std::move(bus), *code, trimmed(rest.substr(std::min(comma + 1, rest.size())))};
}

std::string name_of(const std::string& bus, std::span<const KnownGpu> gpus,
                    std::span<const std::string> places) {
  const auto address = bus.find('.') == bus.npos ? bus + ".0" : bus;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (inventory::same_pci(address, places[i])) return fmt::format("gpu{}", i);
  for (const auto& gpu : gpus)
    if (inventory::same_pci(address, gpu.address)) return gpu.name;
  return "gpu at " + address;
}

}  // namespace

void add_nvlinks(std::string_view text, std::span<const KnownGpu> gpus, Findings& findings) {
  const auto found = links_by_uuid(text);
  const auto add = [&](std::string_view measure, const std::string& part, double value,
                       std::string_view unit) {
    findings.measurements.push_back({std::string{measure}, part, value, std::string{unit}});
  };
  for (const auto& gpu : gpus) {
    const auto links = found.find(gpu.uuid);
    if (links == found.end()) continue;
    const auto& reported = links->second;
    if (!reported.why.empty())
      findings.unknown.push_back({"NVLinks of " + gpu.name, std::string{kSource}, reported.why});
    const auto active =
        std::ranges::count_if(reported.active, [](auto& link) { return link.second; });
    const bool has_links =
        !reported.active.empty() || reported.counted > 0 || reported.uncounted > 0;
    if (has_links || !reported.why.empty())
      add("nvlink.counted", gpu.name, reported.counted > 0 && reported.uncounted == 0 ? 1 : 0, "");
    if (!reported.active.empty())
      add("nvlink.active", gpu.name, static_cast<double>(active), "links");
    // A partial count proves errors; it cannot prove that there were none.
    const bool bad =
        reported.crc.value_or(0) + reported.replays.value_or(0) + reported.recoveries.value_or(0) >
        0;
    if (reported.uncounted > 0)
      findings.unknown.push_back(
          {"NVLink errors of " + gpu.name, std::string{kSource}, "not all counters reported"});
    if (reported.counted == 0 || (reported.uncounted > 0 && !bad)) continue;
    if (reported.crc) add("nvlink.crc_errors", gpu.name, *reported.crc, "errors");
    if (reported.replays) add("nvlink.replays", gpu.name, *reported.replays, "count");
    if (reported.recoveries) add("nvlink.recoveries", gpu.name, *reported.recoveries, "count");
  }
}

void add_xids(std::string_view text, std::span<const KnownGpu> gpus,
              std::span<const std::string> places, Findings& findings) {
  constexpr std::size_t kMostParts = 512;
  if (text.find(kKernelLogMark) == text.npos) {
    findings.unknown.push_back(
        {"Xids", "dmesg", "the kernel's log is not readable: it needs root"});
    return;
  }
  std::map<std::string, int> by_gpu, by_switch;
  for (const auto& gpu : gpus) by_gpu[gpu.name] = 0;
  for (const auto line : lines(text)) {
    if (by_gpu.size() + by_switch.size() > kMostParts) break;
    const auto xid = event_of(line, "NVRM: Xid (");
    if (xid && weight_of_xid(xid->code, xid->rest) == XidWeight::error) {
      auto& first = by_gpu[name_of(xid->bus, gpus, places)];
      if (first == 0) first = xid->code;
    }
    const auto sxid = event_of(line, ": SXid (");
    const auto begin = line.find("nvidia-nvswitch");
    if (!sxid || begin == line.npos) continue;
    const bool head = sxid->rest.starts_with("Fatal") || sxid->rest.starts_with("Non-fatal");
    if (!head || weight_of_sxid(sxid->code, sxid->rest) != XidWeight::error) continue;
    const auto word = line.substr(begin + 7, line.find(':', begin) - begin - 7);
    by_switch.emplace(script::clean(word), sxid->code);
  }
  for (const auto& [part, code] : by_gpu) {
    findings.measurements.push_back(
        {"gpu.xid", part, static_cast<double>(code), "", std::string{meaning_of_xid(code)}});
  }
  for (const auto& [part, code] : by_switch)
    findings.measurements.push_back({"nvswitch.sxid", part, static_cast<double>(code), ""});
}

}  // namespace cupel::burnin
