#include "burnin/agent/burn/cuda/training.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <thread>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/links/numa.h"
#include "burnin/agent/burn/self_test.h"

namespace cupel::burn {
namespace {

constexpr int kSteps = 20;  // of a repeat

class TrainRank {
 public:
  TrainRank(Training& training, std::size_t rank, WatchdogScope& scope)
      : all_{training},
        rank_{static_cast<int>(rank)},
        device_{training.node.devices[rank]},
        scope_{scope} {}

  Outcome<> run() {
    scope_.doing("starting");
    stay_near(device_.gpu.pci);
    TRY(cuda(cudaSetDevice(device_.ordinal), "taking the GPU"));
    TRY(auto worker, TrainWorker::make(all_.shape, all_.library, all_.ranks));
    if (!all_.nccl && all_.ranks > 1) {
      TRY(all_.copies.join(rank_));
    }
    const StepPosition position{scope_, [&worker] { return worker.passed(); }};
    if (all_.options.self_tests() > 0) return self_test(worker, all_.options.self_tests());
    show(&worker);
    auto outcome = train(worker);
    show(nullptr);
    // Before the worker's memory goes: freeing it waits for kernels, and those of NCCL for others.
    if (!outcome) all_.give_up();
    // Where all nodes are stopped, NCCL's complaint of another one is no finding.
    if (!outcome && all_.across != nullptr && all_.stop.by_signal()) return done();
    if (outcome && !own_.empty()) {
      std::ranges::sort(own_);
      all_.report.result("train.own", device_.part(), own_[own_.size() / 2], "s");
    }
    return outcome;
  }

 private:
  Outcome<> train(TrainWorker& worker) {
    const int steps = all_.options.passes() > 0 ? all_.options.passes() : kSteps;
    for (int repeat = 1; another_step(); ++repeat) {
      if (all_.options.repeats() > 0 && repeat > all_.options.repeats()) return end(worker);
      scope_.doing("first weights");
      TRY(worker.begin(all_.seed));
      for (int number = 1; number <= steps && another_step(); ++number) {
        TRY(step(worker, repeat, number));
      }
    }
    return done();
  }

  /// Across nodes each rank waits here for the last one: rank 0's process holds the listening
  /// socket at which the others meet.
  Outcome<> end(TrainWorker& worker) {
    if (all_.across == nullptr) return done();
    scope_.doing("waiting for the last node");
    TRY(worker.meet(sum_up(), waits()));
    ++all_.ended;
    return done();
  }

  void show(const TrainWorker* worker) {
    auto& place = *all_.places[static_cast<std::size_t>(rank_)];
    const std::scoped_lock lock{place.mutex};
    if (place.worker != nullptr) place.passed = place.worker->passed().value_or(0);
    place.worker = worker;
  }

  /// Whoever waits here for the others does not hang.
  bool another_step() {
    scope_.idle();
    return all_.another_step();
  }

  Outcome<> step(TrainWorker& worker, int repeat, int number) {
    constexpr std::uint64_t kWarm = 3;
    {
      auto& place = *all_.places[static_cast<std::size_t>(rank_)];
      const std::scoped_lock lock{place.mutex};
      place.steps = steps_done_;
    }
    scope_.doing("training step", ++steps_done_);
    const auto begun = std::chrono::steady_clock::now();
    TRY(const auto result, worker.step(all_.seed, number, sum_up(), waits()));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    if (all_.between_steps.is_cancelled())
      return done();  // sums that were aborted are no fault of this GPU
    if (rank_ == 0 && steps_done_ > kWarm) all_.seconds.add(took.count());
    if (steps_done_ > kWarm && own_.size() < kMostOwn) own_.push_back(result.own_seconds);
    const auto key = "repeat " + std::to_string(repeat) + " step " + std::to_string(number);
    compare(key + " gradients", result.gradients);
    compare(key + " summed gradients", result.summed);
    compare(key + " loss", std::bit_cast<std::uint64_t>(result.loss));
    const auto at = static_cast<std::size_t>(number - 1);
    if (first_.size() <= at) {
      first_.push_back(result);
    } else if (!result.same_as(first_[at])) {
      ++all_.differs;
      wrong(device_.part(),
            key + ": loss " + std::to_string(result.loss) + ", in the first repeat " +
                std::to_string(first_[at].loss) +
                (result.gradients == first_[at].gradients ? "; its own gradients are the same"
                                                          : "; its own gradients differ"));
    }
    if (!std::isfinite(result.loss) && repeat == 1)
      return Failure{.code = "cuda", .message = key + ": the loss is no number"};
    return done();
  }

  void compare(const std::string& key, std::uint64_t result) {
    for (const auto& odd : all_.cross_check.tell(key, steps_done_, device_.part(), result)) {
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

  /// Across nodes it ends also where NCCL reports that another one is gone.
  TrainWorker::Wait waits() {
    if (all_.across == nullptr)
      return [](cudaStream_t stream) {
        return cuda(cudaStreamSynchronize(stream), "a training step");
      };
    return [this](cudaStream_t stream) -> Outcome<> {
      for (;;) {
        const auto status = cudaStreamQuery(stream);
        if (status == cudaSuccess) return done();
        if (status != cudaErrorNotReady) return cuda(status, "a training step");
        cudaGetLastError();  // "not ready" would be the next call's error
        TRY(all_.nccl->sound(rank_));
        if (all_.stop.given_up())
          return Failure{.code = "nccl", .message = "given up: another GPU could not go on"};
        if (all_.stop.over()) return time_over();
        std::this_thread::yield();
      }
    };
  }

  /// Gradients are changed, which must change their checksum, and back.
  Outcome<> self_test(TrainWorker& worker, int times) {
    TRY(worker.begin(all_.seed));
    if (!another_step()) return plant(worker, PlantKind::kBit, times, 0);
    scope_.doing("training step");
    TRY(worker.step(all_.seed, 1, sum_up(), waits()));
    if (!another_step()) return plant(worker, PlantKind::kBit, times, 0);
    scope_.doing("planting in gradients");
    TRY(const auto sound, worker.gradients_now());
    for (const auto kind : {PlantKind::kBit, PlantKind::kElement, PlantKind::kPattern}) {
      TRY(plant(worker, kind, times_of(kind, times), sound));
    }
    return done();
  }

  Outcome<> plant(TrainWorker& worker, PlantKind kind, int times, std::uint64_t sound) {
    const auto seed = seed_of(all_.seed, static_cast<std::uint64_t>(kind), 0);
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
  std::vector<StepResult> first_;  // what each step of the first repeat came to
  static constexpr std::size_t kMostOwn = 100'000;
  std::vector<double> own_;  // seconds of the steps' own work
};

}  // namespace

Failure time_over() {
  return {.code = "nccl",
          .message = "its time (--seconds) was over before all steps had been done"};
}

std::uint64_t RankPlace::entered(std::uint64_t layers) {
  const std::scoped_lock lock{mutex};
  const auto now = worker == nullptr ? passed : worker->passed().value_or(0);
  return steps * layers + now;
}

void Training::give_up() {
  between_steps.cancel();  // from now on sums are of no meaning
  if (across != nullptr) tell_ranks();
  within_step.cancel();
  if (nccl) nccl->abort();
}

void Training::tell_ranks() {
  std::call_once(ranks_reported, [this] {
    std::vector<std::uint64_t> entered;
    for (const auto& place : places) entered.push_back(place->entered(shape.layers));
    report.say(ranks_line(*across, entered, "sum of a layer's gradients"));
  });
}

Outcome<> run_rank(Training& training, std::size_t rank, WatchdogScope& scope) {
  return TrainRank{training, rank, scope}.run();
}

}  // namespace cupel::burn
