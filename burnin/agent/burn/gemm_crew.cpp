#include "burnin/agent/burn/gemm_crew.h"

#include <algorithm>
#include <charconv>

#include "burnin/agent/burn/links/child.h"

namespace cupel::burn {
namespace {

std::uint64_t count_at(std::string_view line, std::string_view name) {
  std::uint64_t count = 0;
  const auto text = member_of(line, name);
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

std::string lines_of(const std::vector<WrittenRecipe>& recipes) {
  std::string text;
  for (const auto& recipe : recipes) text += recipe.text() + "\n";
  return text;
}

}  // namespace

GemmCrew::GemmCrew(std::string program, const Options& options, const std::vector<Gpu>& gpus,
                   Report& report, Stop& stop, Watchdog& watchdog)
    : program_{std::move(program)},
      options_{options},
      report_{report},
      stop_{stop},
      watchdog_{watchdog} {
  for (const auto& gpu : gpus) {
    auto& model = models_[gpu.name];
    members_.push_back({.gpu = gpu, .model = model});
    if (model.cross_check) continue;
    const auto like = std::ranges::count(gpus, gpu.name, &Gpu::name);
    model.cross_check = std::make_unique<CrossCheck>(static_cast<std::size_t>(like));
  }
}

Outcome<> GemmCrew::run() {
  // In the self-test the library's first guess: planted errors are found in whatever way.
  if (options_.self_tests() == 0) {
    ask_for_ways();
    if (!stop_.over()) run_all("trials", &GemmCrew::take_trials, sound());
    TRY(choose_ways());
  }
  if (!stop_.over()) run_all("burn", &GemmCrew::take_burn, sound());
  for (auto& [name, model] : models_) tell(model.cross_check->rest());
  for (const auto& member : members_) tell_errors(member);
  const bool all_well = std::ranges::none_of(members_, &Member::has_failed);
  if (!all_well) stop_.give_up();
  return done();
}

/// The first GPU of a model that answers asks for all of them: products are compared between GPUs,
/// which takes the same way on each.
void GemmCrew::ask_for_ways() {
  for (auto& member : members_)
    if (member.model.recipes.empty() && !stop_.over()) {
      run_all("ways", &GemmCrew::take_recipe, {&member});
      if (member.has_failed) member.model.recipes.clear();  // some of them may have come
    }
}

/// Those that can be given work.
std::vector<GemmCrew::Member*> GemmCrew::sound() {
  std::vector<Member*> sound;
  for (auto& member : members_)
    if (!member.has_failed && (options_.self_tests() > 0 || !member.model.recipes.empty()))
      sound.push_back(&member);
  return sound;
}

void GemmCrew::run_all(std::string_view step, Takes takes, const std::vector<Member*>& members) {
  std::vector<GpuProcess> processes;
  for (auto* member : members)
    processes.push_back({.part = member->part(),
                         .uuid = member->gpu.uuid,
                         .words = {"--step", std::string{step}},
                         .input = step == "ways" ? std::string{} : lines_of(member->model.recipes),
                         .takes = [this, member, takes](std::string_view line) {
                           return (this->*takes)(*member, line);
                         }});
  if (step == "burn")
    for (std::size_t at = 0; at < members.size(); ++at)
      processes[at].over = [this, member = members[at]] {
        tell(member->model.cross_check->leave(member->part()));
      };
  const auto ended =
      run_gpu_processes(program_, options_, std::move(processes), report_, stop_, watchdog_);
  const bool is_asked_to_end = stop_.by_signal();
  for (std::size_t at = 0; at < members.size(); ++at) {
    if (ended[at] || is_asked_to_end) continue;
    members[at]->has_failed = true;
    tell(members[at]->model.cross_check->leave(members[at]->part()));
  }
}

bool GemmCrew::take_recipe(Member& member, std::string_view line) {
  if (member_of(line, "kind") != "recipe") return false;
  if (auto recipe = read_recipe(member_of(line, "text")))
    member.model.recipes.push_back(*std::move(recipe));
  return true;
}

bool GemmCrew::take_trials(Member& member, std::string_view line) {
  if (member_of(line, "kind") != "trials") return false;
  if (auto trials = read_trials(member_of(line, "text")))
    member.trials[std::string{member_of(line, "type")}] = *std::move(trials);
  return true;
}

bool GemmCrew::take_burn(Member& member, std::string_view line) {
  const auto kind = member_of(line, "kind");
  if (kind == "fingerprint") {
    tell(member.model.cross_check->tell(std::string{member_of(line, "key")},
                                        count_at(line, "number"), member.part(),
                                        count_at(line, "came_to")));
    return true;
  }
  if (kind != "wrong") return false;
  member.wrong = count_at(line, "count");
  tell_errors(member);
  return true;
}

Outcome<> GemmCrew::choose_ways() {
  for (auto& [name, model] : models_)
    for (auto& recipe : model.recipes) {
      TRY(choose_way_of(model, recipe));
    }
  return done();
}

Outcome<> GemmCrew::choose_way_of(Model& model, WrittenRecipe& recipe) {
  const auto type = std::string{name_of(recipe.shape.type)};
  std::vector<WayTrials> trials;
  std::string part;
  for (const auto& member : members_) {
    if (&member.model != &model) continue;
    part = member.part();
    const auto tried = member.trials.find(type);
    if (tried == member.trials.end()) continue;
    trials.push_back(tried->second);
    trials.back().resize(std::min(trials.back().size(), recipe.ways.size()));
  }
  const auto choice = choose_way(trials);
  if (choice.dropped > 0)
    report_.result("gemm.ways.dropped", "", static_cast<double>(choice.dropped), "count",
                   {{"type", type}});
  if (!choice.way)
    return Failure{.code = "refused",
                   .message = "no way in which cuBLASLt multiplies " + type +
                              " gives the same bits twice on any GPU: the library's fault, and "
                              "nothing to compare GPUs by"};
  recipe.ways = {recipe.ways[*choice.way]};
  if (trials.empty()) return done();  // it was stopped before
  recipe.rotates = choice.rotates;
  if (!choice.rotates && trials.size() == 1)
    report_.failure({.code = "refused",
                     .message = "products of " + type +
                                " differ with the units that compute them, in every way tried: "
                                "a unit of this GPU is always wrong, or cuBLASLt adds up "
                                "otherwise at another place; with one GPU of the model it is not "
                                "known which",
                     .part = part});
  report_.result("gemm.rotated", "", choice.rotates ? 1 : 0, "", {{"type", type}});
  return done();
}

/// Those that its own process found, and those that only show among GPUs.
void GemmCrew::tell_errors(const Member& member) {
  if (!member.wrong) return;
  const auto wrong = *member.wrong + member.model.cross_check->odd(member.part());
  report_.result("gemm.errors", member.part(), static_cast<double>(wrong), "errors");
}

void GemmCrew::tell(const std::vector<CrossCheck::Odd>& all) {
  for (const auto& odd : all)
    report_.fault({.what = "wrong-result", .part = odd.part, .detail = odd.detail});
}

}  // namespace cupel::burn
