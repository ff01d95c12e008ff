// What one verdict costs where the nodes of a large run are compared with each other: it is done on
// the loop, once for each node of the run.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "inventory/model.h"
#include "orchestrator/steps/uniformity.h"

namespace {

using namespace cupel;

constexpr int kGpus = 8, kHcas = 10;

inventory::Part part(inventory::PartKind kind, std::string name, std::string model,
                     std::string version) {
  inventory::Part made;
  made.kind = kind;
  made.name = std::move(name);
  made.model = std::move(model);
  made.firmware = std::move(version);
  return made;
}

json::object facts_of_a_node() {
  using inventory::PartKind;
  std::vector<inventory::Part> parts{part(PartKind::firmware, "driver", "", "580.95.05"),
                                     part(PartKind::firmware, "bios", "", "1.06.07")};
  for (int i = 0; i < kGpus; ++i)
    parts.push_back(
        part(PartKind::gpu, fmt::format("gpu{}", i), "NVIDIA H100 80GB HBM3", "96.00.BC.00.01"));
  for (int i = 0; i < kHcas; ++i)
    parts.push_back(part(PartKind::hca, fmt::format("mlx5_{}", i), "MT4129", "28.43.2026"));
  return steps::version_facts(parts);
}

void verdict(benchmark::State& state) {
  const auto facts = facts_of_a_node();
  inventory::Inventory inventory;
  engine::RunState run;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    auto& node = inventory.nodes.emplace_back();
    node.name = fmt::format("r{:03}-n{:02}", i / 32, i % 32);
    node.profile = "dgx-h100";
    for (const auto& [name, value] : facts) run.nodes[node.name].facts[name] = value.as_string();
  }
  const auto& last = inventory.nodes.back();
  for (auto _ : state) {
    benchmark::DoNotOptimize(steps::version_differences(inventory, last, run));
    benchmark::DoNotOptimize(steps::uncompared_nodes(inventory, last, run));
  }
}
BENCHMARK(verdict)->Arg(100)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
