#include "playbooks/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "burnin/companions.h"
#include "burnin/criteria/fleet_criteria.h"
#include "burnin/group_stage.h"
#include "burnin/parameters.h"
#include "burnin/requirements.h"
#include "burnin/stage.h"
#include "burnin/undo.h"
#include "inventory/firmware_time.h"
#include "inventory/maintenance_window.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/node_range.h"
#include "inventory/profile.h"
#include "inventory/shipped.h"
#include "inventory/yaml.h"
#include "playbooks/format.h"
#include "playbooks/group.h"
#include "playbooks/job_steps.h"
#include "playbooks/left_out.h"
#include "playbooks/read_parameters.h"
#include "playbooks/rewrite.h"
#include "playbooks/roll_out.h"

namespace cupel::playbooks {
namespace {

using inventory::Problem;
using inventory::Profile;

constexpr int kTries = 8;
constexpr std::chrono::seconds kLookLimit{20};

/// A profile's criteria must be about stages and measurements that exist, else they can never be
/// met and never be missed.
void check_criteria(const Profile& profile, std::vector<Problem>& problems) {
  for (const auto& criterion : profile.criteria) {
    const auto* stage = burnin::stage(criterion.stage);
    if (is_of_job(criterion)) {
      check_job_criterion(criterion, problems);
      continue;
    }
    if (stage == nullptr) {
      std::vector<std::string_view> known;
      for (const auto& each : burnin::stages()) known.push_back(each.name);
      problems.push_back(
          {criterion.where, "there is no stage '" + criterion.stage + "'" +
                                inventory::did_you_mean(criterion.stage, std::span{known})});
      continue;
    }
    if (std::ranges::find(stage->measures, criterion.measure) != stage->measures.end()) continue;
    problems.push_back(
        {criterion.where, "stage '" + criterion.stage + "' does not measure '" + criterion.measure +
                              "'" + inventory::did_you_mean(criterion.measure, stage->measures)});
  }
}

std::optional<burnin::Job> job_of(const PlaybookStep& step, const Profile& profile,
                                  std::vector<Problem>& problems) {
  const std::string name{burnin::base_name(step.name)};
  auto job = burnin::stage(name)->prepare(profile, step.with);
  if (!job) {
    problems.push_back({step.where, "stage '" + name + "': " + job.error().what});
    return std::nullopt;
  }
  const bool judged = std::ranges::any_of(
      profile.criteria, [&](const auto& criterion) { return criterion.stage == name; });
  if (!judged && !tells_parts(name))
    problems.push_back({step.where, "profile '" + profile.name + "' has no criteria for stage '" +
                                        name + "': nothing would be judged"});
  return *std::move(job);
}

double load_of(const PlaybookStep& step, const Profile& profile) {
  if (step.kind != StepKind::stage) return row_of(step.kind).load;
  return burnin::load_share(*burnin::stage(step.name), step.with, profile.has_gpus());
}

bool writes_firmware(const PlaybookStep& step) {
  return step.kind == StepKind::firmware || step.kind == StepKind::node_firmware;
}

void check_window(const PlaybookStep& step, std::vector<Problem>& problems) {
  const auto window = step.with.find("window");
  if (!writes_firmware(step) || window == step.with.end()) return;
  const auto read = inventory::maintenance_window(window->second);
  if (!read) problems.push_back({step.where, read.error().what});
}

void check_rewrite(const PlaybookStep& step, const Profile& profile,
                   std::vector<Problem>& problems) {
  if (step.kind != StepKind::firmware) return;
  for (auto& why : why_not_rewritten(components_to_rewrite(step.with), profile))
    problems.push_back({step.where, std::move(why)});
}

PlannedStep planned(const PlaybookStep& step, const Profile& profile, bool cabled,
                    std::vector<Problem>& problems) {
  PlannedStep plan;
  check_window(step, problems);
  check_rewrite(step, profile, problems);
  const auto& row = row_of(step.kind);
  plan.kind = step.kind;
  plan.name = step.name;
  plan.with = step.with;
  plan.on_failure = step.on_failure;
  plan.always = row.always;
  plan.before_canary = row.before_canary;
  plan.once = row.once;
  plan.load = load_of(step, profile);
  plan.when = left_for_the_run(step.when);
  plan.together = step.together;
  plan.stop_after = step.stop_after;
  plan.claims = step.claims;
  plan.tries = step.tries.value_or(kTries);
  if (auto why = why_left_out(step, profile, cabled); !why.empty())
    plan.when.insert(plan.when.begin(), never(std::move(why)));
  plan.expected = row.expected.of(profile.patience);
  auto deadline = row.deadline.of(profile.patience);
  if (left_out(plan.when)) {
    plan.expected = std::chrono::seconds{0};
    plan.load = 0;
  } else if (step.kind == StepKind::verdict) {
    const auto criteria = burnin::fleet_criteria(step.with);
    if (!criteria) problems.push_back({step.where, criteria.error().what});
  } else if (writes_firmware(step)) {
    plan.expected = inventory::time_of_baseline(profile, step.kind == StepKind::node_firmware);
    deadline += 2 * plan.expected;
  } else if (step.kind == StepKind::slurm_job) {
    const auto limit = job_limit(step.with);
    if (!limit) problems.push_back({step.where, limit.error().what});
    plan.expected = limit.value_or(plan.expected);
    deadline += plan.expected;
    check_job_is_judged(step, profile, problems);
  } else if (step.kind == StepKind::stage) {
    plan.job = job_of(step, profile, problems);
    if (plan.job) {
      plan.expected = plan.job->expected;
      deadline += plan.job->limit;
    }
  }
  plan.deadline = step.deadline.value_or(deadline);
  plan.expected = std::min(plan.expected, plan.deadline);
  return plan;
}

/// The step, or one for each part of the profile that it is to be done for.
std::vector<PlaybookStep> for_each_part(const PlaybookStep& step, const Profile& profile) {
  if (!step.each) return {step};
  int count = 0;
  for (const auto& part : profile.parts)
    if (part.kind == *step.each) count += part.count;
  std::vector<PlaybookStep> steps;
  for (int i = 0; i < std::min(count, static_cast<int>(kMostEach)); ++i) {
    const auto part = std::string{to_string(*step.each)} + std::to_string(i);
    auto& one = steps.emplace_back(step);
    one.name += "@" + part;
    for (auto& [name, value] : one.with) value = filled_in(value, {{"each", part}});
  }
  return steps;
}

bool changes_by(const PlannedStep& step, const burnin::Undo& undo) {
  return step.kind == StepKind::stage && burnin::undo_of(step.name) == &undo;
}

bool undoes(const PlannedStep& step, const burnin::Undo& undo) {
  return step.kind == StepKind::stage && burnin::undone_by(step.name) == &undo;
}

/// "31h" of thirty hours and five seconds.
std::string at_least(std::chrono::seconds duration) {
  using namespace std::chrono;
  const bool long_one = duration > 2h;
  return burnin::duration_text(long_one ? seconds{ceil<hours>(duration)}
                                        : seconds{ceil<minutes>(duration)});
}

/// The node's own timer must not be faster than the steps that want what was changed.
void check_time_limit(const burnin::Undo& undo, const Playbook& playbook,
                      const std::vector<PlannedStep>& steps, std::vector<Problem>& problems) {
  const PlannedStep* set = nullptr;
  std::chrono::seconds meanwhile{0};
  for (const auto& step : steps) {
    if (undoes(step, undo)) set = nullptr;
    meanwhile = set != nullptr ? meanwhile + step.expected : std::chrono::seconds{0};
    if (changes_by(step, undo)) set = &step;
    if (set == nullptr) continue;
    const auto at_most = undo.by_itself_after(set->with);
    if (!at_most || meanwhile <= *at_most) continue;
    const auto written = std::ranges::find(playbook.steps, set->name, &PlaybookStep::name);
    const auto& where = written == playbook.steps.end() ? playbook.steps.front() : *written;
    problems.push_back(
        {where.where, fmt::format("{}: after {}: {} the node puts it back by itself, and the "
                                  "steps up to '{}' take {}: say a longer one",
                                  set->name, undo.time_limit, burnin::duration_text(*at_most),
                                  step.name, at_least(meanwhile))});
    return;
  }
}

/// Behind every stage that changes a machine comes what changes it back, whatever becomes of the
/// steps between: before the verdict, which is to know whether it did. One that the playbook names
/// itself is as good.
void add_undo(const burnin::Undo& undo, const Playbook& playbook, const Profile& profile,
              std::vector<PlannedStep>& steps, std::vector<Problem>& problems) {
  const auto changes = [&](const auto& step) { return changes_by(step, undo); };
  const auto last = std::find_if(steps.rbegin(), steps.rend(), changes);
  if (last == steps.rend()) return;
  const auto changes_back = [&](const auto& step) { return undoes(step, undo); };
  for (auto& step : steps)
    if (changes_back(step)) step.always = true;
  if (std::any_of(last.base(), steps.end(), changes_back)) return;
  PlaybookStep own;
  own.kind = StepKind::stage;
  own.name = undo.stage;
  own.on_failure = OnFailure::go_on;
  const auto written = std::ranges::find(playbook.steps, last->name, &PlaybookStep::name);
  if (written != playbook.steps.end()) own.where = written->where;
  auto step = planned(own, profile, false, problems);
  step.always = true;
  const auto judges = [](const auto& each) { return each.kind == StepKind::verdict; };
  steps.insert(std::find_if(last.base(), steps.end(), judges), std::move(step));
}

/// As soon as a node answers SSH it is looked at for what the stages behind that need: what is not
/// installed is reported then, and not when its stage is due in some hours.
void look_for_tools(std::vector<PlannedStep>& steps) {
  for (auto step = steps.begin(); step != steps.end(); ++step) {
    if (step->kind != StepKind::ssh_wait) continue;
    std::vector<const burnin::Job*> jobs;
    for (auto later = step; later != steps.end(); ++later)
      if (later->kind == StepKind::stage && later->job && later->when.empty())
        jobs.push_back(&*later->job);
    if (jobs.empty()) continue;
    step->job = burnin::Job{burnin::look_script(jobs), std::chrono::seconds{1}, kLookLimit};
  }
}

using Steps = std::shared_ptr<const std::vector<PlannedStep>>;

Steps steps_of(const Playbook& playbook, const Profile& profile, const inventory::Node& node,
               bool cabled, std::vector<Problem>& problems) {
  std::vector<PlannedStep> steps;
  std::set<std::string> names;
  bool judged = false;
  for (const auto& written : playbook.steps) {
    if (!applies(written.when, node)) continue;
    judged = judged || written.kind == StepKind::verdict;
    if (written.kind == StepKind::hand_off && !judged)
      problems.push_back({written.where, "hand-off without a verdict on machines of profile '" +
                                             profile.name + "': it has other conditions"});
    for (const auto& step : for_each_part(written, profile)) {
      if (!names.insert(step.name).second)
        problems.push_back({step.where, "'" + step.name + "' stands twice for profile '" +
                                            profile.name + "'; give one of them another as:"});
      steps.push_back(planned(step, profile, cabled, problems));
    }
  }
  for (const auto& stage : burnin::stages()) {
    if (stage.undo == nullptr) continue;
    add_undo(*stage.undo, playbook, profile, steps, problems);
    check_time_limit(*stage.undo, playbook, steps, problems);
  }
  look_for_tools(steps);
  if (steps.size() > kMostSteps)
    problems.push_back(
        {playbook.steps.front().where, "more than 1000 steps for profile '" + profile.name + "'"});
  return std::make_shared<const std::vector<PlannedStep>>(std::move(steps));
}

/// What takes feeds away must know all of a node's, and by which outlets.
void check_feeds(const Playbook& playbook, const std::vector<const inventory::Node*>& nodes,
                 std::vector<Problem>& problems) {
  for (const auto& step : playbook.steps) {
    if (step.kind != StepKind::stage || !burnin::takes_feeds(step.name, step.with)) continue;
    std::vector<std::string> lacking;
    for (const auto* node : nodes) {
      const bool known = node->feeds.size() > 1 && node->outlets.size() == node->feeds.size() &&
                         std::ranges::none_of(node->outlets, &std::string::empty);
      if (applies(step.when, *node) && !known) lacking.push_back(node->name);
    }
    if (lacking.empty()) continue;
    problems.push_back(
        {step.where,
         fmt::format("{}: feeds: yes needs breaker, outlet, second_breaker and "
                     "second_outlet in the inventory, and {} {} not all of them",
                     step.name, inventory::fold(lacking), lacking.size() == 1 ? "has" : "have")});
  }
}

/// Nodes share their steps where profile, settled conditions and a place in the cable plan are the
/// same.
std::string sharing_key(const Playbook& playbook, const inventory::Node& node, bool cabled) {
  std::string key = node.profile + (cabled ? "\ncabled\n" : "\n");
  for (const auto& step : playbook.steps) key += applies(step.when, node) ? '1' : '0';
  return key;
}

/// A profile or rack that nobody knows is a typing error: the step would never be done.
void check_conditions(const Playbook& playbook, const inventory::Inventory& inventory,
                      std::vector<Problem>& problems) {
  std::vector<std::string> profiles, racks;
  for (const auto& [name, profile] : inventory.profiles) profiles.push_back(name);
  for (const auto& file : inventory::shipped_files())
    if (file.path.starts_with("inventory/profiles/"))
      profiles.push_back(std::filesystem::path{file.path}.stem().string());
  for (const auto& rack : inventory.racks) racks.push_back(rack.name);
  for (const auto& node : inventory.nodes) racks.push_back(node.rack);
  for (const auto& step : playbook.steps)
    for (const auto& condition : step.when) {
      const bool profile = condition.about == Condition::About::profile;
      if (!profile && condition.about != Condition::About::rack) continue;
      const auto& known = profile ? profiles : racks;
      for (const auto& value : condition.values)
        if (std::ranges::find(known, value) == known.end())
          problems.push_back({condition.where,
                              std::string{"there is no "} + (profile ? "profile '" : "rack '") +
                                  value + "'" + inventory::did_you_mean(value, std::span{known})});
    }
}

}  // namespace

std::size_t Plan::step_count() const {
  std::size_t count = 0;
  for (const auto& node : nodes) count += node.steps->size();
  return count;
}

std::vector<std::string> Plan::step_names() const {
  std::vector<std::string> names;
  std::set<const std::vector<PlannedStep>*> seen;
  for (const auto& node : nodes) {
    if (!seen.insert(node.steps.get()).second) continue;
    auto at = names.begin();
    for (const auto& step : *node.steps) {
      const auto found = std::ranges::find(names, step.name);
      at = found == names.end() ? std::next(names.insert(at, step.name)) : std::next(found);
    }
  }
  return names;
}

namespace {

/// A measurement of several nodes takes as many as its stage says.
void check_groups(const Playbook& playbook, const std::vector<Group>& groups,
                  std::vector<Problem>& problems) {
  std::set<std::string> reported;
  for (const auto& [name, members] : groups) {
    const auto* stage = burnin::stage(name);
    if (stage == nullptr || stage->group == nullptr) continue;
    const auto least = stage->group->least, most = stage->group->most;
    if (members.size() >= least && members.size() <= most) continue;
    if (!reported.insert(name).second) continue;
    const auto written = std::ranges::find(playbook.steps, name, &PlaybookStep::name);
    const auto& where = written == playbook.steps.end() ? playbook.steps.front() : *written;
    const auto expected =
        least == most ? fmt::format("{} nodes", least) : fmt::format("{} to {} nodes", least, most);
    problems.push_back({where.where, fmt::format("'{}' is a measurement of {}, and group_by: gives "
                                                 "it {}",
                                                 name, expected, members.size())});
  }
}

}  // namespace

std::optional<Plan> make_plan(const Playbook& playbook, const inventory::Inventory& inventory,
                              const std::vector<const inventory::Node*>& nodes,
                              std::vector<Problem>& problems) {
  const auto before = problems.size();
  Plan plan;
  plan.playbook = playbook.name;
  plan.nodes_at_once = playbook.nodes_at_once;
  plan.priority = playbook.priority;
  auto waves = waves_of(playbook, inventory, nodes);
  plan.canary = std::move(waves.sizes);
  plan.limits = playbook.limits;
  check_conditions(playbook, inventory, problems);
  check_feeds(playbook, nodes, problems);
  check_jobs(playbook, inventory, problems);
  std::map<std::string, Steps> shared;
  std::set<std::string> checked;
  std::set<std::string_view> cabled;
  if (inventory.fabric)
    for (const auto& node : inventory.fabric->fabric.nodes) cabled.insert(node.name);
  const bool claims_leaves = has_leaf_claims(playbook);
  const auto leaves = claims_leaves ? leaf_groups(inventory) : std::map<std::string, std::string>{};
  for (const auto* node : waves.nodes) {
    const bool planned_cables = cabled.contains(node->name);
    const auto key = sharing_key(playbook, *node, planned_cables);
    auto& steps = shared[key];
    if (!steps) {
      const auto& profile = inventory.profile_of(*node);
      if (checked.insert(profile.name).second) check_criteria(profile, problems);
      steps = steps_of(playbook, profile, *node, planned_cables, problems);
    }
    plan.nodes.push_back({node, steps});
    if (!claims_leaves) continue;
    const auto group = leaves.find(node->name);
    const auto leaf = group == leaves.end() ? std::string{} : group->second;
    auto& of_leaf = shared[key + '\n' + leaf];
    if (!of_leaf) of_leaf = with_leaf_claims(*steps, leaf, plan.limits);
    plan.nodes.back().steps = of_leaf;
  }
  plan.groups = groups_of(plan.nodes, problems);
  check_groups(playbook, plan.groups, problems);
  if (problems.size() > before) return std::nullopt;
  return plan;
}

}  // namespace cupel::playbooks
