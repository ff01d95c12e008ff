#include "burnin/gains.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "burnin/node/rdma_counters.h"
#include "burnin/stage.h"

namespace cupel::burnin {
namespace {

struct Counter {
  std::string_view stage, measure, gain;
};

constexpr std::array kCounters{
    Counter{"node-facts", "ib.port.downed", "ib.port.downed.new"},
    Counter{"node-facts", "ib.port.receive_errors", "ib.port.receive_errors.new"},
    Counter{"node-facts", "ib.port.recovered", "ib.port.recovered.new"},
    Counter{"gpu-facts", "gpu.remap.uncorrected", "gpu.remap.new"},
    Counter{"gpu-facts", "nvlink.replays", "nvlink.replays.new"}};

void add_gain(const Counter& counter, const Findings& first, Findings& later) {
  std::vector<Measurement> gains;
  for (const auto& now : later.measurements) {
    if (now.name != counter.measure) continue;
    for (const auto& before : first.measurements)
      if (before.name == now.name && before.part == now.part && now.value >= before.value)
        gains.push_back({std::string{counter.gain}, now.part, now.value - before.value, now.unit});
  }
  std::ranges::move(gains, std::back_inserter(later.measurements));
}

/// To each later reading of the counter's stage, by the first one.
void add_gain_of(const Counter& counter, std::span<const std::string> steps,
                 FindingsByStage& findings) {
  const Findings* first = nullptr;
  for (const auto& step : steps) {
    const auto found = findings.find(step);
    if (found == findings.end() || base_name(step) != counter.stage) continue;
    if (first != nullptr)
      add_gain(counter, *first, found->second);
    else
      first = &found->second;
  }
}

void add_gain_of_rdma(std::string_view name, std::span<const std::string> steps,
                      FindingsByStage& findings) {
  const auto measure = fmt::format("rdma.{}", name), gain = measure + ".new";
  add_gain_of({"node-facts", measure, gain}, steps, findings);
}

}  // namespace

void add_gains(std::span<const std::string> steps, FindingsByStage& findings) {
  for (const auto& counter : kCounters) add_gain_of(counter, steps, findings);
  for (const auto counter : kRdmaCounters) add_gain_of_rdma(counter, steps, findings);
  add_gain_of_rdma(kPauses, steps, findings);
}

}  // namespace cupel::burnin
