// `cupel-burn pcie`: what goes over PCIe between the host's memory and each GPU: each way and both
// at once, from the near NUMA node and from the far, one GPU at a time and all together; how long a
// word takes. Every byte that was copied is checked.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>

#include "burnin/agent/burn/command.h"
#include "burnin/agent/burn/cuda/devices.h"
#include "burnin/agent/burn/cuda/pcie_lane.h"
#include "burnin/agent/burn/links/figures.h"
#include "burnin/agent/burn/links/numa.h"
#include "burnin/agent/burn/links/pattern.h"
#include "burnin/agent/burn/self_test.h"
#include "burnin/agent/burn/workers.h"
#include "burnin/agent/common/cancellable_barrier.h"

namespace cupel::burn {
namespace {

using agent::CancellableBarrier;

constexpr std::array kChoices{
    Choice{.name = "--mib",
           .kind = Choice::Kind::kCount,
           .fallback = "256",
           .low = 1,
           .high = 4096,
           .help = "of one copy; twice as much of the host's memory is pinned for each GPU"},
};

constexpr std::array kWays{Way::kToGpu, Way::kToHost, Way::kBoth};
constexpr int kPasses = 12;
constexpr int kRoundTrips = 2000;

std::string_view figure_of(Way way) {
  return way == Way::kToGpu ? "pcie.h2d" : way == Way::kToHost ? "pcie.d2h" : "pcie.both";
}

/// Memory of the host as a GPU sees it.
struct Place {
  std::string label;  // "near", "far"; "unknown" where the firmware does not say
  std::optional<int> node{};
  std::vector<int> cores{};
};

struct Bench {
  const Options& options;
  Report& report;
  Stop& stop;
  Watchdog& watchdog;
  Figures figures;
  std::uint64_t round = 0;

  /// The first round is finished whatever the clock says: a figure that is missing proves nothing.
  bool goes_on() const { return round == 0 ? !stop.by_signal() && !stop.given_up() : !stop.over(); }
  std::size_t bytes() const { return static_cast<std::size_t>(options.number("--mib")) << 20; }
  /// Of one word; round trips and copies are so short that each figure has many.
  int round_trips() const {
    return options.repeats() > 0 ? std::min(10 * options.repeats(), kRoundTrips) : kRoundTrips;
  }
  int passes() const { return options.repeats() > 0 ? options.repeats() : kPasses; }
};

/// One GPU's work in one place, together with others or alone.
struct Run {
  const Device& device;
  const Place& place;
  std::string_view gpus;  // "one", "all"
};

Labels labels_of(const Run& run) {
  return {{"numa", run.place.label}, {"gpus", std::string{run.gpus}}};
}

std::string doing(const Run& run, std::string_view what) {
  return std::string{what} + ", NUMA " + run.place.label + ", " +
         (run.gpus == "all" ? "all GPUs at once" : "alone");
}

void tell_wrong(Bench& bench, const Run& run, const Lane& lane, const Lane::Wrong& wrong) {
  const auto tell = [&](const Mismatches& found, std::string_view way) {
    if (found.count == 0) return;
    bench.report.fault({.what = "wrong-transfer",
                        .part = run.device.part(),
                        .round = bench.round,
                        .address = found.index[0] * 8,
                        .detail = doing(run, way) + ": " + words_of(found, lane.words())});
  };
  tell(wrong.to_gpu, "copy to the GPU");
  tell(wrong.to_host, "copy from the GPU");
}

/// Passes until enough are timed; the first ones, until the link has woken up, are not.
Outcome<> measure(Bench& bench, const Run& run, Lane& lane, Way way, CancellableBarrier& barrier,
                  WatchdogScope& scope) {
  constexpr int kWarm = 3;
  Samples samples;
  std::uint64_t wrong = 0;
  const auto name = std::string{figure_of(way)};
  for (int pass = 0; pass < kWarm + bench.passes(); ++pass) {
    scope.doing(doing(run, name), bench.round);
    TRY(lane.prepare(way));
    scope.idle();
    if (!barrier.arrive_and_wait([&bench] { return bench.goes_on(); })) return done();
    scope.doing(doing(run, name), bench.round);
    TRY(const double rate, lane.copy(way));
    TRY(const auto found, lane.check(way));
    tell_wrong(bench, run, lane, found);
    wrong += found.count();
    if (pass >= kWarm) samples.add(rate);
  }
  bench.figures.add(name, run.device.part(), samples, "GB/s", labels_of(run));
  bench.figures.count("pcie.errors", run.device.part(), static_cast<double>(wrong), "errors");
  return done();
}

Outcome<> measure_latency(Bench& bench, const Run& run, Lane& lane, WatchdogScope& scope) {
  const auto part = run.device.part();
  const Labels labels{{"numa", run.place.label}};
  scope.doing(doing(run, "round trips of one word"), bench.round);
  TRY(const auto trips, lane.round_trips(static_cast<std::uint64_t>(bench.round_trips())));
  bench.figures.add("pcie.latency", part, trips, "us", labels);
  for (const auto way : {Way::kToGpu, Way::kToHost}) {
    scope.doing(doing(run, "copies of eight bytes"), bench.round);
    TRY(const auto copies, lane.small_copies(way, bench.round_trips() / 2));
    auto more = labels;
    more["way"] = way == Way::kToGpu ? "h2d" : "d2h";
    bench.figures.add("pcie.copy.latency", part, copies, "us", more);
  }
  return done();
}

std::uint64_t seed_of(const Bench& bench, const Device& device) {
  return transfer_seed(bench.options.seed(), bench.round,
                       static_cast<std::uint64_t>(device.gpu.index));
}

Outcome<Lane> open_lane(const Bench& bench, const Run& run, std::size_t bytes) {
  if (!run.place.cores.empty()) {
    TRY(pin_this_thread(run.place.cores));
  }
  TRY(cuda(cudaSetDevice(run.device.ordinal), "choosing the GPU"));
  return Lane::open(run.place.node, bytes, seed_of(bench, run.device));
}

Outcome<> work(Bench& bench, const Run& run, CancellableBarrier& barrier) {
  const agent::CancelOnExit cancels{barrier};
  WatchdogScope scope{bench.watchdog, run.device.part()};
  scope.doing(doing(run, "pinning memory of the host"), bench.round);
  TRY(auto lane, open_lane(bench, run, bench.bytes()));
  for (const auto way : kWays) {
    TRY(measure(bench, run, lane, way, barrier, scope));
  }
  if (run.gpus == "one" && !barrier.is_cancelled()) return measure_latency(bench, run, lane, scope);
  return done();
}

bool work_together(Bench& bench, const std::vector<Run>& runs) {
  CancellableBarrier barrier{runs.size()};
  std::vector<Worker> workers;
  for (const auto& run : runs)
    workers.push_back(
        {run.device.part(), [&bench, &run, &barrier] { return work(bench, run, barrier); }});
  return run_workers(std::move(workers), bench.report, bench.stop);
}

std::vector<int> cores_of(std::span<const NumaNode> nodes, std::optional<int> id) {
  for (const auto& node : nodes)
    if (id == node.id) return node.cores;
  return {};
}

/// Near, and far where there is one.
std::vector<Place> places(Report& report, const Device& device, std::span<const NumaNode> nodes) {
  const auto found = places_of(nodes, Numa{}.node_of_device(device.gpu.pci));
  if (nodes.empty()) return {{.label = "near"}};  // a kernel without NUMA: all is near
  if (!found.near) {
    report.failure(
        {.code = "refused",
         .message = "the firmware does not say on which NUMA node " + device.gpu.pci +
                    " is: near and far cannot be distinguished (numa_node is -1); update "
                    "the BIOS, or give the virtual machine its NUMA nodes",
         .part = device.part()});
    return {{.label = "unknown"}};
  }
  std::vector<Place> all{{"near", found.near, cores_of(nodes, found.near)}};
  if (found.far) all.push_back({"far", found.far, cores_of(nodes, found.far)});
  return all;
}

using PlacesOfAll = std::vector<std::pair<const Device*, std::vector<Place>>>;

bool one_round(Bench& bench, const PlacesOfAll& all) {
  for (const auto& [device, own] : all)
    for (const auto& place : own) {
      if (!bench.goes_on()) return true;
      if (!work_together(bench, {{*device, place, "one"}})) return false;
    }
  for (const std::string_view label : {"near", "far", "unknown"}) {
    std::vector<Run> runs;
    for (const auto& [device, own] : all)
      for (const auto& place : own)
        if (place.label == label) runs.push_back({*device, place, "all"});
    if (runs.empty()) continue;
    if (!bench.goes_on()) return true;
    if (!work_together(bench, runs)) return false;
  }
  return true;
}

/// Bits turned over in what has arrived, each way: each alone, each to be found at its place.
Outcome<> self_test(Bench& bench, const Run& run, std::mt19937_64& random) {
  const auto bytes = std::min<std::size_t>(bench.bytes(), 16 << 20);
  WatchdogScope scope{bench.watchdog, run.device.part()};
  scope.doing("self-test");
  TRY(auto lane, open_lane(bench, run, bytes));
  const int times = bench.options.self_tests();
  TRY(lane.prepare(Way::kBoth));
  TRY(lane.copy(Way::kBoth));
  TRY(const auto clean, lane.check(Way::kBoth));
  tell_wrong(bench, run, lane, clean);
  std::uint64_t on_gpu = 0;
  std::uint64_t on_host = 0;
  int time = 0;
  for (; time < times && !bench.stop.over(); ++time) {
    const auto word = random() % lane.words();
    const int bit = static_cast<int>(random() % 64);
    TRY(lane.plant_on_gpu(word, bit));
    TRY(const auto to_gpu, lane.check(Way::kToGpu));
    TRY(lane.plant_on_gpu(word, bit));  // and back
    lane.plant_on_host(word, bit);
    TRY(const auto to_host, lane.check(Way::kToHost));
    lane.plant_on_host(word, bit);
    on_gpu += to_gpu.to_gpu.count == 1 && to_gpu.to_gpu.index[0] == word;
    on_host += to_host.to_host.count == 1 && to_host.to_host.index[0] == word;
    scope.doing("self-test", static_cast<std::uint64_t>(time + 1));
  }
  TRY(tell_self_test(bench.report, bench.stop, "bit-on-gpu", on_gpu, time, times,
                     run.device.part() + ", copy to the GPU"));
  return tell_self_test(bench.report, bench.stop, "bit-on-host", on_host, time, times,
                        run.device.part() + ", copy from the GPU");
}

Outcome<> test_all(Bench& bench, const PlacesOfAll& all) {
  std::mt19937_64 random{bench.options.seed()};
  for (const auto& [device, own] : all) {
    const Run run{*device, own.front(), "one"};
    std::vector<Worker> workers;  // a thread of its own: it is pinned
    workers.push_back(
        {device->part(), [&bench, &run, &random] { return self_test(bench, run, random); }});
    if (!run_workers(std::move(workers), bench.report, bench.stop)) break;
  }
  return done();
}

Outcome<> run(const Options& options, Report& report, Stop& stop, Watchdog& watchdog) {
  // Loaded late, a kernel would have to wait for the one that watches the host.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  WatchdogScope scope{watchdog, ""};
  scope.doing("listing the GPUs");
  TRY(const auto node, list_devices(options));
  report.start(start_of(options, node));
  const auto nodes = Numa{}.nodes();
  PlacesOfAll all;
  for (const auto& device : node.devices) all.emplace_back(&device, places(report, device, nodes));
  scope.idle();
  Bench bench{options, report, stop, watchdog, Figures{report}};
  if (options.self_tests() > 0) return test_all(bench, all);
  do {
    if (!one_round(bench, all)) return done();
    ++bench.round;
  } while (bench.goes_on() &&
           (options.rounds() == 0 || bench.round < static_cast<std::uint64_t>(options.rounds())));
  return done();
}

}  // namespace

Command pcie_command() {
  return {.name = "pcie",
          .help = "bandwidth and latency between the host's memory and the GPUs, data checked",
          .choices = kChoices,
          .run = run};
}

}  // namespace cupel::burn
