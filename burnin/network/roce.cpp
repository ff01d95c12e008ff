#include "burnin/network/roce.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using std::chrono::seconds;

constexpr std::array<std::string_view, 23> kRoceMeasures{
    "roce.hcas",  "roce.gid",   "roce.mtu",   "roce.tclass", "roce.tos",   "roce.dscp",
    "roce.trust", "roce.pfc.0", "roce.pfc.1", "roce.pfc.2",  "roce.pfc.3", "roce.pfc.4",
    "roce.pfc.5", "roce.pfc.6", "roce.pfc.7", "roce.ecn.0",  "roce.ecn.1", "roce.ecn.2",
    "roce.ecn.3", "roce.ecn.4", "roce.ecn.5", "roce.ecn.6",  "roce.ecn.7"};
constexpr int kPriorities = 8;
constexpr int kMostGids = 256;
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::string_view kStage = "roce", kTool = "mlnx_qos";

/// Reads mlnx_qos of cupel-node; and of a job that an earlier version started, which was a shell
/// script, "gid:", "mtu:", "tos:" and "ecn:" of sysfs, with mlnx_qos in between.
class RoceReader {
 public:
  RoceReader(std::string hca, Findings& into) : hca_{std::move(hca)}, into_{into} {}

  /// Of mlnx_qos alone.
  void read_qos(std::string_view text) {
    for (const auto line : split(text, '\n')) read_qos_line(line);
    if (!pfc_) unknown("roce.pfc", "mlnx_qos did not report it");
  }

  void read(std::string_view text) {
    for (const auto line : split(text, '\n')) read_line(line);
    if (gid_)
      put("roce.gid", *gid_);
    else
      unknown("roce.gid", "no GID of RoCE v2 with an IPv4 address");
    if (tclass_) put("roce.dscp", *tclass_ / 4);
    if (!pfc_) unknown("roce.pfc", "mlnx_qos did not report it");
    if (!ecn_) unknown("roce.ecn", "the driver has no ecn/ in /sys/class/net");
  }

 private:
  void put(std::string name, int value) {
    into_.measurements.push_back({std::move(name), hca_, static_cast<double>(value), ""});
  }
  void unknown(std::string name, std::string why) {
    into_.unknown.push_back({std::move(name), hca_, std::move(why)});
  }

  void read_line(std::string_view line) {
    const auto parts = words(line);
    if (parts.size() == 3 && parts[0] == "gid:") return read_gid(parts[1], parts[2]);
    if (parts.size() == 2 && parts[0] == "mtu:") return read_number("roce.mtu", parts[1]);
    if (parts.size() == 2 && parts[0] == "tos:") return read_number("roce.tos", parts[1]);
    if (parts.size() >= 2 && parts[0] == "ecn:") return read_ecn(parts);
    constexpr std::string_view kClass = "Global tclass=";
    const auto bare = trimmed(line);
    if (!bare.starts_with(kClass)) return read_qos_line(line);
    tclass_ = number<int>(bare.substr(kClass.size()));
    if (tclass_) put("roce.tclass", *tclass_);
  }

  void read_qos_line(std::string_view line) {
    constexpr std::string_view kTrust = "Priority trust state:";
    const auto bare = trimmed(line);
    const auto parts = words(line);
    if (bare.starts_with(kTrust))
      put("roce.trust", trimmed(bare.substr(kTrust.size())) == "dscp" ? 1 : 0);
    else if (parts.size() == kPriorities + 1 && parts[0] == "enabled")
      read_pfc(parts);
  }

  /// The first of an IPv4 address: "0000:0000:0000:0000:0000:ffff:0a01:0203".
  void read_gid(std::string_view index, std::string_view gid) {
    constexpr std::string_view kMapped = "0000:0000:0000:0000:0000:ffff:";
    const auto at = number<int>(index);
    if (!gid_ && at && *at >= 0 && *at < kMostGids && gid.starts_with(kMapped)) gid_ = at;
  }

  void read_number(std::string name, std::string_view text) {
    constexpr int kMost = 65535;
    if (const auto value = number<int>(text); value && *value >= 0 && *value <= kMost)
      put(std::move(name), *value);
  }

  /// Both the point that marks' receiver and the one that slows down.
  void read_ecn(const std::vector<std::string_view>& parts) {
    const auto priority = number<int>(parts[1]);
    if (!priority || *priority < 0 || *priority >= kPriorities) return;
    const bool on = parts.size() == 4 && parts[2] == "1" && parts[3] == "1";
    ecn_ = true;
    put(fmt::format("roce.ecn.{}", *priority), on ? 1 : 0);
  }

  void read_pfc(const std::vector<std::string_view>& parts) {
    if (pfc_) return;
    pfc_ = true;
    for (int i = 0; i < kPriorities; ++i)
      put(fmt::format("roce.pfc.{}", i), parts[static_cast<std::size_t>(i) + 1] == "1" ? 1 : 0);
  }

  std::string hca_;
  Findings& into_;
  std::optional<int> gid_{}, tclass_{};
  bool pfc_ = false, ecn_ = false;
};

Result<Job> prepare_roce(const inventory::Profile&, const Parameters&) {
  return agent_job({.stage = kStage, .helpful = {std::string{kTool}}}, seconds{5}, seconds{120});
}

Error no_ethernet() {
  return {Code::kNoMeasurement,
          "no HCA has a port whose link layer is Ethernet: RoCE is not in use here"};
}

Result<Findings> read_script_output(const Output& output) {
  Findings found;
  int hcas = 0;
  for (const auto& section : script::sections(output.text)) {
    if (!section.whole) continue;
    ++hcas;
    RoceReader{section.name, found}.read(section.text);
  }
  if (hcas == 0 && output.exit_status != 0)
    return Error{Code::kNoMeasurement,
                 "cupel-node stage roce printed nothing: " + script::complaint(output)};
  if (hcas == 0) return no_ethernet();
  found.measurements.push_back({"roce.hcas", "", static_cast<double>(hcas), "count"});
  return found;
}

Result<Findings> parse_roce(const inventory::Profile&, const Output& output) {
  TRY(auto read, read_agent_output(kStage, output, kRoceMeasures));
  if (!read) return read_script_output(output);
  Findings found;
  found.measurements = std::move(read->measured);
  found.unknown = std::move(read->unmeasured);
  if (found.measurements.empty()) return no_ethernet();
  for (const auto& tool : read->tools)
    if (tool.name == kTool) RoceReader{tool.part, found}.read_qos(tool.out);
  return found;
}

}  // namespace

Stage roce() {
  return {"roce",
          "how the node is set up for RoCE: GID index, MTU, traffic class, PFC, ECN (sysfs, "
          "mlnx_qos)",
          {},
          prepare_roce,
          parse_roce,
          kRoceMeasures,
          {0, 0, "it only reads"},
          kPrograms};
}

}  // namespace cupel::burnin
