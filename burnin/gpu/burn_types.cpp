#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "burnin/gpu/burn_findings.h"
#include "burnin/script.h"
#include "inventory/profile.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kMostTypes = 16;

std::size_t gpus_that_reported(std::string_view type, const BurnReport& run) {
  std::set<std::string_view> parts;
  for (const auto& result : run.results) {
    const auto label = result.labels.find("type");
    const bool of_it = label != result.labels.end() && label->second == type;
    const bool known = std::ranges::any_of(run.gpus, [&](const BurnGpu& gpu) {
      return result.part == fmt::format("gpu{}", gpu.index);
    });
    const bool reported = result.value && *result.value >= 0;
    if (result.name == "gemm.rate" && of_it && known && reported) parts.insert(result.part);
  }
  return parts.size();
}

}  // namespace

Result<void> check_types(std::string_view asked, const inventory::Profile& profile,
                         const BurnReport& run, Findings& findings) {
  if (asked.empty()) return ok();
  auto types = split(asked, ',');
  types.resize(std::min(types.size(), kMostTypes));
  for (const auto type : types) {
    const auto measure = fmt::format("gemm.{}.rate", script::clean(type));
    const bool judged = std::ranges::any_of(profile.criteria, [&](const auto& criterion) {
      return criterion.stage == "gemm" && criterion.measure == measure;
    });
    const auto reported = gpus_that_reported(type, run);
    if (judged && reported < run.gpus.size())
      return Error{Code::kNoMeasurement,
                   fmt::format("cupel-burn was asked for {}, and {} of {} GPUs reported its rate",
                               type, reported, run.gpus.size())};
    if (!judged)
      findings.unknown.push_back(
          {measure, "profile",
           fmt::format("asked for and {}, but the profile has no criterion for it",
                       reported > 0 ? "measured" : "not measured")});
  }
  return ok();
}

}  // namespace cupel::burnin
