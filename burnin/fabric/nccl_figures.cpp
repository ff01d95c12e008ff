#include "burnin/fabric/nccl_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"

namespace cupel::burnin::fabric {
namespace {

constexpr std::size_t kMostLines = 64;

constexpr std::array kPublished{
    PublishedRate{"all_reduce", "H100", 2, "RING", 368, "8 NDR ports of 46 to 49 GB/s each",
                  "NVIDIA/nccl-tests#290, #267"},
    PublishedRate{"all_reduce", "H100", 2, "", 479.28, "EFA 3200 Gb/s, 8 GiB, trees and NVLS",
                  "AWS, nccl-tests on p5, README"},
    PublishedRate{"all_reduce", "H100", 4, "", 391.1, "OCI, 16 GiB, NCCL 2.19.3",
                  "NVIDIA/nccl#1222"},
    PublishedRate{"all_gather", "H100", 2, "", 338.57, "EFA 3200 Gb/s",
                  "NVIDIA/cluster-readiness-engine"},
    PublishedRate{"all_gather", "H100", 32, "", 340, "expected at 2 GiB", "NVIDIA/nccl#1218"},
    PublishedRate{"all_to_all", "H100", 2, "", 79.11, "EFA 3200 Gb/s",
                  "NVIDIA/cluster-readiness-engine"},
    PublishedRate{"all_reduce", "A100", 2, "", 182.8, "HDR, 1 GB", "facebookresearch/gcm"},
    PublishedRate{"all_reduce", "GB200", 18, "", 834.57, "one NVL72, 4 GPUs each, NVLink, 8 GiB",
                  "coreweave/nccl-tests#43", 4},
};

/// As a whole word: "NVIDIA GH200 480GB" is no H200.
bool names(std::string_view gpu, std::string_view generation) {
  const auto at = gpu.find(generation);
  return at != gpu.npos && (at == 0 || gpu[at - 1] == ' ' || gpu[at - 1] == '-');
}

/// The rows say H100 where they were measured; an H200 has the same NVLinks and HCAs.
bool is_of(std::string_view gpu, std::string_view generation) {
  return names(gpu, generation) || (generation == "H100" && names(gpu, "H200"));
}

std::string label(const BurnResult& result, const std::string& name) {
  const auto found = result.labels.find(name);
  return found == result.labels.end() ? "" : found->second;
}

struct Row {
  double time = 0, algorithm = 0, bus = 0;
};

void slowest(double& value, double reported) {
  value = value > 0 ? std::min(value, reported) : reported;
}

}  // namespace

std::span<const PublishedRate> published_rates() { return kPublished; }

const PublishedRate* published_for(const TeamRun& run, std::string_view operation) {
  if (run.team.rail >= 0 || run.reports.empty() || !run.reports.front()) return nullptr;
  const auto& report = *run.reports.front();
  if (report.burn.gpus.empty()) return nullptr;
  const auto set = report.variables.find("NCCL_ALGO");
  const auto algorithm = set == report.variables.end() ? "" : lower_case(set->second);
  for (const auto& rate : kPublished)
    if (rate.operation == operation && rate.nodes == run.team.members.size() &&
        rate.gpus_each == run.ranks_each && lower_case(rate.algorithm) == algorithm &&
        is_of(report.burn.gpus.front().name, rate.gpu))
      return &rate;
  return nullptr;
}

std::string described(const PublishedRate& rate) {
  return fmt::format("{} GB/s on {} nodes of {}{}{} ({}): {}", rate.busbw, rate.nodes, rate.gpu,
                     rate.algorithm.empty() ? "" : ", NCCL_ALGO=", rate.algorithm, rate.where,
                     rate.source);
}

std::vector<std::string> rate_table(const TeamRun& run) {
  std::map<std::pair<std::string, double>, Row> rows;
  for (const auto& report : run.reports) {
    if (!report) continue;
    for (const auto& result : report->burn.results) {
      const auto bytes = number<double>(label(result, "bytes"));
      const auto operation = label(result, "op");
      if (!bytes || operation.empty() || !result.value || *result.value <= 0) continue;
      if (!result.name.starts_with("across.")) continue;
      auto& row = rows[{operation, *bytes}];
      if (result.name == "across.time") row.time = std::max(row.time, *result.value);
      if (result.name == "across.algbw") slowest(row.algorithm, *result.value);
      if (result.name == "across.busbw") slowest(row.bus, *result.value);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [key, row] : rows) {
    if (row.time <= 0 || row.bus <= 0 || lines.size() == kMostLines) continue;
    lines.push_back(
        fmt::format("{} size {:.0f} B, time {:.1f} us, algbw {:.2f} GB/s, busbw {:.2f} "
                    "GB/s",
                    key.first, key.second, row.time, row.algorithm, row.bus));
  }
  return lines;
}

}  // namespace cupel::burnin::fabric
