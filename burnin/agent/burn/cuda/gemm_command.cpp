// `cupel-burn gemm`: matrix products on all GPUs at once, each of them verified bit for bit.
#include <algorithm>
#include <array>
#include <map>

#include "burnin/agent/burn/command.h"
#include "burnin/agent/burn/cuda/gemm_worker.h"
#include "burnin/agent/burn/workers.h"

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
    Choice{.name = "--unverified-baseline",
           .help = "measures in between what the same products reach unverified"},
};

/// What the GPUs of one model have in common.
struct Model {
  std::vector<Recipe> recipes;
  std::unique_ptr<CrossCheck> cross_check;
};

Outcome<> run(const Options& options, Report& report, Stop& stop, Watchdog& watchdog) {
  TRY(const auto node, list_devices(options, watchdog));
  report.start(start_of(options, node));
  TRY(const auto library, CublasLt::open());
  std::map<std::string, Model> models;
  for (const auto& device : node.devices) {
    if (models.contains(device.gpu.name)) continue;
    const auto like = std::ranges::count(node.devices, device.gpu.name,
                                         [](const Device& other) { return other.gpu.name; });
    auto& model = models[device.gpu.name];
    model.cross_check = std::make_unique<CrossCheck>(static_cast<std::size_t>(like));
    WatchdogScope scope{watchdog, device.part()};
    scope.doing("starting");
    auto chosen = [&]() -> Outcome<> {
      TRY(auto first,
          GemmWorker::make({options, node, device, report, stop, *model.cross_check}, library, {}));
      if (options.self_tests() == 0) {  // planted errors are found in whatever way it is multiplied
        TRY(first.choose_ways(scope));
      }
      model.recipes = std::move(first).recipes();
      return done();
    }();
    if (!chosen) return std::move(chosen).error().on(device.part());
  }
  std::vector<Worker> workers;
  for (const auto& device : node.devices)
    workers.push_back({device.part(), [&, &device = device]() -> Outcome<> {
                         auto& model = models.at(device.gpu.name);
                         WatchdogScope scope{watchdog, device.part()};
                         scope.doing("starting");
                         TRY(auto worker, GemmWorker::make({options, node, device, report, stop,
                                                            *model.cross_check},
                                                           library, model.recipes));
                         if (options.self_tests() > 0)
                           return worker.self_test(scope, options.self_tests());
                         TRY(worker.burn(scope));
                         report.result("gemm.errors", device.part(),
                                       static_cast<double>(worker.wrong() +
                                                           model.cross_check->odd(device.part())),
                                       "errors");
                         return done();
                       }});
  run_workers(std::move(workers), report, stop);
  for (auto& [name, model] : models)
    for (const auto& odd : model.cross_check->rest())
      report.fault({.what = "wrong-result", .part = odd.part, .detail = odd.detail});
  return done();
}

}  // namespace

Command gemm_command() {
  return {.name = "gemm",
          .help = "matrix products in tensor cores at the power limit, every result verified",
          .choices = kChoices,
          .run = run};
}

}  // namespace cupel::burn
