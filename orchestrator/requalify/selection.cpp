#include "orchestrator/requalify/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "burnin/disk/media.h"
#include "burnin/group_stage.h"
#include "burnin/stage.h"
#include "burnin/undo.h"
#include "inventory/criterion.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/profile.h"
#include "playbooks/left_out.h"
#include "playbooks/plan.h"
#include "playbooks/write_playbook.h"

namespace cupel::requalify {
namespace {

using playbooks::Playbook;
using playbooks::PlaybookStep;
using playbooks::StepKind;
using std::chrono::seconds;

/// How long the whole node works together in the end.
constexpr std::string_view kWholeName = "whole";
constexpr std::string_view kWholeDuration = "5m";
constexpr std::string_view kLook = R"(playbook: look
description: what is in the machine now, from its BMC and from the node; changes nothing
max_parallel: 64
steps:
  - {step: bmc-facts, on_failure: continue}
  - {step: ssh-wait, deadline: 2m}
  - {stage: node-facts, on_failure: continue}
  - {stage: gpu-facts, on_failure: continue}
  - {stage: facts, on_failure: continue}
)";

/// What brings a node to where it can be tested, and what comes of it. Nothing is written to the
/// machine: firmware, settings and systems are other runs' work.
bool is_frame(StepKind kind) {
  switch (kind) {
    case StepKind::slurm_drain:
    case StepKind::bmc_facts:
    case StepKind::power_on:
    case StepKind::ssh_wait:
    case StepKind::audit:
    case StepKind::verdict:
    case StepKind::hand_off:
      return true;
    default:
      return false;
  }
}

/// Looks, and what is set while stages run, belong to every run: they prove little and cost little.
bool always_runs(std::string_view base, const burnin::RequalifyRules& rules) {
  if (std::ranges::find(rules.always, base) != rules.always.end()) return true;
  const auto* stage = burnin::stage(base);
  return stage->undo != nullptr || stage->is_bmc_log || stage->is_kernel_log ||
         burnin::undone_by(base) != nullptr;
}

/// By base name: why its evidence is void.
using Reasons = std::map<std::string, std::vector<std::string>, std::less<>>;

Reasons reasons_of(const Playbook& passed, const Request& request,
                   const burnin::RequalifyRules& rules) {
  Reasons reasons;
  for (const auto& step : passed.steps) {
    const auto requested = request.needed.find(burnin::base_name(step.name));
    if (step.kind == StepKind::stage && requested != request.needed.end())
      reasons[requested->first] = {requested->second};
  }
  for (const auto& change : request.changes) {
    const auto voided = burnin::voided_by(rules, change);
    const auto why = fmt::format("{}: {}", to_string(change), voided.why);
    for (const auto& step : passed.steps) {
      if (step.kind != StepKind::stage) continue;
      const std::string base{burnin::base_name(step.name)};
      const bool looks = std::ranges::find(rules.always, base) != rules.always.end();
      if (looks || !(voided.all || voided.stages.contains(base))) continue;
      auto& all = reasons[base];
      if (std::ranges::find(all, why) == all.end()) all.push_back(why);
    }
  }
  return reasons;
}

bool is_judged(const inventory::Profile& profile, std::string_view stage) {
  return std::ranges::find(profile.criteria, stage, &inventory::Criterion::stage) !=
         profile.criteria.end();
}

/// The short stage in which all of the node works at once; nothing where one of that kind is done
/// anyhow, or the profile judges none.
std::optional<PlaybookStep> whole_stage(const inventory::Profile& profile, const Reasons& reasons) {
  const auto base = burnin::whole_node_stage(profile.has_gpus());
  if (reasons.contains(base) || !is_judged(profile, base)) return std::nullopt;
  PlaybookStep step{.kind = StepKind::stage, .name = fmt::format("{}@{}", base, kWholeName)};
  step.with["duration"] = kWholeDuration;
  step.on_failure = playbooks::OnFailure::go_on;
  return step;
}

/// Before what reads the counters last, or before the audit. A watch looks at the machine after its
/// load, so the load comes before it.
std::vector<PlaybookStep>::iterator place_of_whole(std::vector<PlaybookStep>& steps) {
  auto last = std::ranges::find_if(steps.rbegin(), steps.rend(), [](const PlaybookStep& step) {
    return step.kind == StepKind::stage && burnin::is_load(*burnin::stage(step.name));
  });
  if (last != steps.rend()) return last.base();
  // No load at all is left: behind the first look.
  auto first = std::ranges::find_if(steps, [](const PlaybookStep& step) {
    return step.kind == StepKind::audit || step.kind == StepKind::verdict;
  });
  while (first != steps.begin() && std::prev(first)->name.contains('@')) --first;
  return first;
}

seconds span_of(const playbooks::Plan& plan) {
  seconds all{0};
  for (const auto& step : *plan.nodes.front().steps) all += step.expected;
  return all;
}

seconds span_of(const playbooks::Plan& plan, std::string_view name) {
  for (const auto& step : *plan.nodes.front().steps)
    if (step.name == name) return step.expected;
  return seconds{0};
}

/// Whether the stage is anything on this machine.
bool is_done_here(const PlaybookStep& step, const inventory::Inventory& inventory,
                  const inventory::Node& node) {
  const bool cabled = inventory.fabric &&
                      std::ranges::any_of(inventory.fabric->fabric.nodes,
                                          [&](const auto& each) { return each.name == node.name; });
  return playbooks::applies(step.when, node) &&
         playbooks::why_left_out(step, inventory.profile_of(node), cabled).empty();
}

/// What is void and cannot be done by one node: half of a pair proves nothing.
bool needs_others(const PlaybookStep& step) { return burnin::stage(step.name)->group != nullptr; }

Result<playbooks::Plan> plan_of(const Playbook& playbook, const inventory::Inventory& inventory,
                                const inventory::Node& node) {
  std::vector<inventory::Problem> problems;
  auto plan = playbooks::make_plan(playbook, inventory, {&node}, problems);
  if (!plan) return Error{Code::kInvalid, to_string(problems)};
  return *std::move(plan);
}

std::string description_of(const Request& request) {
  if (request.changes.empty())
    return fmt::format("what failed, with the parameters of run {}", request.run);
  std::vector<std::string> names;
  for (const auto& each : request.changes)
    names.push_back(fmt::format("{} {}", each.part, to_string(each.kind)));
  return fmt::format("what {} leaves unproven of run {}",
                     names.size() > 8 ? fmt::format("{} changes", names.size())
                                      : fmt::format("{}", fmt::join(names, ", ")),
                     request.run);
}

void sort_stage(PlaybookStep step, const Reasons& reasons, const Request& request,
                Selection& selection) {
  const auto base = burnin::base_name(step.name);
  const auto reason = reasons.find(base);
  if (always_runs(base, burnin::requalify_rules())) {
    // Only what is requested is a reason for a run: a look that failed must be passed.
    if (request.needed.contains(base)) selection.again.push_back({step.name, reason->second, {}});
    selection.playbook.steps.push_back(std::move(step));
    return;
  }
  if (reason == reasons.end()) {
    selection.kept.push_back(step.name);
    return;
  }
  if (needs_others(step)) {
    selection.open.push_back(step.name);
    return;
  }
  step.together = playbooks::Together::alone;
  step.stop_after = {};
  selection.again.push_back({step.name, reason->second, {}});
  selection.playbook.steps.push_back(std::move(step));
}

/// From the steps to a playbook that was read: what is run is what stands in the journal.
Result<void> settle_playbook(Selection& selection) {
  auto& playbook = selection.playbook;
  const auto text = playbooks::write_playbook(playbook);
  std::vector<inventory::Problem> problems;
  auto read = playbooks::parse_playbook(text, playbook.file, problems);
  if (!read) return Error{Code::kInvalid, to_string(problems)};
  playbook = *std::move(read);
  return ok();
}

bool erases(const PlaybookStep& step) {
  return step.kind == StepKind::stage && burnin::erases_media(step.name);
}

}  // namespace

std::string look_playbook() { return std::string{kLook}; }

Result<Selection> select_stages(const Playbook& passed, const inventory::Inventory& inventory,
                                const inventory::Node& node, const Request& request) {
  if (std::ranges::any_of(passed.steps, &erases))
    return Error{Code::kInvalid,
                 fmt::format("run {} erased the machine's drives, which is not repeated by a "
                             "requalification; name a run that tested it (--since)",
                             request.run)};
  const auto& rules = burnin::requalify_rules();
  const auto& profile = inventory.profile_of(node);
  const auto reasons = reasons_of(passed, request, rules);
  TRY(const auto former, plan_of(passed, inventory, node));
  Selection selection;
  selection.whole_run = span_of(former);
  auto& playbook = selection.playbook;
  playbook.name = "requalify";
  playbook.file = "requalify";
  playbook.description = description_of(request);
  playbook.nodes_at_once = 1;
  for (auto step : passed.steps) {
    step.claims.clear();  // of rollouts over many nodes
    if (step.kind != StepKind::stage) {
      step.stop_after = {};
      const bool gives_back = step.kind == StepKind::hand_off && !request.hands_over;
      if (is_frame(step.kind) && !gives_back) playbook.steps.push_back(std::move(step));
      continue;
    }
    if (!is_done_here(step, inventory, node)) continue;
    ++selection.stages;
    sort_stage(std::move(step), reasons, request, selection);
  }
  for (const auto& [base, why] : reasons) selection.voided.push_back(base);
  for (const auto& [base, why] : request.needed)
    if (!reasons.contains(base)) selection.elsewhere.push_back(base);
  if (selection.is_empty()) return selection;
  if (auto whole = whole_stage(profile, reasons)) {
    selection.whole = whole->name;
    playbook.steps.insert(place_of_whole(playbook.steps), *std::move(whole));
  }
  TRY(settle_playbook(selection));
  TRY(const auto plan, plan_of(playbook, inventory, node));
  selection.takes = span_of(plan);
  for (auto& each : selection.again) each.expected = span_of(plan, each.stage);
  return selection;
}

}  // namespace cupel::requalify
