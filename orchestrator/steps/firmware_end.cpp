#include "orchestrator/steps/firmware_end.h"

#include <fmt/format.h>

#include "inventory/model.h"
#include "inventory/node.h"
#include "playbooks/plan.h"

namespace cupel::steps {
namespace {

std::string words_for(const std::vector<firmware::UpdateDone>& done) {
  if (done.empty()) return "at the baseline: nothing to do";
  std::string text = "brought to the baseline:";
  for (const auto& one : done)
    text += fmt::format("{} {} {}", &one == done.data() ? "" : ",", one.component, one.version);
  return text;
}

/// report/advice.cpp knows the way on from these.
bool has_advice(const engine::StepEnd& end) {
  const auto* code = end.found.if_contains("error");
  if (code == nullptr || !code->is_string()) return false;
  const std::string_view word{code->get_string().data(), code->get_string().size()};
  return word == to_string(Code::kRefused) || word == to_string(Code::kUntrusted);
}

}  // namespace

Task<Result<engine::StepEnd>> with_next_command(const engine::StepRequest& request,
                                                Task<Result<engine::StepEnd>> step) {
  auto end = co_await std::move(step);
  if (!end || end->outcome == engine::Outcome::done) co_return end;
  if (end->found.contains("hands") || has_advice(*end)) co_return end;
  ask_for(*end, {{.action = named_for(request.node,
                                      "see what runs, and what was begun (cupel firmware show "
                                      "NODE), and do what the step's words say"),
                  .part = {},
                  .goes_on = false}});
  co_return end;
}

boost::json::array to_json(const std::vector<firmware::UpdateDone>& done) {
  boost::json::array list;
  for (const auto& one : done) {
    boost::json::array replaced;
    for (const auto& version : one.replaced)
      replaced.push_back({{"id", version.id}, {"version", version.version}});
    list.push_back({{"component", one.component},
                    {"version", one.version},
                    {"replaced", std::move(replaced)}});
  }
  return list;
}

Task<Result<void>> check_free(StepEnvironment& environment, const engine::StepRequest& request) {
  const auto found = environment.scheduler_for(request.node);
  if (!found) co_return ok();
  auto& scheduler = *found;
  const auto& profile = environment.inventory.profile_of(request.node);
  CO_TRY(const auto node, co_await scheduler.look(request.node, profile, request.deadline));
  if (node.drained && !node.busy) co_return ok();
  co_return Error{
      Code::kInvalid,
      fmt::format("{} {} in {}: the playbook needs slurm-drain before {}", node.name,
                  node.busy ? "has jobs" : "is not drained", scheduler.name(), request.step.name)};
}

Result<std::optional<inventory::MaintenanceWindow>> window_of(const engine::StepRequest& request) {
  const auto given = request.step.with.find("window");
  return inventory::maintenance_window(given == request.step.with.end() ? "" : given->second);
}

engine::StepEnd written_to_baseline(const std::vector<firmware::UpdateDone>& written) {
  boost::json::object found;
  if (!written.empty()) found["firmware"] = to_json(written);
  return done(words_for(written), std::move(found));
}

}  // namespace cupel::steps
