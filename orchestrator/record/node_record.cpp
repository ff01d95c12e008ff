#include "orchestrator/record/node_record.h"

#include <array>

#include "base/json.h"
#include "burnin/stage.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/engine/former_words.h"
#include "orchestrator/record/codec.h"

namespace cupel::record {
namespace {

using engine::Event;
using engine::EventKind;
using engine::text_in;

constexpr std::array<std::pair<Skipped, std::string_view>, 7> kSkipped{{
    {Skipped::no, "no"},
    {Skipped::unknown, "unknown"},
    {Skipped::condition, "condition"},
    {Skipped::untold, "untold"},
    {Skipped::partner, "partner"},
    {Skipped::person, "person"},
    {Skipped::failure, "failure"},
}};

Skipped skipped_because(const Event& event) {
  const auto word = text_in(event, "because");
  for (const auto& [known, name] : kSkipped)
    if (name == word && known != Skipped::no) return known;
  return text_in(event, "by").empty() ? Skipped::unknown : Skipped::person;
}

void skip(StepRecord& step, const Event& event) {
  step.outcome = "skipped";
  step.skipped = skipped_because(event);
  step.detail = text_in(event, "why");
  if (const auto by = text_in(event, "by"); !by.empty())
    step.detail = "skipped by " + by + (step.detail.empty() ? "" : ": " + step.detail);
  step.ended = event.time;
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

/// The BMC's log after a stage is a stage of its own: judged by itself, whatever came of the other.
void take_log(NodeRecord& record, const Event& event) {
  if (const auto mark = text_in(event, "log_mark"); !mark.empty())
    record.evidence["log_mark"] = mark;
  const auto* log = event.data.if_contains("log");
  if (log == nullptr || !log->is_object()) return;
  const auto name = burnin::bmc_log_name(event.step);
  record.findings[name] = findings_from(log->get_object());
  const auto* hash = log->get_object().if_contains("evidence");
  if (hash != nullptr && hash->is_string()) record.evidence[name] = hash->get_string();
}

/// What a step found is told by the keys that it wrote, so that no step's name is known here.
void take_findings(NodeRecord& record, const Event& event) {
  if (event.data.contains("measurements")) record.findings[event.step] = findings_from(event.data);
  if (const auto hash = text_in(event, "evidence"); !hash.empty())
    record.evidence[event.step] = hash;
  if (const auto* parts = event.data.if_contains("bmc_parts")) {
    record.bmc_parts = parts_from(parts);
    record.bmc_told = true;
    record.system_serial = text_in(event, "system_serial");
  }
  if (const auto* findings = event.data.if_contains("audit")) record.audit = audit_from(findings);
  if (event.data.contains("verdict")) record.verdict = verdict_from(event.data);
  if (const auto slurm = text_in(event, "slurm"); !slurm.empty()) {
    record.hand_off = slurm;
    record.hand_off_detail = text_in(event, "reason");
  }
}

/// A failed step and all behind it are to be done again; what they found stays until then.
void want_again(NodeRecord& record, const Event& event) {
  const auto from = std::ranges::find(record.steps, text_in(event, "from"), &StepRecord::name);
  const bool by_itself = text_in(event, "by") == kByItself;
  for (auto& step : record.steps) {
    const bool failed =
        !step.outcome.empty() && step.outcome != "done" && step.outcome != "skipped";
    if (!failed) continue;
    // Of the first that failed: for its sake the node is taken up again.
    if (by_itself) ++step.revivals;
    break;
  }
  for (auto step = from; step != record.steps.end(); ++step) {
    step->outcome.clear();
    step->skipped = Skipped::no;
    step->needs.clear();
    step->ended = {};
  }
}

/// What moves a step on; a halt or a person's wish only names one.
bool is_of_a_step(EventKind kind) {
  return kind == EventKind::step_began || kind == EventKind::step_retried ||
         kind == EventKind::step_skipped || kind == EventKind::step_ended ||
         kind == EventKind::step_approved || kind == EventKind::step_stopped;
}

/// The document that a group's events name: what was found on each of its nodes.
json::object shares_of(const store::Store& store, const Event& event) {
  const auto bytes = store.evidence(text_in(event, "evidence"));
  if (!bytes) return {};
  auto parsed = parse_json(*bytes);
  if (!parsed || !parsed->is_object()) return {};
  return (*std::move(parsed)).as_object();
}

}  // namespace

void hand_out(const store::Store& store, std::vector<Event>& events) {
  std::map<std::string, json::object> known;
  for (auto& event : events) {
    const bool shared = event.kind == EventKind::step_ended && event.data.contains("together");
    if (!shared) continue;
    const auto hash = text_in(event, "evidence");
    if (!known.contains(hash)) known[hash] = shares_of(store, event);
    const auto* mine = known[hash].if_contains(event.node);
    event.data.erase("evidence");
    if (mine == nullptr || !mine->is_object()) {
      if (text_in(event, "outcome") != "done") continue;  // another's end was its own
      // Nothing proves any more what was found.
      event.data["outcome"] = "failed";
      event.data["detail"] = "what was found cannot be read: evidence " + hash;
      continue;
    }
    for (const auto& [key, value] : mine->get_object()) event.data[key] = value;
  }
}

std::string_view to_string(Skipped skipped) {
  for (const auto& [known, word] : kSkipped)
    if (known == skipped) return word;
  __builtin_unreachable();
}

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
      step.skipped = Skipped::no;
      step.needs.clear();
      step.ended = {};
    }
    if (event.kind == EventKind::step_approved && step.outcome.empty()) {
      step.outcome = "done";
      step.detail = "approved by " + text_in(event, "by");
      step.ended = event.time;
    }
    const bool half_done =
        event.kind == EventKind::step_retried || event.kind == EventKind::step_stopped;
    if (half_done) step.detail = text_in(event, "why");
    if (event.kind == EventKind::step_skipped) skip(step, event);
    if (event.kind != EventKind::step_ended) continue;
    step.outcome = engine::present_word(engine::kFormerOutcomes, text_in(event, "outcome"));
    step.error = text_in(event, "error");
    step.needs = needed_from(event.data.if_contains("hands"));
    take_facts(record, event);
    step.detail = text_in(event, "detail");
    step.ended = event.time;
    step.hung = event.data.contains("hung");
    take_findings(record, event);
    take_log(record, event);
  }
  return record;
}

Result<NodeRecord> node_record(const store::Store& store, engine::RunId run,
                               const std::string& node) {
  TRY(auto events, store.events(run, node));
  hand_out(store, events);
  return fold_node(node, events);
}

}  // namespace cupel::record
