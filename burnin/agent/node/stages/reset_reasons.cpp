#include "burnin/agent/node/stages/reset_reasons.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/text.h"
#include "burnin/xids.h"

namespace cupel::agent {
namespace {

constexpr std::size_t kMostGpus = 256, kMostNamed = 4, kLongestAddress = 32, kLongestAction = 40;

/// What one GPU's part of the XML says.
struct Reported {
  std::string address{};
  std::string action{};  // of newer drivers: "Reset"; empty: none is asked for
  bool reset = false;    // of older ones: required, or recommended
  bool pending = false;  // a repair of its memory waits for a reset
  bool mig = false;
};

/// What follows the tag in a line that begins with it: "Reset".
std::optional<std::string_view> element(std::string_view line, std::string_view tag) {
  if (!line.starts_with(tag)) return std::nullopt;
  line.remove_prefix(tag.size());
  return trimmed(line.substr(0, line.find('<')));
}

bool is_yes(std::string_view line, std::string_view tag) { return element(line, tag) == "Yes"; }

/// It becomes an argument of nvidia-smi's.
bool is_address(std::string_view text) {
  constexpr std::string_view kAllowed = "0123456789abcdefABCDEF:.";
  return !text.empty() && text.size() <= kLongestAddress &&
         text.find_first_not_of(kAllowed) == text.npos && text.front() != ':' &&
         std::ranges::count(text, ':') == 2;
}

void read_line(std::string_view line, Reported& gpu) {
  if (const auto action = element(line, "<gpu_recovery_action>"))
    if (*action != "None" && *action != "N/A")
      gpu.action = shortened(printable(*action), kLongestAction);
  if (element(line, "<current_mig>") == "Enabled") gpu.mig = true;
  for (const auto* tag : {"<reset_required>", "<drain_and_reset_recommended>"})
    gpu.reset = gpu.reset || is_yes(line, tag);
  for (const auto* tag :
       {"<remapped_row_pending>", "<pending>", "<channel_repair_pending>", "<tpc_repair_pending>"})
    gpu.pending = gpu.pending || is_yes(line, tag);
}

std::vector<Reported> reported_in(std::string_view smi) {
  constexpr std::string_view kGpu = "<gpu id=\"";
  std::vector<Reported> gpus;
  bool inside = false;
  for (auto line : lines(smi)) {
    line = trimmed(line);
    if (line.starts_with(kGpu)) {
      const auto rest = line.substr(kGpu.size());
      const auto address = rest.substr(0, rest.find('"'));
      inside = is_address(address) && gpus.size() < kMostGpus;
      if (inside) gpus.push_back({.address = std::string{address}});
    } else if (inside) {
      read_line(line, gpus.back());
    }
  }
  return gpus;
}

/// One line of the kernel's.
struct LoggedXid {
  std::string_view bus{};  // "0000:1b:00"
  int code = 0;
  std::string_view rest{};
  std::string_view time{};  // seconds since the boot; empty where it does not say
};

std::optional<LoggedXid> xid_in(std::string_view line) {
  constexpr std::string_view kMark = "NVRM: Xid (";
  const auto at = line.find(kMark);
  if (at == line.npos) return std::nullopt;
  auto rest = line.substr(at + kMark.size());
  if (rest.starts_with("PCI:")) rest.remove_prefix(4);
  const auto end = rest.find("): ");
  if (end == rest.npos) return std::nullopt;
  LoggedXid xid{.bus = rest.substr(0, std::min(end, rest.find(' ')))};
  rest.remove_prefix(end + 3);
  const auto comma = std::min(rest.find(','), rest.size());
  xid.code = number<int>(trimmed(rest.substr(0, comma))).value_or(0);
  xid.rest = trimmed(rest.substr(std::min(comma + 1, rest.size())));
  const auto open = line.find('['), close = line.find(']');
  if (open < at && close < at && open < close)
    if (const auto time = trimmed(line.substr(open + 1, close - open - 1)); number<double>(time))
      xid.time = time;
  return xid.code > 0 ? std::optional{xid} : std::nullopt;
}

/// What all lines of one GPU say.
struct Xids {
  std::string words{};
  bool any = false, contained = true, restart = false, other = false;
};

void take(const LoggedXid& xid, std::set<int>& seen, Xids& all) {
  constexpr int kRecoveryAction = 154;  // the driver's own word, which nvidia-smi reports
  const bool counts = burnin::weight_of_xid(xid.code, xid.rest) == burnin::XidWeight::error;
  if (!counts || xid.code == kRecoveryAction || !seen.insert(xid.code).second) return;
  const bool restart = xid.code == burnin::kRestartXid;
  if (!restart && !burnin::is_answered_by_reset(xid.code)) {
    all.other = true;
    return;
  }
  all.any = true;
  all.restart = all.restart || restart;
  all.contained = all.contained && xid.code == burnin::kContainedXid;
  if (seen.size() > kMostNamed) return;
  all.words += (all.words.empty() ? "Xid " : "; Xid ") + std::to_string(xid.code);
  if (!xid.time.empty()) all.words += " at " + std::string{xid.time} + " s";
}

Xids xids_of(std::string_view address, std::string_view log) {
  Xids all;
  std::set<int> seen;
  for (const auto line : lines(log)) {
    const auto xid = xid_in(line);
    if (xid && same_gpu(address, xid->bus)) take(*xid, seen, all);
  }
  return all;
}

GpuNeed need_of(const Reported& gpu, std::string_view log) {
  const auto xids = xids_of(gpu.address, log);
  const bool by_bus = gpu.action.contains("Reboot") || gpu.action.contains("Bus");
  const bool asks = by_bus || gpu.action.contains("Reset") || gpu.reset;
  GpuNeed need{.address = gpu.address, .divided = gpu.mig, .other = xids.other};
  need.restart = by_bus || xids.restart;
  if (asks) need.why = "the driver asks for " + (gpu.action.empty() ? "a reset" : gpu.action);
  if (gpu.pending) need.why += std::string{need.why.empty() ? "" : "; "} + "a memory repair waits";
  if (xids.any) need.why += (need.why.empty() ? "" : "; ") + xids.words;
  // What the driver asks for follows from what was contained, where there is such a thing.
  const bool explained = gpu.pending || (xids.any && xids.contained);
  need.contained = !need.restart && xids.contained && (!asks || explained);
  return need;
}

/// "0:1b:00": the domain without zeros in front, the bus and the device.
std::string place_of(std::string_view text) {
  const auto parts = split(text.substr(0, text.find('.')), ':');
  if (parts.size() != 3) return {};
  auto domain = parts[0];
  while (domain.size() > 1 && domain.front() == '0') domain.remove_prefix(1);
  return lower_case(std::string{domain} + ":" + std::string{parts[1]} + ":" +
                    std::string{parts[2]});
}

}  // namespace

bool same_gpu(std::string_view address, std::string_view bus) {
  const auto place = place_of(trimmed(address));
  return !place.empty() && place == place_of(trimmed(bus));
}

std::vector<GpuNeed> needs_of(std::string_view smi, std::string_view log) {
  std::vector<GpuNeed> needs;
  for (const auto& gpu : reported_in(smi)) needs.push_back(need_of(gpu, log));
  return needs;
}

}  // namespace cupel::agent
