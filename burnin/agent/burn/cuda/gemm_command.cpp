// `cupel-burn gemm`: matrix products on all GPUs at once, each of them verified bit for bit.
#include <algorithm>
#include <array>
#include <functional>
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
    Choice{.name = "--side",
           .kind = Kind::kCount,
           .fallback = "8192",
           .low = kLeastSide,
           .high = kLargestSide,
           .help = "rows and columns of a product, a power of two; smaller ones load the GPU less"},
    Choice{.name = "--unverified-baseline",
           .help = "measures in between what the same products reach unverified"},
};

/// What the GPUs of one model have in common.
struct Model {
  std::vector<Recipe> recipes{};
  std::unique_ptr<CrossCheck> cross_check{};
};

struct Member {
  const Device& device;
  Model& model;
  std::vector<WayTrials> trials{};  // by type
  bool has_failed = false;
};

/// All GPUs, each in a thread of its own. They need nothing of each other: one that fails is
/// reported, and the others go on.
class Gemm {
 public:
  Gemm(const Options& options, const Node& node, Report& report, Stop& stop, Watchdog& watchdog,
       std::shared_ptr<const CublasLt> library)
      : options_{options},
        node_{node},
        report_{report},
        stop_{stop},
        watchdog_{watchdog},
        library_{std::move(library)} {
    for (const auto& device : node.devices) {
      auto& model = models_[device.gpu.name];
      members_.push_back({.device = device, .model = model});
      if (model.cross_check) continue;
      const auto like = std::ranges::count(node.devices, device.gpu.name,
                                           [](const Device& other) { return other.gpu.name; });
      model.cross_check = std::make_unique<CrossCheck>(static_cast<std::size_t>(like));
    }
  }

  Outcome<> run() {
    for (auto& member : members_) ask_for_ways(member);
    TRY(choose_ways());
    for_each([this](Member& member, WatchdogScope& scope) { return work(member, scope); });
    for (auto& [name, model] : models_) tell(model.cross_check->rest());
    const bool all_well = std::ranges::none_of(members_, &Member::has_failed);
    if (!all_well) stop_.give_up();
    return done();
  }

 private:
  Outcome<GemmWorker> make(const Member& member) {
    return GemmWorker::make({.options = options_,
                             .node = node_,
                             .device = member.device,
                             .report = report_,
                             .stop = stop_,
                             .cross_check = *member.model.cross_check},
                            library_, member.model.recipes);
  }

  /// The first GPU of a model that answers asks for all of them: products are compared between
  /// GPUs, which takes the same way on each.
  void ask_for_ways(Member& member) {
    if (!member.model.recipes.empty()) return;
    WatchdogScope scope{watchdog_, member.device.part()};
    scope.doing("starting");
    auto made = make(member);
    if (made)
      member.model.recipes = (*std::move(made)).recipes();
    else
      failed(member, std::move(made).error());
  }

  void failed(Member& member, Failure failure) {
    member.has_failed = true;
    report_.failure(std::move(failure).on(member.device.part()));
    tell(left(member));
  }

  static std::vector<CrossCheck::Odd> left(const Member& member) {
    return member.model.cross_check->leave(member.device.part());
  }

  void for_each(const std::function<Outcome<>(Member&, WatchdogScope&)>& work) {
    std::vector<Worker> workers;
    for (auto& member : members_) {
      if (member.has_failed) continue;
      workers.push_back({member.device.part(), [this, &member, &work]() -> Outcome<> {
                           WatchdogScope scope{watchdog_, member.device.part()};
                           scope.alone([this, &member] { tell(left(member)); });
                           scope.doing("starting");
                           auto outcome = work(member, scope);
                           if (!outcome) failed(member, std::move(outcome).error());
                           return done();
                         }});
    }
    run_workers(std::move(workers), report_, stop_, OnFailure::kOthersGoOn);
  }

  /// In the self-test the library's first guess: planted errors are found in whatever way.
  /// Errors: refused, where no way of the library repeats.
  Outcome<> choose_ways() {
    if (options_.self_tests() == 0)
      for_each([this](Member& member, WatchdogScope& scope) -> Outcome<> {
        TRY(auto worker, make(member));
        TRY(member.trials, worker.try_ways(scope));
        return done();
      });
    for (auto& [name, model] : models_)
      for (std::size_t type = 0; type < model.recipes.size(); ++type) {
        TRY(choose_way_of(model, type));
      }
    return done();
  }

  Outcome<> choose_way_of(Model& model, std::size_t type) {
    auto& recipe = model.recipes[type];
    std::vector<WayTrials> trials;
    for (const auto& member : members_)
      if (&member.model == &model && type < member.trials.size())
        trials.push_back(member.trials[type]);
    const auto choice = choose_way(trials);
    const auto name = std::string{name_of(recipe.shape.type)};
    if (choice.dropped > 0)
      report_.result("gemm.ways.dropped", "", static_cast<double>(choice.dropped), "count",
                     {{"type", name}});
    if (!choice.way)
      return Failure{.code = "refused",
                     .message = "no way in which cuBLASLt multiplies " + name +
                                " gives the same bits twice on any GPU: the library's fault, and "
                                "nothing to compare GPUs by"};
    recipe.ways = {recipe.ways[*choice.way]};
    if (trials.empty()) return done();  // a self-test
    recipe.rotates = choice.rotates;
    if (!choice.rotates && trials.size() == 1)
      report_.failure({.code = "refused",
                       .message = "products of " + name +
                                  " differ with the units that compute them, in every way tried: "
                                  "a unit of this GPU is always wrong, or cuBLASLt adds up "
                                  "otherwise at another place; with one GPU of the model it is not "
                                  "known which",
                       .part = part_of(model)});
    report_.result("gemm.rotated", "", choice.rotates ? 1 : 0, "", {{"type", name}});
    return done();
  }

  std::string part_of(const Model& model) const {
    const auto found =
        std::ranges::find(members_, &model, [](const Member& member) { return &member.model; });
    return found == members_.end() ? std::string{} : found->device.part();
  }

  Outcome<> work(Member& member, WatchdogScope& scope) {
    TRY(auto worker, make(member));
    if (options_.self_tests() > 0) return worker.self_test(scope, options_.self_tests());
    auto outcome = worker.burn(scope);
    const auto part = member.device.part();
    const auto wrong = worker.wrong() + member.model.cross_check->odd(part);
    report_.result("gemm.errors", part, static_cast<double>(wrong), "errors");
    return outcome;
  }

  void tell(const std::vector<CrossCheck::Odd>& all) {
    for (const auto& odd : all)
      report_.fault({.what = "wrong-result", .part = odd.part, .detail = odd.detail});
  }

  const Options& options_;
  const Node& node_;
  Report& report_;
  Stop& stop_;
  Watchdog& watchdog_;
  std::shared_ptr<const CublasLt> library_;
  std::map<std::string, Model> models_;
  std::vector<Member> members_;
};

Outcome<> run(const Options& options, Report& report, Stop& stop, Watchdog& watchdog) {
  TRY(const auto node, list_devices(options, watchdog));
  report.start(start_of(options, node));
  TRY(auto library, CublasLt::open());
  return Gemm{options, node, report, stop, watchdog, std::move(library)}.run();
}

}  // namespace

Command gemm_command() {
  return {.name = "gemm",
          .help = "matrix products in tensor cores at the power limit, every result verified",
          .choices = kChoices,
          .run = run};
}

}  // namespace cupel::burn
