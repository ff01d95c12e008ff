#include "orchestrator/record/node_record.h"

#include "orchestrator/record/codec.h"

namespace cupel::record {
namespace {

using engine::Event;
using engine::EventKind;

std::string text(const Event& event, std::string_view key) {
  const auto* value = event.data.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

StepRecord& step_of(NodeRecord& record, const Event& event) {
  const auto found = std::ranges::find(record.steps, event.step, &StepRecord::name);
  if (found != record.steps.end()) return *found;
  record.steps.push_back({event.step});
  record.steps.back().began = event.time;
  return record.steps.back();
}

/// Scalars that a step found out about the machine: "bmc.version".
void take_facts(NodeRecord& record, const Event& event) {
  const auto* facts = event.data.if_contains("facts");
  if (facts == nullptr || !facts->is_object()) return;
  for (const auto& [name, value] : facts->get_object())
    if (value.is_string()) record.facts[std::string{name}] = value.get_string();
}

/// What a step found is told by the keys that it wrote, so that no step's name is known here.
void take_findings(NodeRecord& record, const Event& event) {
  if (event.data.contains("measurements")) record.findings[event.step] = findings_from(event.data);
  if (const auto hash = text(event, "evidence"); !hash.empty()) record.evidence[event.step] = hash;
  if (const auto* parts = event.data.if_contains("bmc_parts")) {
    record.bmc_parts = parts_from(parts);
    record.bmc_told = true;
    record.system_serial = text(event, "system_serial");
  }
  if (const auto* findings = event.data.if_contains("audit")) record.audit = audit_from(findings);
  if (event.data.contains("verdict")) record.verdict = verdict_from(event.data);
  if (const auto slurm = text(event, "slurm"); !slurm.empty()) {
    record.hand_off = slurm;
    record.hand_off_detail = text(event, "reason");
  }
}

/// A failed step and all behind it are to be done again; what they found stays until then.
void want_again(NodeRecord& record, const Event& event) {
  const auto from = std::ranges::find(record.steps, text(event, "from"), &StepRecord::name);
  for (auto step = from; step != record.steps.end(); ++step) {
    step->outcome.clear();
    step->ended = {};
  }
}

/// What moves a step on; a halt or a person's wish only names one.
bool is_of_a_step(EventKind kind) {
  return kind == EventKind::step_began || kind == EventKind::step_retried ||
         kind == EventKind::step_skipped || kind == EventKind::step_ended ||
         kind == EventKind::step_approved;
}

}  // namespace

NodeRecord fold_node(std::string node, const std::vector<Event>& events) {
  NodeRecord record;
  record.node = std::move(node);
  for (const auto& event : events) {
    if (event.kind == EventKind::node_retried) want_again(record, event);
    const bool refused = event.data.contains("refused");  // a wish that made no sense
    if (event.step.empty() || refused || !is_of_a_step(event.kind)) continue;
    auto& step = step_of(record, event);
    if (event.kind == EventKind::step_began) {
      ++step.attempts;
      step.outcome.clear();  // a person wanted it again
      step.ended = {};
    }
    if (event.kind == EventKind::step_approved && step.outcome.empty()) {
      step.outcome = "done";
      step.detail = "approved by " + text(event, "by");
      step.ended = event.time;
    }
    if (event.kind == EventKind::step_retried) step.detail = text(event, "why");
    if (event.kind == EventKind::step_skipped) {
      step.outcome = "skipped";
      step.detail = text(event, "why");
      if (const auto by = text(event, "by"); !by.empty()) step.detail += " (" + by + ")";
      step.ended = event.time;
    }
    if (event.kind != EventKind::step_ended) continue;
    step.outcome = text(event, "outcome");
    step.error = text(event, "error");
    take_facts(record, event);
    step.detail = text(event, "detail");
    step.ended = event.time;
    step.hung = event.data.contains("hung");
    take_findings(record, event);
  }
  return record;
}

Result<NodeRecord> node_record(const store::Store& store, engine::RunId run,
                               const std::string& node) {
  TRY(const auto events, store.events(run, node));
  return fold_node(node, events);
}

}  // namespace cupel::record
