// What verdicts cost that compare machines: so many nodes with 500 measurements each, taken one
// after the other as a run's stages end, learned, and each node compared.
// verdict_bench [NODES]
#include <fmt/format.h>

#include <ctime>

#include "base/text.h"
#include "burnin/criteria/compared_causes.h"
#include "burnin/criteria/fleet_reference.h"
#include "burnin/criteria/judge.h"
#include "burnin/measures/measure.h"
#include "inventory/criterion.h"
#include "inventory/profile.h"
#include "tests/support/synthetic_fleet.h"

namespace {

using namespace cupel;
using burnin::Findings;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

constexpr int kGpus = 8, kStages = 5;
constexpr std::array<std::string_view, 12> kRates{
    "hbm.copy", "hbm.read",     "hbm.write",    "pcie.h2d", "pcie.d2h",     "pcie.both",
    "p2p.read", "pcie.all.h2d", "pcie.all.d2h", "p2p.both", "pcie.far.h2d", "pcie.far.d2h"};

/// 500 numbers: in five stages twelve rates of eight GPUs, and twenty that are only judged.
burnin::FindingsByStage node(std::uint64_t seed) {
  burnin::FindingsByStage findings;
  const rehearsal::Draw draw{seed};
  for (int stage = 0; stage < kStages; ++stage) {
    auto& found = findings["hbm@" + std::to_string(stage)];
    for (int gpu = 0; gpu < kGpus; ++gpu)
      for (const auto rate : kRates)
        found.measurements.push_back(
            {std::string{rate}, "gpu" + std::to_string(gpu),
             1000 * (1 + 0.005 * fleets::normal(draw.of(rate).of(
                                     static_cast<std::uint64_t>(stage * 8 + gpu)))),
             "GB/s"});
    for (int i = 0; i < 4; ++i)
      found.measurements.push_back({"hbm.errors", "gpu" + std::to_string(i), 0, "errors"});
  }
  return findings;
}

inventory::Profile profile() {
  inventory::Profile profile;
  for (const auto rate : kRates) {
    inventory::Criterion criterion{.stage = "hbm", .measure = std::string{rate}};
    for (int gpu = 0; gpu < kGpus; ++gpu) criterion.parts.push_back("gpu" + std::to_string(gpu));
    criterion.at_least = 900;
    criterion.unit = "GB/s";
    profile.criteria.push_back(std::move(criterion));
  }
  return profile;
}

}  // namespace

int main(int argc, char** argv) {
  const auto nodes = static_cast<std::size_t>(
      argc > 1 ? number<int>(std::string_view{argv[1]}).value_or(10'000) : 10'000);
  std::vector<burnin::FindingsByStage> kept;  // as many as fit; the others are like them
  for (std::size_t i = 0; i < std::min<std::size_t>(nodes, 200); ++i) kept.push_back(node(i));
  const auto criteria = profile();
  burnin::FleetSamples samples;
  burnin::FleetReference reference;
  double take = 0, learn = 0, compare = 0, judge = 0;
  std::size_t learned_at = 0, causes = 0, learned = 0;
  const auto timed = [](double& sum, auto work) {
    const double began = cpu_seconds();
    work();
    sum += cpu_seconds() - began;
  };
  for (std::size_t i = 0; i < nodes; ++i) {
    const auto& found = kept[i % kept.size()];
    timed(take, [&] {
      for (const auto& [stage, findings] : found)
        samples.take("n" + std::to_string(i), stage, findings);
    });
    if (i + 1 > learned_at + learned_at / 4) {
      timed(learn, [&] { reference = samples.learn({}); });
      learned_at = i + 1;
      ++learned;
    }
    timed(judge, [&] {
      causes +=
          burnin::judge(criteria, {"hbm@0", "hbm@1", "hbm@2", "hbm@3", "hbm@4"}, found).size();
    });
    timed(compare, [&] { causes += burnin::causes_of(burnin::compare(reference, found)).size(); });
  }
  fmt::print(
      "{} nodes, 500 measurements each: CPU {:.2f} s to take, {:.2f} s to learn ({} times), "
      "{:.2f} s to compare, {:.2f} s to hold against criteria; together {:.2f} s\n",
      nodes, take, learn, learned, compare, judge, take + learn + compare + judge);
  return causes == 0;
}
