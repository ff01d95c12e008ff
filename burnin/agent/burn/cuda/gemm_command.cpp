// `cupel-burn gemm`: matrix products on all GPUs at once, each of them verified bit for bit.
#include <algorithm>
#include <array>
#include <map>

#include "burnin/agent/burn/command.h"
#include "burnin/agent/burn/crew.h"
#include "burnin/agent/burn/cuda/gemm_worker.h"

namespace cupel::burn {
namespace {

using Kind = Choice::Kind;
constexpr std::array kChoices{
    Choice{.name = "--types",
           .kind = Kind::kWords,
           .fallback = "bf16,fp16,tf32,fp8,fp64",
           .words = kTypeNames,
           .help = "what is multiplied; what the chip has not is left out"},
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
  std::unique_ptr<Agreement> agreement;
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
    model.agreement = std::make_unique<Agreement>(static_cast<std::size_t>(like));
    Seat seat{watchdog, device.part()};
    seat.doing("starting");
    auto chosen = [&]() -> Outcome<> {
      TRY(auto first,
          GemmWorker::make({options, node, device, report, stop, *model.agreement}, library, {}));
      TRY(first.choose_ways(seat));
      model.recipes = std::move(first).recipes();
      return done();
    }();
    if (!chosen) return std::move(chosen).error().on(device.part());
  }
  std::vector<Hand> hands;
  for (const auto& device : node.devices)
    hands.push_back(
        {device.part(), [&, &device = device]() -> Outcome<> {
           auto& model = models.at(device.gpu.name);
           Seat seat{watchdog, device.part()};
           seat.doing("starting");
           TRY(auto worker,
               GemmWorker::make({options, node, device, report, stop, *model.agreement}, library,
                                model.recipes));
           if (options.self_tests() > 0) return worker.self_test(seat, options.self_tests());
           TRY(worker.burn(seat));
           report.result("gemm.wrong", device.part(),
                         static_cast<double>(worker.wrong() + model.agreement->odd(device.part())),
                         "errors");
           return done();
         }});
  side_by_side(std::move(hands), report, stop);
  for (auto& [name, model] : models)
    for (const auto& odd : model.agreement->rest())
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
