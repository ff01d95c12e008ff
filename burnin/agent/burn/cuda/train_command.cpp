// `cupel-burn train`: steps of a synthetic transformer on all GPUs, which are all given the same
// tokens: gradients and loss must be the same bits on all of them, and in every repeat. Across
// nodes every node does the same number of steps, and what it reports is of its own GPUs.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/command.h"
#include "burnin/agent/burn/cuda/training.h"
#include "burnin/agent/burn/nccl_ras.h"
#include "burnin/agent/burn/shapes.h"
#include "burnin/agent/burn/workers.h"

namespace cupel::burn {
namespace {

using Kind = Choice::Kind;
constexpr std::array kOwnChoices{
    Choice{.name = "--layers",
           .kind = Kind::kCount,
           .fallback = "8",
           .low = 1,
           .high = 128,
           .help = "of the model; fewer where they do not fit"},
    Choice{.name = "--width",
           .kind = Kind::kCount,
           .fallback = "4096",
           .low = 128,
           .high = 16384,
           .help = "of the model: a multiple of 128"},
    Choice{.name = "--sequence",
           .kind = Kind::kCount,
           .fallback = "2048",
           .low = 128,
           .high = 16384,
           .help = "tokens: a multiple of 128"},
    Choice{.name = "--batch",
           .kind = Kind::kCount,
           .fallback = "4",
           .low = 1,
           .high = 64,
           .help = "sequences of each GPU"},
    Choice{.name = "--sum",
           .kind = Kind::kWord,
           .fallback = "nccl",
           .words = "nccl,copies",
           .help = "how gradients are added up; copies where there is no NCCL"},
};
constexpr auto kChoices = with_across(kOwnChoices);

constexpr std::size_t kNotFree = std::size_t{1} << 30;
constexpr std::size_t kSums = std::size_t{2} << 30;

/// With as many layers as fit; across nodes with all of them, since all must do the same.
Outcome<Transformer> shape_of(const Options& options, const Node& node) {
  const bool is_across = options.number("--ranks") > 0;
  const Transformer requested{.layers = static_cast<std::uint64_t>(options.number("--layers")),
                              .width = static_cast<std::uint64_t>(options.number("--width")),
                              .sequence = static_cast<std::uint64_t>(options.number("--sequence")),
                              .batch = static_cast<std::uint64_t>(options.number("--batch"))};
  std::size_t least = ~std::size_t{0};
  for (const auto& device : node.devices) {
    std::size_t free_bytes = 0;
    std::size_t all = 0;
    TRY(cuda(cudaSetDevice(device.ordinal), "taking the GPU"));
    TRY(cuda(cudaMemGetInfo(&free_bytes, &all), "asking for the free memory"));
    least = std::min(least, free_bytes);
  }
  auto kept = kNotFree;
  if (node.devices.size() > 1 || is_across)  // for the sums: NCCL's buffers, or a layer's pieces
    kept += std::max<std::size_t>(kSums, 2 * requested.layer_parameters());
  const auto shape = fitting(requested, least - std::min(least, kept));
  if (!shape || (is_across && shape->layers < requested.layers))
    return Failure{
        .code = "memory",
        .message =
            std::to_string(least >> 20) + " MiB of GPU memory are free: too few for " +
            (is_across ? "all layers; fewer --layers, a smaller " : "a single layer; a smaller ") +
            "--width or --batch, or see nvidia-smi for who uses it"};
  return *shape;
}

void tell_figures(const Training& training, Report& report) {
  const auto gpus = static_cast<double>(training.ranks);
  const auto& shape = training.shape;
  const auto peak = peak_bf16(training.node.devices.front().gpu.name);
  report.result("train.loss.differs", "", static_cast<double>(training.differs), "count");
  report.result("train.layers", "", static_cast<double>(shape.layers), "count");
  if (training.seconds.count() == 0) return;
  const double seconds = training.seconds.median();
  report.result("train.steps", "", static_cast<double>(training.seconds.count()), "count");
  report.result("train.step", "", seconds, "s");
  report.result("train.tokens", "", gpus * static_cast<double>(shape.tokens()) / seconds,
                "tokens/s");
  report.result("train.jitter", "", training.seconds.spread(), "%");
  if (peak) report.result("train.mfu", "", utilisation(shape.operations(), seconds, *peak), "%");
}

Outcome<> check(const Options& options) {
  for (const auto* name : {"--width", "--sequence"})
    if (static_cast<std::uint64_t>(options.number(name)) % 128 != 0)
      return Failure{.code = "usage",
                     .message = std::string{"train: "} + name + " is no multiple of 128"};
  if (options.number("--ranks") > 0 && (options.repeats() == 0 || options.word("--sum") != "nccl"))
    return Failure{.code = "usage",
                   .message =
                       "train --ranks: every node does the same steps, and NCCL adds them "
                       "up: give --repeats and, for the steps of each, --passes"};
  return done();
}

Outcome<> are_alike(const Node& node) {
  for (const auto& device : node.devices)
    if (device.gpu.name != node.devices.front().gpu.name)
      return Failure{.code = "refused",
                     .message =
                         "GPUs of different models cannot come to the same bits: choose those "
                         "of one model with --gpus",
                     .part = device.part()};
  return done();
}

std::vector<int> ordinals_of(const Node& node) {
  std::vector<int> ordinals;
  for (const auto& device : node.devices) ordinals.push_back(device.ordinal);
  return ordinals;
}

/// This node's NCCL; nullptr where there is none, or it is not requested.
Outcome<std::unique_ptr<NcclApi>> own_nccl(const Options& options, const Node& node,
                                           Watchdog& watchdog) {
  if (node.devices.size() < 2 || options.word("--sum") != "nccl") return std::unique_ptr<NcclApi>{};
  WatchdogScope scope{watchdog, ""};
  scope.doing("starting NCCL");
  auto opened = open_nccl(ordinals_of(node));
  if (!opened && opened.error().code == "no-library") return std::unique_ptr<NcclApi>{};
  return opened;
}

Outcome<Transformer> measured_shape(const Options& options, const Node& node, Watchdog& watchdog) {
  WatchdogScope scope{watchdog, ""};
  scope.doing("asking for the free memory");
  return shape_of(options, node);
}

void run_ranks(Training& training, Watchdog& watchdog) {
  const auto ranks = training.node.devices.size();
  for (std::size_t rank = 0; rank < ranks; ++rank)
    training.places.push_back(std::make_unique<RankPlace>());
  std::vector<Worker> workers;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    workers.push_back({training.node.devices[rank].part(), [&training, &watchdog, rank] {
                         WatchdogScope scope{watchdog, training.node.devices[rank].part()};
                         auto outcome = run_rank(training, rank, scope);
                         if (!outcome) training.give_up();
                         return outcome;
                       }});
  run_workers(std::move(workers), training.report, training.stop);
  if (training.options.self_tests() == 0) tell_figures(training, training.report);
}

Outcome<> run_across(const Options& options, Report& report, Stop& stop, Watchdog& watchdog,
                     const Node& node) {
  TRY(const auto joining, Joining::begin({options, report, stop, watchdog, node}));
  TRY(auto library, CublasLt::open());
  TRY(const auto shape, measured_shape(options, node, watchdog));
  TRY(const auto meeting, joining.meet());
  auto joined = joining.join(meeting);
  if (!joined && stop.by_signal()) return done();
  if (!joined) return std::move(joined).error();
  const auto& all = **joined;
  const auto here = node.devices.size();
  Training training{.options = options,
                    .node = node,
                    .report = report,
                    .stop = stop,
                    .shape = shape,
                    .seed = joining.seed(meeting),
                    .ranks = all.all_ranks(),
                    .across = &all,
                    .library = std::move(library),
                    .between_steps = agent::CancellableBarrier{here},
                    .within_step = agent::CancellableBarrier{here},
                    .cross_check = CrossCheck{here},
                    .nccl = nccl_of(*std::move(joined)),
                    .copies = {{}, 0, training.within_step}};
  watchdog.on_hang([&] {
    training.tell_ranks();
    report.say(ask_own_ras());  // while the communicators are still there
    training.nccl->abort();
  });
  run_ranks(training, watchdog);
  watchdog.on_hang({});
  joining.tell_transport();
  if (training.ended == static_cast<int>(here)) return done();
  training.tell_ranks();
  training.nccl->abort();
  if (stop.by_signal() || stop.given_up()) return done();
  return time_over();
}

Outcome<> run(const Options& options, Report& report, Stop& stop, Watchdog& watchdog) {
  // Loaded late, a kernel would have to wait for the collectives of the GPUs that are ahead.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  TRY(const auto node, list_devices(options, watchdog));
  TRY(are_alike(node));
  if (options.number("--ranks") > 0) return run_across(options, report, stop, watchdog, node);
  TRY(auto nccl, own_nccl(options, node, watchdog));
  report.start(start_of(options, node, nccl ? nccl->version() : ""));
  TRY(auto library, CublasLt::open());
  TRY(const auto shape, measured_shape(options, node, watchdog));
  const auto ranks = node.devices.size();
  Training training{.options = options,
                    .node = node,
                    .report = report,
                    .stop = stop,
                    .shape = shape,
                    .seed = options.seed(),
                    .ranks = static_cast<int>(ranks),
                    .across = nullptr,
                    .library = std::move(library),
                    .between_steps = agent::CancellableBarrier{ranks},
                    .within_step = agent::CancellableBarrier{ranks},
                    .cross_check = CrossCheck{ranks},
                    .nccl = std::move(nccl),
                    .copies = {ordinals_of(node), shape.layer_parameters(), training.within_step}};
  run_ranks(training, watchdog);
  return done();
}

}  // namespace

Command train_command() {
  return {.name = "train",
          .help = "steps of a synthetic transformer; the same bits on all GPUs and in each repeat",
          .choices = kChoices,
          .run = run,
          .check = check};
}

}  // namespace cupel::burn
