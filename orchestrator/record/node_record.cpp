#include "orchestrator/record/node_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/enum_words.h"
#include "base/json.h"
#include "burnin/companions.h"
#include "burnin/stage.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/engine/fold.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/series_codec.h"
#include "orchestrator/store/group_document.h"

namespace cupel::record {
namespace {

using engine::Event;
using engine::EventKind;
using engine::text_in;

Skipped skipped_because(const Event& event) {
  const auto word = text_in(event, "because");
  const auto known = enum_of<Skipped, '-'>(word);
  if (known && known != Skipped::no) return *known;
  return text_in(event, "by").empty() ? Skipped::unknown : Skipped::person;
}

void skip(StepRecord& step, const Event& event) {
  step.outcome = "skipped";
  step.skipped = skipped_because(event);
  if (const auto by = text_in(event, "by"); !by.empty())
    step.detail = "skipped by " + by + (step.detail.empty() ? "" : ": " + step.detail);
}

/// Where the step stands, and why: reported by the event that brought it there.
StepRecord step_record(const engine::StepState& state, const engine::StepTrace& trace) {
  StepRecord step{trace.name};
  step.detail = state.detail;
  step.attempts = state.attempt;
  step.revivals = trace.revivals;
  step.began = trace.met;
  if (!state.over()) return step;
  step.ended = state.ended;
  if (state.phase == engine::StepState::Phase::skipped) {
    skip(step, *trace.moved);
    return step;
  }
  step.outcome = to_string(state.outcome);
  step.error = text_in(*trace.moved, "error");
  step.needs = needed_from(trace.moved->data.if_contains("hands"));
  step.hung = trace.moved->data.contains("hung");
  return step;
}

/// Scalars that a step found out about the machine: "bmc.version".
void take_facts(NodeRecord& record, const Event& event) {
  const auto* facts = event.data.if_contains("facts");
  if (facts == nullptr || !facts->is_object()) return;
  for (const auto& [name, value] : facts->get_object())
    if (value.is_string()) record.facts[std::string{name}] = value.get_string();
}

/// What a log gained is read once. Where its step comes again without a person's word, the next
/// reading does not take its place: nothing says that what was found is mended.
class FormerLogs {
 public:
  explicit FormerLogs(NodeRecord& record) : record_{record} {}

  void tried_by_a_person() { ++repairs_; }

  /// `log` is read again.
  void keep(const std::string& log) {
    const auto [read, fresh] = read_after_.try_emplace(log, repairs_);
    if (fresh) return;
    const bool may_be_mended = std::exchange(read->second, repairs_) != repairs_;
    if (may_be_mended) return forget(log);
    const auto found = record_.findings.find(log);
    if (found == record_.findings.end()) return;
    // What could not be read then is in a later reading.
    if (found->second.measurements.empty() || gained_nothing(found->second)) return;
    const auto name = former_log_name(log, ++kept_[log]);
    record_.findings[name] = std::move(found->second);
    if (const auto hash = record_.evidence.find(log); hash != record_.evidence.end())
      record_.evidence[name] = std::move(hash->second);
    record_.findings.erase(found);
  }

 private:
  void forget(const std::string& log) {
    for (auto& kept = kept_[log]; kept > 0; --kept) {
      record_.findings.erase(former_log_name(log, kept));
      record_.evidence.erase(former_log_name(log, kept));
    }
  }

  NodeRecord& record_;
  int repairs_ = 0;
  std::map<std::string, int, std::less<>> read_after_{}, kept_{};
};

/// A log that was read after a stage is a stage of its own: judged by itself, whatever came of the
/// other.
void take_log(NodeRecord& record, FormerLogs& former, const Event& event, std::string_view key,
              const std::string& name) {
  const auto* log = event.data.if_contains(key);
  if (log == nullptr || !log->is_object()) return;
  former.keep(name);
  record.findings[name] = findings_from(log->get_object());
  const auto* hash = log->get_object().if_contains("evidence");
  if (hash != nullptr && hash->is_string()) record.evidence[name] = hash->get_string();
}

void take_logs(NodeRecord& record, FormerLogs& former, const Event& event) {
  if (const auto mark = text_in(event, "log_mark"); !mark.empty())
    record.evidence["log_mark"] = mark;
  if (event.data.contains("kernel_log_mark"))
    record.kernel_log_mark = text_in(event, "kernel_log_mark");
  take_log(record, former, event, "log", burnin::bmc_log_name(event.step));
  take_log(record, former, event, "kernel_log", burnin::kernel_log_name(event.step));
}

/// What worked beside a stage is judged by itself, too. Its evidence is the stage's.
void take_companions(NodeRecord& record, const Event& event) {
  const auto* beside = event.data.if_contains("beside");
  if (beside == nullptr || !beside->is_object()) return;
  for (const auto& [companion, found] : beside->get_object()) {
    if (!found.is_object()) continue;
    const auto name = burnin::companion_name(companion, event.step);
    record.findings[name] = findings_from(found.get_object());
    record.companions.insert(name);
    const auto evidence = record.evidence.find(event.step);
    if (evidence != record.evidence.end()) record.evidence[name] = evidence->second;
  }
}

/// What a step found is reported by the keys that it wrote, so that no step's name is known here.
void take_findings(NodeRecord& record, FormerLogs& former, const Event& event) {
  if (event.data.contains("measurements")) {
    if (burnin::is_log(event.step)) former.keep(event.step);
    record.findings[event.step] = findings_from(event.data);
  }
  if (const auto hash = text_in(event, "evidence"); !hash.empty()) {
    record.evidence[event.step] = hash;
    record.evidence.erase(series_name(event.step));  // of an earlier attempt
  }
  if (const auto* series = event.data.if_contains("series"))
    if (const auto hash = text_at(*series, "evidence"))
      record.evidence[series_name(event.step)] = *hash;
  if (const auto* parts = event.data.if_contains("bmc_parts")) {
    record.bmc_parts = parts_from(parts);
    record.bmc_reported = true;
    record.bmc_partial = partial_from(event.data.if_contains("bmc_partial"));
    record.system_serial = text_in(event, "system_serial");
  }
  if (const auto* findings = event.data.if_contains("audit")) {
    record.audit = audit_from(findings);
    record.floor = floor_from(event.data.if_contains("security_floor"));
  }
  if (event.data.contains("verdict")) record.verdict = verdict_from(event.data);
  for (const auto* scheduler : {"slurm", "kubernetes"}) {
    const auto handed = text_in(event, scheduler);
    if (handed.empty()) continue;
    record.hand_off = handed;
    record.hand_off_detail = text_in(event, "reason");
  }
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
    const auto mine = store::found_on(known[hash], event.node);
    event.data.erase("evidence");
    if (!mine) {
      if (text_in(event, "outcome") != "done") continue;  // another's end was its own
      // Nothing proves any more what was found.
      event.data["outcome"] = "failed";
      event.data["detail"] = "what was found cannot be read: evidence " + hash;
      continue;
    }
    for (const auto& [key, value] : *mine) event.data[key] = value;
  }
}

bool gained_nothing(const burnin::Findings& log) {
  return log.unknown.empty() && std::ranges::all_of(log.measurements, [](const auto& each) {
           return each.name == "kernel_log.complete" ? each.value != 0 : each.value == 0;
         });
}

std::string former_log_name(std::string_view log, int which) {
  return fmt::format("{}@before-retry{}", log, which == 1 ? "" : fmt::format("-{}", which));
}

std::string_view to_string(Skipped skipped) { return enum_word<'-'>(skipped); }

NodeRecord record_of(const std::string& node, const engine::FoldedRun& run) {
  NodeRecord record;
  record.node = node;
  const auto trace = run.trace.nodes.find(node);
  if (trace == run.trace.nodes.end()) return record;
  const auto& steps = run.state.nodes.at(node).steps;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (trace->second.steps[i].moved != nullptr)
      record.steps.push_back(step_record(steps[i], trace->second.steps[i]));
  FormerLogs former{record};
  auto tried = trace->second.tried_by_people.begin();
  const auto& ends = trace->second.ends;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    for (; tried != trace->second.tried_by_people.end() && *tried <= i; ++tried)
      former.tried_by_a_person();
    take_facts(record, *ends[i]);
    take_findings(record, former, *ends[i]);
    take_companions(record, *ends[i]);
    take_logs(record, former, *ends[i]);
  }
  return record;
}

Result<NodeRecord> node_record(const store::Store& store, engine::RunId run,
                               const std::string& node) {
  TRY(auto events, store.events(run, node));
  hand_out(store, events);
  return record_of(node, engine::fold(events));
}

}  // namespace cupel::record
