// `cupel-burn train`: steps of a synthetic transformer on all GPUs, which are all given the same
// tokens: gradients and loss must be the same bits on all of them, and in every repeat.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/command.h"
#include "burnin/agent/burn/cross_check.h"
#include "burnin/agent/burn/cuda/devices.h"
#include "burnin/agent/burn/cuda/peer_sum.h"
#include "burnin/agent/burn/cuda/train_worker.h"
#include "burnin/agent/burn/links/numa.h"
#include "burnin/agent/burn/nccl_api.h"
#include "burnin/agent/burn/self_test.h"
#include "burnin/agent/burn/shapes.h"
#include "burnin/agent/burn/workers.h"
#include "burnin/agent/common/cancellable_barrier.h"

namespace cupel::burn {
namespace {

using Kind = Choice::Kind;
constexpr std::array kChoices{
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

constexpr int kSteps = 20;  // of a repeat
constexpr std::size_t kNotFree = std::size_t{1} << 30;
constexpr std::size_t kSums = std::size_t{2} << 30;

/// What all GPUs share.
struct Training {
  const Options& options;
  const Node& node;
  Report& report;
  Stop& stop;
  Transformer shape;
  std::shared_ptr<const CublasLt> library;
  agent::CancellableBarrier between_steps;
  agent::CancellableBarrier within_step;
  CrossCheck cross_check;
  std::unique_ptr<NcclApi> nccl;
  PeerSum copies;
  std::atomic<std::uint64_t> differs = 0;
  Samples seconds = {};  // of a step; written by the first rank, between two steps

  /// Waits for all ranks. All of them do one more step, or none.
  bool another_step() {
    return between_steps.arrive_and_wait([this] { return !stop.over(); });
  }
};

Outcome<Transformer> shape_of(const Options& options, const Node& node) {
  const Transformer wanted{.layers = static_cast<std::uint64_t>(options.number("--layers")),
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
  if (node.devices.size() > 1)  // for the sums: NCCL's buffers, or a layer's pieces
    kept += std::max<std::size_t>(kSums, 2 * wanted.layer_parameters());
  const auto shape = fitting(wanted, least - std::min(least, kept));
  if (!shape)
    return Failure{.code = "memory",
                   .message = std::to_string(least >> 20) +
                              " MiB of GPU memory are free: too few for a single layer; a smaller "
                              "--width or --batch, or see nvidia-smi for who uses it"};
  return *shape;
}

class Rank {
 public:
  Rank(Training& training, std::size_t rank, WatchdogScope& scope)
      : all_{training},
        rank_{static_cast<int>(rank)},
        device_{training.node.devices[rank]},
        scope_{scope} {}

  Outcome<> run() {
    scope_.doing("starting");
    stay_near(device_.gpu.pci);
    TRY(cuda(cudaSetDevice(device_.ordinal), "taking the GPU"));
    const auto ranks = static_cast<int>(all_.node.devices.size());
    TRY(auto worker, TrainWorker::make(all_.shape, all_.library, ranks));
    if (!all_.nccl && ranks > 1) {
      TRY(all_.copies.join(rank_));
    }
    const StepPosition position{scope_, [&worker] { return worker.passed(); }};
    if (all_.options.self_tests() > 0) return self_test(worker, all_.options.self_tests());
    const int steps = all_.options.passes() > 0 ? all_.options.passes() : kSteps;
    for (int repeat = 1; another_step(); ++repeat) {
      if (all_.options.repeats() > 0 && repeat > all_.options.repeats()) break;
      scope_.doing("first weights");
      TRY(worker.begin(all_.options.seed()));
      for (int number = 1; number <= steps && another_step(); ++number) {
        TRY(step(worker, repeat, number));
      }
    }
    return done();
  }

 private:
  /// Whoever waits here for the others does not hang.
  bool another_step() {
    scope_.idle();
    return all_.another_step();
  }

  Outcome<> step(TrainWorker& worker, int repeat, int number) {
    scope_.doing("training step", ++steps_done_);
    const auto begun = std::chrono::steady_clock::now();
    TRY(const auto said, worker.step(all_.options.seed(), number, sum_up()));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    if (rank_ == 0 && steps_done_ > 3) all_.seconds.add(took.count());  // three to warm up
    const auto key = "repeat " + std::to_string(repeat) + " step " + std::to_string(number);
    compare(key + " gradients", said.gradients);
    compare(key + " summed gradients", said.summed);
    compare(key + " loss", std::bit_cast<std::uint64_t>(said.loss));
    const auto at = static_cast<std::size_t>(number - 1);
    if (first_.size() <= at) {
      first_.push_back(said);
    } else if (!said.same_as(first_[at])) {
      ++all_.differs;
      wrong(device_.part(),
            key + ": loss " + std::to_string(said.loss) + ", in the first repeat " +
                std::to_string(first_[at].loss) +
                (said.gradients == first_[at].gradients ? "; its own gradients are the same"
                                                        : "; its own gradients differ"));
    }
    if (!std::isfinite(said.loss) && repeat == 1)
      return Failure{.code = "cuda", .message = key + ": the loss is no number"};
    return done();
  }

  void compare(const std::string& key, std::uint64_t said) {
    for (const auto& odd : all_.cross_check.tell(key, steps_done_, device_.part(), said)) {
      ++all_.differs;
      wrong(odd.part, odd.detail);
    }
  }

  void wrong(const std::string& part, const std::string& detail) {
    all_.report.fault(
        {.what = "wrong-result",
         .part = part,
         .round = steps_done_,
         .celsius = part == device_.part() ? celsius(all_.node, device_) : std::nullopt,
         .detail = detail});
  }

  /// The same bits each time whatever way NCCL takes, also where a switch adds in no fixed order:
  /// all GPUs have the same gradients, so that a partial sum depends on how many were added alone.
  TrainWorker::SumUp sum_up() {
    if (all_.nccl)
      return [this](void* gradients, std::size_t count, cudaStream_t stream) {
        return all_.nccl->all_reduce(rank_, gradients, gradients, count, Element::kBf16, stream);
      };
    return [this](void* gradients, std::size_t count, cudaStream_t stream) {
      return all_.copies.sum(rank_, gradients, count, stream);
    };
  }

  /// Gradients are changed, which must change their checksum, and back.
  Outcome<> self_test(TrainWorker& worker, int times) {
    TRY(worker.begin(all_.options.seed()));
    if (!another_step()) return plant(worker, PlantKind::kBit, times, 0);
    scope_.doing("training step");
    TRY(worker.step(all_.options.seed(), 1, sum_up()));
    if (!another_step()) return plant(worker, PlantKind::kBit, times, 0);
    scope_.doing("planting in gradients");
    TRY(const auto sound, worker.gradients_now());
    for (const auto kind : {PlantKind::kBit, PlantKind::kElement, PlantKind::kPattern}) {
      TRY(plant(worker, kind, times_of(kind, times), sound));
    }
    return done();
  }

  Outcome<> plant(TrainWorker& worker, PlantKind kind, int times, std::uint64_t sound) {
    const auto seed = seed_of(all_.options.seed(), static_cast<std::uint64_t>(kind), 0);
    std::uint64_t count = 0;
    int turn = 0;
    for (; turn < times && !all_.stop.over(); ++turn) {
      scope_.doing("planting in gradients", static_cast<std::uint64_t>(turn));
      const auto random = random_at(seed, static_cast<std::uint64_t>(turn));
      TRY(worker.plant(kind, random));
      TRY(const auto changed, worker.gradients_now());
      count += changed != sound;
      TRY(worker.plant(kind, random));  // flips them back
    }
    if (turn > 0) {
      TRY(const auto again, worker.gradients_now());
      if (again != sound) count = 0;  // it differs anyhow: nothing was found by what was planted
    }
    return tell_self_test(all_.report, all_.stop, planted_name("gradient", kind), count, turn,
                          times, device_.part());
  }

  Training& all_;
  const int rank_;
  const Device& device_;
  WatchdogScope& scope_;
  std::uint64_t steps_done_ = 0;
  std::vector<StepSaid> first_;  // what each step of the first repeat came to
};

void tell_figures(const Training& training, Report& report) {
  const auto gpus = static_cast<double>(training.node.devices.size());
  const auto& shape = training.shape;
  const auto peak = peak_bf16(training.node.devices.front().gpu.name);
  report.result("train.loss.differs", "", static_cast<double>(training.differs), "count");
  report.result("train.layers", "", static_cast<double>(shape.layers), "count");
  if (training.seconds.count() == 0) return;
  const double seconds = training.seconds.median();
  report.result("train.steps", "", static_cast<double>(training.seconds.count()), "count");
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
  return done();
}

Outcome<> run(const Options& options, Report& report, Stop& stop, Watchdog& watchdog) {
  // Loaded late, a kernel would have to wait for the collectives of the GPUs that are ahead.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  TRY(const auto node, list_devices(options, watchdog));
  for (const auto& device : node.devices)
    if (device.gpu.name != node.devices.front().gpu.name)
      return Failure{.code = "refused",
                     .message =
                         "GPUs of different models cannot come to the same bits: choose those "
                         "of one model with --gpus",
                     .part = device.part()};
  std::vector<int> ordinals;
  for (const auto& device : node.devices) ordinals.push_back(device.ordinal);
  std::unique_ptr<NcclApi> nccl;
  {
    WatchdogScope scope{watchdog, ""};
    scope.doing("starting NCCL");
    if (ordinals.size() > 1 && options.word("--sum") == "nccl") {
      auto opened = open_nccl(ordinals);
      if (opened) {
        nccl = *std::move(opened);
      } else if (opened.error().code != "no-library") {
        return std::move(opened).error();
      }
    }
  }
  report.start(start_of(options, node, nccl ? nccl->version() : ""));
  TRY(auto library, CublasLt::open());
  const auto shape_or_not = [&] {
    WatchdogScope scope{watchdog, ""};
    scope.doing("asking for the free memory");
    return shape_of(options, node);
  }();
  TRY(const auto shape, shape_or_not);
  const auto ranks = node.devices.size();
  Training training{.options = options,
                    .node = node,
                    .report = report,
                    .stop = stop,
                    .shape = shape,
                    .library = std::move(library),
                    .between_steps = agent::CancellableBarrier{ranks},
                    .within_step = agent::CancellableBarrier{ranks},
                    .cross_check = CrossCheck{ranks},
                    .nccl = std::move(nccl),
                    .copies = {ordinals, shape.layer_parameters(), training.within_step}};
  std::vector<Worker> workers;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    workers.push_back({node.devices[rank].part(), [&training, &watchdog, rank]() -> Outcome<> {
                         WatchdogScope scope{watchdog, training.node.devices[rank].part()};
                         auto outcome = Rank{training, rank, scope}.run();
                         if (outcome) return outcome;
                         training.between_steps.cancel();
                         training.within_step.cancel();
                         if (training.nccl) training.nccl->abort();
                         return outcome;
                       }});
  run_workers(std::move(workers), report, stop);
  if (options.self_tests() == 0) tell_figures(training, report);
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
