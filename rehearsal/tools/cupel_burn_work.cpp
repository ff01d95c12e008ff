#include "rehearsal/tools/cupel_burn_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "rehearsal/physics/random.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/infiniband.h"

namespace cupel::rehearsal {
namespace {

using Samples = std::vector<BurnSample>;

/// TFLOP/s that a healthy one keeps up in each type of number; 0: it does not have it. Sources:
/// gpu-fryer at 8192 (bf16, tf32, fp8: H100 730, 373, 1530; A100 270, 130), datasheets for fp64. Of
/// L40S, A40 and A10 seven tenths of the datasheet's peak, as those reach; of a B300 what its
/// profile's floors allow for.
struct Rates {
  std::string_view model;
  double bf16, tf32, fp8, fp64;
};
constexpr std::array kRates{
    Rates{"A100", 270, 130, 0, 18},
    Rates{"GB200", 1550, 790, 3300, 36},
    Rates{"B200", 1500, 760, 3100, 34},
    Rates{"B300", 1520, 760, 2900, 1.2},
    Rates{"L40S", 262, 131, 520, 1.3},
    Rates{"A40", 108, 54, 0, 0.5},
    Rates{"A10", 90, 45, 0, 0.4},
    Rates{"H", 730, 373, 1430, 60},  // H100, H200; and whatever is unknown
};

double nominal(std::string_view model, std::string_view type) {
  const auto* found =
      std::ranges::find_if(kRates, [&](const Rates& rates) { return model.contains(rates.model); });
  const auto& rates = found == kRates.end() ? kRates.back() : *found;
  if (type == "tf32") return rates.tf32;
  if (type == "fp8") return rates.fp8;
  return type == "fp64" ? rates.fp64 : rates.bf16;
}

std::string part_of(std::size_t place) { return fmt::format("gpu{}", place); }

double speed(const Machine& machine, const GpuView& gpu, Work work) {
  return machine.physics().speed(gpu.part.index, work);
}

/// What differs from one measurement to the next.
double jitter(const Machine& machine, const BurnRun& run, std::string_view what, std::size_t from,
              std::size_t to, double deviation) {
  return Draw{3}
      .of(machine.hardware().serial)
      .of(what)
      .of(static_cast<std::uint64_t>(from * 64 + to))
      .of(run.slice)
      .spread(deviation);
}

const std::string& word(const BurnRun& run, const std::string& name) {
  return run.request.words.at(name);
}

void measure_gemm(const Machine& machine, const BurnRun& run, Samples& samples) {
  for (std::size_t i = 0; i < run.gpus.size(); ++i) {
    const auto& gpu = run.gpus[i];
    for (const auto type : split(word(run, "--types"), ',')) {
      const double rate = nominal(gpu.model.model, type);
      if (rate > 0)
        samples.push_back(
            {"gemm.rate",
             part_of(i),
             "TFLOP/s",
             {{"type", std::string{type}}},
             rate * speed(machine, gpu, Work::gemm) * jitter(machine, run, type, i, i, 0.002)});
    }
    samples.push_back(
        {"gemm.rounds", part_of(i), "count", {}, static_cast<double>(run.slice + 1) * 40});
  }
}

void measure_hbm(const Machine& machine, const BurnRun& run, Samples& samples) {
  constexpr std::array<std::pair<std::string_view, double>, 3> kWays{
      {{"read", 1.0}, {"write", 0.975}, {"copy", 0.95}}};
  constexpr double kKept = 1024;  // MiB, for itself
  for (std::size_t i = 0; i < run.gpus.size(); ++i) {
    const auto& gpu = run.gpus[i];
    for (const auto& [way, share] : kWays)
      samples.push_back({fmt::format("hbm.{}", way),
                         part_of(i),
                         "GB/s",
                         {},
                         gpu.model.memory_rate * share * speed(machine, gpu, Work::hbm) *
                             jitter(machine, run, way, i, i, 0.002)});
    const double free = static_cast<double>(gpu.mib()) - gpu.used_mib - kKept;
    samples.push_back({"hbm.tested", part_of(i), "GiB", {}, std::max(0.0, free / 1024)});
  }
}

/// Copies that a GPU damages in one slice: where it is planted to do so in that work, and no other.
double damaged(const Machine& machine, const GpuView& gpu, Work work) {
  constexpr double kOfASlice = 3;
  const bool is_planted = std::ranges::any_of(machine.faults(), [&](const Fault& fault) {
    return fault.kind == FaultKind::gpu_wrong_results && fault.part == gpu.part.name &&
           fault.timing.under == to_string(work);
  });
  return is_planted ? kOfASlice : 0;
}

void measure_pcie(const Machine& machine, const BurnRun& run, Samples& samples) {
  // Both ways at once count together; the far socket's memory and seven neighbours cost a little.
  constexpr std::array<std::pair<std::string_view, double>, 3> kWays{
      {{"h2d", 1.0}, {"d2h", 0.994}, {"both", 1.44}}};
  constexpr std::array<std::array<std::string_view, 2>, 3> kPlaces{
      {{"near", "one"}, {"far", "one"}, {"near", "all"}}};
  constexpr std::array kShares{1.0, 0.96, 0.985};
  for (std::size_t i = 0; i < run.gpus.size(); ++i) {
    const auto& gpu = run.gpus[i];
    const double rate = gpu.model.pcie_rate * speed(machine, gpu, Work::pcie);
    for (std::size_t at = 0; at < kPlaces.size(); ++at)
      for (const auto& [way, share] : kWays)
        samples.push_back(
            {fmt::format("pcie.{}", way),
             part_of(i),
             "GB/s",
             {{"numa", std::string{kPlaces[at][0]}}, {"gpus", std::string{kPlaces[at][1]}}},
             rate * share * kShares[at] * jitter(machine, run, way, i, at, 0.0015)});
    samples.push_back(
        {"pcie.latency", part_of(i), "us", {}, 1.35 * jitter(machine, run, "latency", i, i, 0.02)});
    samples.push_back({"pcie.errors", part_of(i), "errors", {}, damaged(machine, gpu, Work::pcie)});
  }
}

struct PairWay {
  std::string_view name, engine, pairs;
  double share;
};
constexpr std::array kPairWays{
    PairWay{"p2p.bandwidth", "ce", "one", 1}, PairWay{"p2p.bandwidth", "sm", "one", 0.97},
    PairWay{"p2p.both", "ce", "one", 1.97},
    PairWay{"p2p.bandwidth", "ce", "all", 0.96},  // what a GPU sends is shared by its neighbours
};

void measure_p2p(const Machine& machine, const BurnRun& run, Samples& samples) {
  const double others = std::max<double>(1, static_cast<double>(run.gpus.size()) - 1);
  for (std::size_t i = 0; i < run.gpus.size(); ++i)
    for (std::size_t k = 0; k < run.gpus.size(); ++k) {
      if (i == k) continue;
      const auto part = part_of(i) + "-" + part_of(k);
      const double share =
          std::min(speed(machine, run.gpus[i], Work::p2p), speed(machine, run.gpus[k], Work::p2p));
      samples.push_back({"p2p.refused", part, "count", {}, share > 0 ? 0.0 : 1.0});
      if (share <= 0) continue;
      const double errors =
          damaged(machine, run.gpus[i], Work::p2p) + damaged(machine, run.gpus[k], Work::p2p);
      samples.push_back({"p2p.errors", part, "errors", {}, errors});
      for (const auto& way : kPairWays)
        samples.push_back(
            {std::string{way.name},
             part,
             "GB/s",
             {{"engine", std::string{way.engine}}, {"pairs", std::string{way.pairs}}},
             run.gpus[i].model.p2p_rate * share * way.share / (way.pairs == "all" ? others : 1) *
                 jitter(machine, run, way.engine, i, k, 0.0015)});
    }
}

struct Operation {
  std::string_view name;
  double (*factor)(double ranks);  // bus bandwidth of algorithm bandwidth (PERFORMANCE.md)
  double GpuModel::* rate;
};
constexpr auto kOperations = std::to_array<Operation>({
    {"all_reduce", [](double n) { return 2 * (n - 1) / n; }, &GpuModel::ring_rate},
    {"all_gather", [](double n) { return (n - 1) / n; }, &GpuModel::gather_rate},
    {"reduce_scatter", [](double n) { return (n - 1) / n; }, &GpuModel::gather_rate},
    {"all_to_all", [](double n) { return (n - 1) / n; }, &GpuModel::p2p_rate},
    {"broadcast", [](double) { return 1.0; }, &GpuModel::gather_rate},
    {"send_recv", [](double) { return 1.0; }, &GpuModel::p2p_rate},
});

struct Sweep {
  std::string_view path, nvls;
  double rate;
};

std::vector<Sweep> sweeps_of(const BurnRun& run, const Operation& operation) {
  const auto& model = run.gpus.front().model;
  const auto& nvls = word(run, "--nvls");
  const auto& path = word(run, "--path");
  // Reductions in the switches pay off from five GPUs on (stas00/ml-engineering, network).
  const bool can = operation.name == "all_reduce" && run.gpus.size() > 4 && model.switch_rate > 0;
  std::vector<Sweep> sweeps;
  if (path != "hca") {
    if (nvls != "off" && can) sweeps.push_back({"nvlink", "on", model.switch_rate});
    if (nvls != "on" || !can) sweeps.push_back({"nvlink", "off", model.*operation.rate});
  }
  if (path != "nvlink") sweeps.push_back({"hca", "off", 0});
  return sweeps;
}

void measure_collective(const Machine& machine, const BurnRun& run, Samples& samples) {
  constexpr double kStart = 24, kRamp = 4e6;  // us; half of the rate is reached at that size
  double slowest = 1;
  for (const auto& gpu : run.gpus)
    slowest = std::min(slowest, speed(machine, gpu, Work::collective));
  const double ranks = static_cast<double>(run.gpus.size());
  const double least = number<double>(word(run, "--min")).value_or(8);
  const double most = number<double>(word(run, "--max")).value_or(17179869184.0);
  for (const auto& operation : kOperations) {
    const auto asked = split(word(run, "--ops"), ',');
    if (std::ranges::find(asked, operation.name) == asked.end() || ranks < 2) continue;
    for (const auto& sweep : sweeps_of(run, operation))
      for (double size = least; size <= most;
           size = size < most ? std::min(size * 2, most) : 1e18) {
        const double full = sweep.path == "hca" ? run.rails : sweep.rate * slowest;
        if (full <= 0) continue;
        const double rate =
            full * size / (size + kRamp) *
            jitter(machine, run, operation.name, 0, static_cast<std::size_t>(size) % 61, 0.004);
        const double factor = operation.factor(ranks);
        const double micros = kStart + size * factor / (rate * 1e3);
        const json::object labels{{"op", std::string{operation.name}},
                                  {"bytes", fmt::format("{:.0f}", size)},
                                  {"nvls", std::string{sweep.nvls}},
                                  {"path", std::string{sweep.path}}};
        samples.push_back({"collective.busbw", "", "GB/s", labels, size * factor / micros / 1e3});
        samples.push_back({"collective.latency", "", "us", labels, micros});
      }
  }
}

void measure_train(const Machine& machine, const BurnRun& run, Samples& samples) {
  // All wait for the slowest at every all-reduce.
  double slowest = 1e9;
  for (const auto& gpu : run.gpus) slowest = std::min(slowest, speed(machine, gpu, Work::train));
  if (run.gpus.empty()) return;
  const double share = slowest * jitter(machine, run, "step", 0, 0, 0.004);
  const double rate = nominal(run.gpus.front().model.model, "bf16") / 730;
  const double gpus = static_cast<double>(run.gpus.size());
  samples.push_back({"train.tokens", "", "tokens/s", {}, 11800 * rate * gpus * share});
  samples.push_back({"train.mfu", "", "%", {}, 43.5 * share});
  samples.push_back({"train.jitter", "", "%", {}, 1.1 * jitter(machine, run, "jitter", 0, 0, 0.1)});
}

constexpr std::array kCommands{
    BurnCommand{"gemm", Work::gemm, "result-bit", measure_gemm, "gemm.errors", "errors", false,
                0.2},
    BurnCommand{"hbm", Work::hbm, "memory-bit", measure_hbm, "hbm.errors", "errors", false, 0.2},
    BurnCommand{"pcie", Work::pcie, "copy-bit", measure_pcie, "", "", false, 0},
    BurnCommand{"p2p", Work::p2p, "copy-bit", measure_p2p, "", "", false, 0},
    // Sums are made on a few SMs: a bad one is not always among them.
    BurnCommand{"collective", Work::collective, "result-bit", measure_collective,
                "collective.errors", "errors", true, 0.02},
    BurnCommand{"train", Work::train, "loss-bit", measure_train, "train.loss.differs", "count",
                true, 0.15},
};

}  // namespace

std::span<const BurnCommand> burn_commands() { return kCommands; }

std::map<std::string, std::string> burn_words(std::string_view command) {
  if (command == "gemm") return {{"--types", "bf16"}, {"--pattern", "steady"}, {"--hertz", "1"}};
  if (command == "hbm") return {{"--patterns", "address,walking,inversions,random,hot-rows"}};
  if (command == "collective")
    return {{"--ops", "all_reduce,all_gather,reduce_scatter,all_to_all,broadcast,send_recv"},
            {"--min", "8"},
            {"--max", "17179869184"},
            {"--nvls", "both"},
            {"--path", "nvlink"}};
  return {};
}

double rail_rate(const Host& host) {
  double least = 1e9;
  for (const auto& adapter : host.machine().hardware().adapters)
    if (adapter.infiniband) least = std::min(least, read_port(host, adapter.name).gbit / 8);
  return least < 1e9 ? least * 0.92 : 0;
}

std::string burn_refusal(const Host& host, const BurnRequest& request) {
  const auto path = request.words.find("--path");
  if (path == request.words.end() || path->second == "nvlink") return {};
  for (const auto& adapter : host.machine().hardware().adapters)
    if (adapter.infiniband && read_port(host, adapter.name).state != PortState::active)
      return fmt::format("NET/IB: no active port on {}", adapter.name);
  return rail_rate(host) > 0 ? "" : "NET/IB: no device found";
}

}  // namespace cupel::rehearsal
