#include "burnin/gpu/gpu_domain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <vector>

#include "base/text.h"
#include "inventory/nvlink_domain.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kLongestReason = 200;  // bytes

using GpusByDomain = std::map<std::string, std::vector<std::string>>;

/// What keeps a GPU out of its domain; empty: it is in one.
std::string why_not_joined(const GpuFabric& gpu, bool has_domain) {
  if (lower_case(gpu.state) != "completed") return "its fabric state is " + gpu.state;
  if (!gpu.status.empty() && lower_case(gpu.status) != "success")
    return "its fabric status is " + gpu.status;
  if (has_domain) return {};
  const auto reported = [](const std::string& text) {
    return text.empty() ? std::string_view{"not reported"} : std::string_view{text};
  };
  return fmt::format("CliqueId {}, ClusterUUID {}", reported(gpu.clique), reported(gpu.cluster));
}

/// The only GPU that is in another domain than most; empty: there is none, or several.
std::string odd_one(const GpusByDomain& domains) {
  if (domains.size() != 2) return {};
  const auto &first = domains.begin()->second, &second = domains.rbegin()->second;
  if (first.size() == 1 && second.size() > 1) return first.front();
  return second.size() == 1 && first.size() > 1 ? second.front() : std::string{};
}

std::string text_of_domains(const GpusByDomain& domains) {
  std::string text;
  for (const auto& [domain, gpus] : domains)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", domain, fmt::join(gpus, ", "));
  return text;
}

}  // namespace

bool is_of_rack(const GpuFabric& gpu) {
  return gpu.reports_chassis || gpu.model.contains("GB200") || gpu.model.contains("GB300") ||
         inventory::nvlink_domain(gpu.cluster, gpu.clique).has_value();
}

void add_domain(std::span<const GpuFabric> gpus, Findings& findings) {
  GpusByDomain domains;
  bool reported = false;
  for (const auto& gpu : gpus) {
    if (gpu.state.empty() || !is_of_rack(gpu)) continue;
    reported = true;
    const auto domain = inventory::nvlink_domain(gpu.cluster, gpu.clique);
    const auto why = why_not_joined(gpu, domain.has_value());
    findings.measurements.push_back({std::string{inventory::kJoinedMeasure}, gpu.gpu,
                                     why.empty() ? 1.0 : 0.0, "", shortened(why, kLongestReason)});
    if (why.empty()) domains[domain->text()].push_back(gpu.gpu);
  }
  if (!reported) return;
  findings.facts[std::string{inventory::kDomainFact}] =
      domains.size() == 1 ? domains.begin()->first : std::string{};
  findings.facts[std::string{inventory::kSplitDomainFact}] =
      domains.size() > 1 ? text_of_domains(domains) : std::string{};
  if (domains.empty()) return;
  findings.measurements.push_back(
      {"gpu.fabric.domains", "", static_cast<double>(domains.size()), "count", odd_one(domains)});
}

}  // namespace cupel::burnin
