#include "orchestrator/api/live_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "burnin/consequences.h"
#include "burnin/verdict_text.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/engine/fold_next.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/store/evidence.h"

namespace cupel::api {
namespace {

using engine::Event;
using engine::EventKind;
using Phase = engine::StepState::Phase;

constexpr std::size_t kEventsAtOnce = 2000;
constexpr std::size_t kLongestCause = 300;

int int_at(const boost::json::object& object, std::string_view key, int otherwise) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_int64() ? static_cast<int>(value->get_int64()) : otherwise;
}

std::string text_at_key(const boost::json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

/// What the fold and the views of it read of an event that is over.
void keep_small(boost::json::object& data) {
  constexpr std::string_view kKept[] = {"outcome", "detail", "why",  "by",     "command", "refused",
                                        "because", "step",   "from", "handle", "until",   "error"};
  boost::json::object small;
  for (const auto key : kKept)
    if (auto* value = data.if_contains(key)) small[key] = std::move(*value);
  data = std::move(small);
}

}  // namespace

RunHead run_head(const boost::json::object& first) {
  RunHead head;
  const auto* nodes = first.if_contains("nodes");
  if (nodes != nullptr && nodes->is_array())
    for (const auto& each : nodes->get_array()) {
      if (!each.is_object()) continue;
      const auto& node = each.get_object();
      auto name = text_at_key(node, "name");
      head.places[name] = {text_at_key(node, "rack"), int_at(node, "unit", 0),
                           int_at(node, "height", 1), text_at_key(node, "profile")};
      head.order.push_back(std::move(name));
    }
  for (const auto* key : {"racks", "site", "by", "rehearsal", "steps", "parameters"})
    if (const auto* value = first.if_contains(key)) head.begin[key] = *value;
  return head;
}

std::string cause_line(const burnin::Verdict& verdict) {
  const auto explained = burnin::explained(verdict.causes);
  if (explained.empty()) return {};
  return shortened_at_word(printable(burnin::to_string(explained.front().cause)), kLongestCause);
}

Result<void> LiveRun::catch_up(const store::JournalReader& journal) {
  for (;;) {
    TRY(const auto page, journal.page({.run = run_, .after = sequence_, .most = kEventsAtOnce}));
    for (const auto& each : page) take(each);
    if (page.size() < 2) return ok();
  }
}

void LiveRun::take(const store::EventText& text) {
  sequence_ = text.sequence;
  tip_ = text.hash;
  const auto kind = engine::event_kind(text.kind);
  auto data = parse_json(text.data);
  if (!kind || !data) return;  // for `cupel store verify`, not for a page
  auto& event = events_.emplace_back();
  event.kind = *kind;
  event.node = text.node;
  event.step = text.step;
  event.time = text.time;
  event.sequence = text.sequence;
  if (data->is_object()) event.data = std::move(data->get_object());
  if (event.kind == EventKind::run_started) head_ = run_head(event.data);
  if (const auto* command = event.data.if_contains("command"); command && command->is_int64())
    answers_.push_back({command->get_int64(), text_at_key(event.data, "refused")});
  engine::fold_next(folded_, event);
  if (event.kind == EventKind::step_ended) take_end(event);
  if (const auto node = folded_.state.nodes.find(event.node); node != folded_.state.nodes.end()) {
    node->second.facts.clear();
    folded_.trace.nodes.find(event.node)->second.ends.clear();
  }
  keep_small(event.data);
}

void LiveRun::take_end(Event& event) {
  store::note_evidence(event.data, evidence_[event.node]);
  if (event.data.contains("verdict")) verdicts_[event.node] = record::verdict_from(event.data);
}

const burnin::Verdict* LiveRun::verdict(std::string_view node) const {
  const auto found = verdicts_.find(node);
  return found == verdicts_.end() ? nullptr : &found->second;
}

std::string LiveRun::cause(std::string_view node) const {
  if (const auto* judged = verdict(node)) return cause_line(*judged);
  const auto trace = folded_.trace.nodes.find(node);
  if (trace == folded_.trace.nodes.end()) return {};
  const auto& steps = folded_.state.nodes.find(node)->second.steps;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].phase == Phase::failed)
      return shortened_at_word(
          printable(fmt::format("{}: {}", trace->second.steps[i].name, steps[i].detail)),
          kLongestCause);
  return {};
}

bool LiveRun::over() const {
  const auto phase = folded_.state.phase;
  return phase == engine::RunPhase::ended || phase == engine::RunPhase::cancelled;
}

LiveRun::Standing LiveRun::standing(std::string_view node) const {
  Standing standing{"waiting"};
  const auto trace = folded_.trace.nodes.find(node);
  const auto* judged = verdict(node);
  if (trace != folded_.trace.nodes.end()) {
    const auto& steps = folded_.state.nodes.find(node)->second.steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto& step = steps[i];
      const auto& traced = trace->second.steps[i];
      if (traced.moved == nullptr) continue;
      if (step.over()) ++standing.done;
      const bool stuck = step.phase == Phase::failed;
      if (step.phase != Phase::running && !traced.between_tries && !stuck) continue;
      standing.step = &traced;
      standing.at = &step;
      standing.state = traced.between_tries ? "between-tries" : "running";
      if (!stuck) continue;
      standing.state =
          step.outcome == engine::Outcome::needs_operator ? "needs-operator" : "failed";
    }
  }
  const bool works = standing.state == "running" || standing.state == "between-tries";
  if (judged != nullptr && (over() || !works)) standing.state = to_string(judged->decision);
  if (judged == nullptr && over()) {
    const auto planned = folded_.trace.steps.size();
    const bool all_done = standing.state == "waiting" && standing.done == planned && planned > 0;
    standing.state = to_string(all_done ? burnin::Decision::pass : burnin::Decision::inconclusive);
  }
  return standing;
}

Result<LiveRun*> LiveRuns::of(engine::RunId run, const store::JournalReader& journal) {
  const auto found = std::ranges::find(runs_, run, [](const auto& each) { return each->run(); });
  if (found != runs_.end()) {
    auto known = std::move(*found);
    runs_.erase(found);
    runs_.push_front(std::move(known));
  } else {
    runs_.push_front(std::make_unique<LiveRun>(run));
    if (runs_.size() > kMost) runs_.pop_back();
  }
  TRY(runs_.front()->catch_up(journal));
  return runs_.front().get();
}

}  // namespace cupel::api
