#include "burnin/gpu/burn_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/text.h"
#include "burnin/companions.h"
#include "burnin/gpu/burn_findings.h"
#include "burnin/gpu/burn_output.h"
#include "burnin/parameters.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;
using Kind = ParameterRow::Kind;

constexpr std::array<std::string_view, 2> kPrograms{"cupel-node", "cupel-burn"};
constexpr std::array<std::string_view, 5> kTypes{"bf16", "fp16", "tf32", "fp8", "fp64"};
constexpr std::array<std::string_view, 3> kLoads{"steady", "square", "ramp"};
constexpr std::array<std::string_view, 5> kMemoryPatterns{"address", "walking", "inversions",
                                                          "random", "hot-rows"};
constexpr std::array<std::string_view, 6> kOperations{"all_reduce", "all_gather", "reduce_scatter",
                                                      "all_to_all", "broadcast",  "send_recv"};
constexpr std::array<std::string_view, 3> kSwitched{"on", "off", "both"};
constexpr std::array<std::string_view, 3> kPaths{"nvlink", "hca", "both"};

constexpr std::array kGemmParameters{
    ParameterRow{"duration", Kind::duration, "how long it burns", "5m", {}, 1, kWeek},
    ParameterRow{"types", Kind::text, "of numbers, in turn: bf16, fp16, tf32, fp8, fp64", "bf16"},
    ParameterRow{"pattern", Kind::word, "of the power: steady, or in waves, all GPUs in phase",
                 "steady", kLoads},
    ParameterRow{"hertz", Kind::text, "of the waves, 0.1 to 10", "1"},
    kBesideParameter,
};
constexpr std::array kHbmParameters{
    ParameterRow{"duration", Kind::duration, "how long it writes and compares", "2m", {}, 1, kWeek},
    ParameterRow{"patterns", Kind::text, "address, walking, inversions, random, hot-rows",
                 "address,walking,inversions,random,hot-rows"},
    kBesideParameter,
};
constexpr std::array kPcieParameters{
    ParameterRow{"duration", Kind::duration, "how long it copies", "1m", {}, 1, kWeek},
};
constexpr std::array kP2pParameters{
    ParameterRow{"duration", Kind::duration, "how long it copies", "1m", {}, 1, kWeek},
};
constexpr std::array kCollectiveParameters{
    ParameterRow{
        "duration", Kind::duration, "how long it goes through all sizes", "2m", {}, 1, kWeek},
    ParameterRow{"ops", Kind::text, "which collectives",
                 "all_reduce,all_gather,reduce_scatter,all_to_all,broadcast,send_recv"},
    ParameterRow{"min", Kind::size, "of the messages", "8", {}, 8, 16 * kGiB},
    ParameterRow{"max",
                 Kind::size,
                 "of the messages; below 1GiB no bandwidth is reported",
                 "16GiB",
                 {},
                 8,
                 16 * kGiB},
    ParameterRow{"nvls", Kind::word, "sums in the switches", "both", kSwitched},
    ParameterRow{"path", Kind::word, "what carries it", "nvlink", kPaths},
};
constexpr std::array kTrainParameters{
    ParameterRow{"duration", Kind::duration, "how long it trains", "5m", {}, 1, kWeek},
    kBesideParameter,
};

constexpr std::array kGemmRules{
    BurnRule{"gemm.rate", "type=bf16", "gemm.bf16.rate", "TFLOP/s"},
    BurnRule{"gemm.rate", "type=fp16", "gemm.fp16.rate", "TFLOP/s"},
    BurnRule{"gemm.rate", "type=tf32", "gemm.tf32.rate", "TFLOP/s"},
    BurnRule{"gemm.rate", "type=fp8", "gemm.fp8.rate", "TFLOP/s"},
    BurnRule{"gemm.rate", "type=fp64", "gemm.fp64.rate", "TFLOP/s"},
    BurnRule{"gemm.errors", "", "gemm.errors", "errors", Fold::sum},
    BurnRule{"gemm.spread", "", "gemm.spread", "%", Fold::most},
    BurnRule{"gemm.rounds", "", "gemm.rounds", "count", Fold::sum},
};
constexpr std::array kHbmRules{
    BurnRule{"hbm.errors", "", "hbm.errors", "errors", Fold::sum},
    BurnRule{"hbm.tested", "", "hbm.tested", "GiB"},
    BurnRule{"hbm.read", "", "hbm.read", "GB/s"},
    BurnRule{"hbm.write", "", "hbm.write", "GB/s"},
    BurnRule{"hbm.copy", "", "hbm.copy", "GB/s"},
};
constexpr std::array kPcieRules{
    BurnRule{"pcie.h2d", "numa=near,gpus=one", "pcie.h2d", "GB/s"},
    BurnRule{"pcie.d2h", "numa=near,gpus=one", "pcie.d2h", "GB/s"},
    BurnRule{"pcie.both", "numa=near,gpus=one", "pcie.both", "GB/s"},
    BurnRule{"pcie.h2d", "numa=far,gpus=one", "pcie.far.h2d", "GB/s"},
    BurnRule{"pcie.d2h", "numa=far,gpus=one", "pcie.far.d2h", "GB/s"},
    BurnRule{"pcie.both", "numa=far,gpus=one", "pcie.far.both", "GB/s"},
    BurnRule{"pcie.h2d", "numa=near,gpus=all", "pcie.all.h2d", "GB/s"},
    BurnRule{"pcie.d2h", "numa=near,gpus=all", "pcie.all.d2h", "GB/s"},
    BurnRule{"pcie.both", "numa=near,gpus=all", "pcie.all.both", "GB/s"},
    BurnRule{"pcie.latency", "", "pcie.latency", "us", Fold::most},
    BurnRule{"pcie.errors", "", "pcie.errors", "errors", Fold::sum},
};
constexpr std::array kCollectiveRules{
    BurnRule{"collective.errors", "", "collective.errors", "errors", Fold::sum},
};
constexpr std::array kTrainRules{
    BurnRule{"train.tokens", "", "train.tokens", "tokens/s"},
    BurnRule{"train.mfu", "", "train.mfu", "%"},
    BurnRule{"train.jitter", "", "train.jitter", "%", Fold::most},
    BurnRule{"train.loss.differs", "", "train.loss.differs", "count", Fold::sum},
};

constexpr std::array<std::string_view, 5> kGemmRates{
    "gemm.bf16.rate", "gemm.fp16.rate", "gemm.tf32.rate", "gemm.fp8.rate", "gemm.fp64.rate"};
constexpr std::array<std::string_view, 3> kHbmRates{"hbm.read", "hbm.write", "hbm.copy"};
constexpr std::array<std::string_view, 2> kPcieRates{"pcie.h2d", "pcie.d2h"};

constexpr BurnStage kGemm{"gemm",     kGemmRules, "gemm.errors", "errors", false, "gemm.below_best",
                          kGemmRates, nullptr,    true};
constexpr BurnStage kHbm{"hbm",     kHbmRules, "hbm.errors", "errors", false, "hbm.below_best",
                         kHbmRates, nullptr,   true};
constexpr BurnStage kPcie{"pcie", kPcieRules,        "pcie.errors", "errors",
                          false,  "pcie.below_best", kPcieRates};
constexpr BurnStage kP2p{"p2p", {}, "p2p.errors", "errors", false, {}, {}, add_pairs};
constexpr BurnStage kCollective{
    "collective", kCollectiveRules, "collective.errors", "errors", true, {}, {}, add_collectives};
constexpr BurnStage kTrain{"train", kTrainRules, "train.loss.differs", "count", true};

constexpr std::array<std::string_view, 10> kP2pMeasures{
    "p2p.bandwidth", "p2p.sm.bandwidth", "p2p.all.bandwidth",   "p2p.all.sm.bandwidth",
    "p2p.both",      "p2p.pairs",        "p2p.pair.below_best", "p2p.pair.bandwidth",
    "p2p.refused",   "p2p.errors"};

/// Names of measurements that are made of several words, kept for as long as the program runs.
std::vector<std::string>& made_names() {
  static std::vector<std::string> names = [] {
    std::vector<std::string> all{"collective.all_reduce.latency", "collective.errors"};
    for (const auto operation : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                 "broadcast", "send_recv", "reduce"})
      for (const auto* way : {"", "ring.", "hca."})
        all.push_back(fmt::format("collective.{}.{}busbw", operation, way));
    return all;
  }();
  return names;
}

template <const BurnStage& kStage>
std::span<const std::string_view> measures() {
  static const std::vector<std::string_view> kAll = [] {
    std::vector<std::string_view> all;
    const auto add = [&](std::string_view name) {
      const bool known = std::ranges::find(all, name) != all.end();
      if (!name.empty() && !known) all.push_back(name);
    };
    for (const auto& rule : kStage.rules) add(rule.measure);
    add(kStage.wrong);
    add(kStage.lag);
    if (kStage.more == add_pairs) std::ranges::for_each(kP2pMeasures, add);
    if (kStage.more == add_collectives)
      for (const auto& name : made_names()) add(name);
    std::ranges::for_each(burn_measures(), add);
    return all;
  }();
  return kAll;
}

template <const BurnStage& kStage>
Result<Findings> parse(const Profile& profile, const Output& output) {
  return burn_findings(kStage, profile, output);
}

/// "bf16, fp8": each of them known, each once. Errors: kInvalid.
Result<std::string> list_parameter(ParameterRows rows, const Parameters& parameters,
                                   std::string_view name, std::span<const std::string_view> known) {
  std::vector<std::string_view> chosen;
  for (const auto piece : split(text_parameter(rows, parameters, name), ',')) {
    const auto word = trimmed(piece);
    const bool fits = std::ranges::find(known, word) != known.end() &&
                      std::ranges::find(chosen, word) == chosen.end();
    if (!fits)
      return Error{
          Code::kInvalid,
          fmt::format("{} must be a comma-separated list of {}, without duplicates, not '{}'", name,
                      fmt::join(known, ", "), shortened(printable(word), 80))};
    chosen.push_back(word);
  }
  return fmt::format("{}", fmt::join(chosen, ","));
}

/// With what works on the host at the same time, where the stage takes that.
Result<Job> job(BurnWork work, ParameterRows rows, const Parameters& parameters) {
  TRY(work.duration, duration_parameter(rows, parameters, "duration"));
  return with_companions(*stage(work.command), parameters, work.duration, agent_work(work));
}

Result<Job> prepare_gemm(const Profile&, const Parameters& parameters) {
  TRY(const auto types, list_parameter(kGemmParameters, parameters, "types", kTypes));
  TRY(const auto pattern, word_parameter(kGemmParameters, parameters, "pattern"));
  const auto written = text_parameter(kGemmParameters, parameters, "hertz");
  const auto hertz = number<double>(written);
  if (!hertz || !(*hertz >= 0.1 && *hertz <= 10))
    return Error{Code::kInvalid, fmt::format("hertz must be 0.1 to 10, not '{}'",
                                             shortened(printable(written), 80))};
  BurnWork work{.command = "gemm",
                .arguments = {"--types", types, "--pattern", std::string{pattern}},
                .of_self_test = {"--types", types}};
  if (pattern == "square")
    work.arguments.insert(work.arguments.end(), {"--hertz", fmt::format("{}", *hertz)});
  return job(std::move(work), kGemmParameters, parameters);
}

Result<Job> prepare_hbm(const Profile&, const Parameters& parameters) {
  TRY(const auto patterns, list_parameter(kHbmParameters, parameters, "patterns", kMemoryPatterns));
  return job({.command = "hbm", .arguments = {"--patterns", patterns}}, kHbmParameters, parameters);
}

Result<Job> prepare_pcie(const Profile&, const Parameters& parameters) {
  return job({.command = "pcie"}, kPcieParameters, parameters);
}

Result<Job> prepare_p2p(const Profile&, const Parameters& parameters) {
  return job({.command = "p2p"}, kP2pParameters, parameters);
}

Result<Job> prepare_collective(const Profile&, const Parameters& parameters) {
  constexpr auto& kRows = kCollectiveParameters;
  TRY(const auto operations, list_parameter(kRows, parameters, "ops", kOperations));
  TRY(const auto least, size_parameter(kRows, parameters, "min"));
  TRY(const auto most, size_parameter(kRows, parameters, "max", least));
  TRY(const auto switched, word_parameter(kRows, parameters, "nvls"));
  TRY(const auto path, word_parameter(kRows, parameters, "path"));
  return job({.command = "collective",
              .arguments = {"--ops", operations, "--min", fmt::format("{:.0f}", least), "--max",
                            fmt::format("{:.0f}", most), "--nvls", std::string{switched}, "--path",
                            std::string{path}}},
             kRows, parameters);
}

Result<Job> prepare_train(const Profile&, const Parameters& parameters) {
  return job({.command = "train"}, kTrainParameters, parameters);
}

}  // namespace

Stage gemm() {
  Stage row{"gemm",
            "matrix products on all GPUs at the power limit, every result compared (cupel-burn)",
            kGemmParameters,
            prepare_gemm,
            parse<kGemm>,
            measures<kGemm>(),
            {1.0, 0, "all GPUs at their power limit: nothing draws more"},
            kPrograms};
  return row;
}

Stage hbm() {
  Stage row{
      "hbm",
      "write and compare patterns over all free GPU memory, and how fast (cupel-burn)",
      kHbmParameters,
      prepare_hbm,
      parse<kHbm>,
      measures<kHbm>(),
      {0.7, 0, "memory and its controllers at full rate on all GPUs, their SMs are mostly idle"},
      kPrograms};
  return row;
}

Stage pcie() {
  Stage row{"pcie",
            "copies between host and each GPU, near and far memory (cupel-burn)",
            kPcieParameters,
            prepare_pcie,
            parse<kPcie>,
            measures<kPcie>(),
            {0.35, 0, "all GPUs awake at their highest clock, and moving what PCIe carries"},
            kPrograms};
  return row;
}

Stage p2p() {
  Stage row{"p2p",
            "copies between each two GPUs, data compared (cupel-burn)",
            kP2pParameters,
            prepare_p2p,
            parse<kP2p>,
            measures<kP2p>(),
            {0.4, 0, "all NVLinks at work while all pairs copy at once"},
            kPrograms};
  return row;
}

Stage collective() {
  Stage row{"collective",
            "NCCL's collectives over all GPUs of the node, results compared (cupel-burn)",
            kCollectiveParameters,
            prepare_collective,
            parse<kCollective>,
            measures<kCollective>(),
            {0.5, 0, "all NVLinks, switches and some SMs at work"},
            kPrograms};
  return row;
}

Stage train() {
  Stage row{"train",
            "synthetic training steps whose loss must be the same everywhere (cupel-burn)",
            kTrainParameters,
            prepare_train,
            parse<kTrain>,
            measures<kTrain>(),
            {0.95, 0, "matrix products most of the time, collectives in between"},
            kPrograms};
  return row;
}

}  // namespace cupel::burnin
