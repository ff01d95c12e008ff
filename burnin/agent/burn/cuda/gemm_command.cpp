// `cupel-burn gemm`: matrix products on all GPUs at once, each of them verified bit for bit. Each
// GPU has a process of its own (gpu_processes.h); here is what one of them does, and what is done
// with what they report: which way of the library all take, and whether they came to the same.
#include <algorithm>
#include <array>

#include "burnin/agent/burn/command.h"
#include "burnin/agent/burn/cuda/gemm_worker.h"
#include "burnin/agent/burn/gemm_crew.h"
#include "burnin/agent/burn/links/child.h"

namespace cupel::burn {
namespace {

using Kind = Choice::Kind;
constexpr std::array kChoices{
    Choice{.name = "--types",
           .kind = Kind::kWords,
           .fallback = "bf16,fp16,tf32,fp8,fp64",
           .words = kTypeNames,
           .help =
               "what is multiplied; left out: what the chip has not, and fp64, unless asked for, "
               "where it has few units for it"},
    Choice{.name = "--pattern",
           .kind = Kind::kWord,
           .fallback = "steady",
           .words = "steady,square,ramp",
           .help = "how the load goes, all GPUs in phase"},
    Choice{.name = "--hertz",
           .kind = Kind::kNumber,
           .fallback = "1",
           .low = 0.1,
           .high = 10,
           .help = "of the square waves or ramps"},
    Choice{.name = "--side",
           .kind = Kind::kCount,
           .fallback = "8192",
           .low = kLeastSide,
           .high = kLargestSide,
           .help = "rows and columns of a product, a power of two; smaller ones load the GPU less"},
    Choice{.name = "--unverified-baseline",
           .help = "measures in between what the same products reach unverified"},
    kAloneChoice,
    Choice{.name = "--step",
           .kind = Kind::kWord,
           .fallback = "burn",
           .words = "ways,trials,burn",
           .help = "what such a process does"},
};

/// What the process of one GPU does.
class Alone {
 public:
  Alone(const Options& options, const Node& node, Report& report, Stop& stop, Watchdog& watchdog)
      : options_{options},
        node_{node},
        device_{node.devices.front()},
        report_{report},
        stop_{stop},
        scope_{watchdog, device_.part()} {}

  Outcome<> run() {
    scope_.doing("starting");
    TRY(auto library, CublasLt::open());
    const auto& step = options_.word("--step");
    std::vector<WrittenRecipe> recipes;
    if (step != "ways" && options_.self_tests() == 0) {
      TRY(const auto text, read_input());
      TRY(recipes, read_recipes(text));
    }
    TRY(auto worker, GemmWorker::make({.options = options_,
                                       .node = node_,
                                       .device = device_,
                                       .report = report_,
                                       .stop = stop_},
                                      std::move(library), recipes));
    if (step == "ways") return tell_ways(worker);
    if (step == "trials") return tell_trials(worker, recipes);
    if (options_.self_tests() > 0) return worker.self_test(scope_, options_.self_tests());
    return worker.burn(scope_);
  }

 private:
  Outcome<> tell_ways(const GemmWorker& worker) {
    for (const auto& recipe : worker.recipes())
      report_.say(agent::JsonLine{"recipe"}.add("text", recipe.text()));
    return done();
  }

  Outcome<> tell_trials(GemmWorker& worker, const std::vector<WrittenRecipe>& recipes) {
    TRY(const auto trials, worker.try_ways(scope_));
    for (std::size_t type = 0; type < std::min(trials.size(), recipes.size()); ++type) {
      agent::JsonLine line{"trials"};
      line.add("type", name_of(recipes[type].shape.type));
      report_.say(line.add("text", text_of(trials[type])));
    }
    return done();
  }

  const Options& options_;
  const Node& node_;
  const Device& device_;
  Report& report_;
  Stop& stop_;
  WatchdogScope scope_;
};

Outcome<> run_alone(const Options& options, Report& report, Stop& stop, Watchdog& watchdog) {
  TRY(const auto node, list_own_device(options, watchdog));
  report.start(start_of(options, node));
  auto outcome = Alone{options, node, report, stop, watchdog}.run();
  if (!outcome) return std::move(outcome).error().on(node.devices.front().part());
  return done();
}

Outcome<> run(const Options& options, Report& report, Stop& stop, Watchdog& watchdog) {
  if (options.given(kAloneChoice.name)) return run_alone(options, report, stop, watchdog);
  TRY(const auto node, list_devices(options, watchdog));
  report.start(start_of(options, node));
  TRY(const auto library, CublasLt::open());  // where there is none, it is reported once
  std::vector<Gpu> gpus;
  for (const auto& device : node.devices) gpus.push_back(device.gpu);
  return GemmCrew{"/proc/self/exe", options, gpus, report, stop, watchdog}.run();
}

}  // namespace

Command gemm_command() {
  return {.name = "gemm",
          .help = "matrix products in tensor cores at the power limit, every result verified",
          .choices = kChoices,
          .run = run};
}

}  // namespace cupel::burn
