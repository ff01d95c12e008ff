#include "orchestrator/api/otlp_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "orchestrator/api/live_run.h"
#include "orchestrator/controller/event_words.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/record/codec.h"

namespace cupel::api {
namespace {

using engine::Event;
using engine::EventKind;
using engine::WallTime;

constexpr std::size_t kTraceDigits = 32, kSpanDigits = 16;  // of 16 and 8 bytes
constexpr std::size_t kPointsAMetric = 1000;
constexpr int kInternal = 1, kStatusError = 2;  // SPAN_KIND_INTERNAL, STATUS_CODE_ERROR

/// SeverityNumber of logs.proto, with its text.
struct Severity {
  int number;
  std::string_view text;
};
constexpr Severity kInfo{9, "INFO"}, kWarning{13, "WARN"}, kError{17, "ERROR"};

std::string_view verdict_in(const Event& event) {
  const auto* verdict = event.data.if_contains("verdict");
  return verdict != nullptr && verdict->is_string() ? std::string_view{verdict->get_string()}
                                                    : std::string_view{};
}

/// Whether a step's end is bad news: it could not do its work, or its verdict is no pass.
bool has_failed(const Event& event) {
  const auto verdict = verdict_in(event);
  return engine::text_in(event, "outcome") != "done" ||
         (!verdict.empty() && verdict != to_string(burnin::Decision::pass));
}

/// A step that only waits is tried again, too.
bool waits(const Event& event) {
  return event.kind == EventKind::step_retried && engine::text_in(event, "outcome") == "wait";
}

/// Each try is a span of its own.
bool ends_try(EventKind kind) {
  return kind == EventKind::step_ended || kind == EventKind::step_retried ||
         kind == EventKind::step_shed || kind == EventKind::step_stopped;
}

Severity severity_of(const Event& event) {
  switch (event.kind) {
    case EventKind::step_ended:
      return has_failed(event) ? kError : kInfo;
    case EventKind::run_halted:
      return kError;
    case EventKind::step_retried:
      return waits(event) ? kInfo : kWarning;
    case EventKind::step_overdue:
    case EventKind::step_shed:
    case EventKind::step_stopped:
    case EventKind::run_interrupted:
    case EventKind::run_cancelled:
      return kWarning;
    default:
      return event.data.contains("refused") ? kWarning : kInfo;
  }
}

/// "a01-n01 bmc-facts: done: read"; the kind where the event says nothing.
std::string line_of(const Event& event, std::string_view kind) {
  auto words = controller::words_of(event);
  if (const auto verdict = verdict_in(event); !verdict.empty()) {
    const auto cause = cause_line(record::verdict_from(event.data));
    words = fmt::format("{}{}{}", verdict, cause.empty() ? "" : ": ", cause);
  }
  if (words.empty()) words = kind;
  const auto* between = event.node.empty() || event.step.empty() ? "" : " ";
  const auto where = event.node + between + event.step;
  return where.empty() ? words : where + ": " + words;
}

/// A step that goes on.
struct OpenStep {
  std::string id{};
  WallTime began{};
  std::optional<WallTime> overdue{};
};

struct NodeTime {
  WallTime began{}, ended{};
  std::map<std::string, OpenStep, std::less<>> open{};  // by step
};

/// Reads the events of a run in their order.
class RunTelemetry {
 public:
  RunTelemetry(const store::Run& run, const LiveRun& live, std::string_view version,
               const std::string& first_hash, OtlpLimits limits)
      : run_{run}, live_{live}, limits_{limits}, requests_{resource_of(live, version), version} {
    trace_ = sha256_hex("trace\n" + first_hash).substr(0, kTraceDigits);
    root_ = span_id("", "", 0);
  }

  void take(const store::EventText& text);
  std::vector<OtlpRequest> finish(std::size_t dropped);

 private:
  static json::array resource_of(const LiveRun& live, std::string_view version);
  std::string span_id(std::string_view node, std::string_view step, std::int64_t sequence) const;
  json::array attributes_of(std::string_view node, std::string_view step) const;
  const std::string& span_of(const Event& event) const;
  void take_record(const Event& event, const store::EventText& text);
  void take_step(const Event& event);
  void end_step(const Event& event, NodeTime& node);
  void take_measurements(const Event& event);
  void add_span(json::object span);
  json::object span_with(const std::string& id, const std::string& parent, std::string name,
                         WallTime began, WallTime ended) const;
  void add_step_span(const std::string& node, const std::string& step, const OpenStep& open,
                     WallTime ended, const std::string& fault);
  void add_nodes();
  void add_run(std::size_t dropped);
  void add_metric(const std::string& name, const std::string& unit, json::array points);
  void add_run_metrics();
  WallTime end() const { return std::max({last_, run_.ended, run_.began}); }

  const store::Run& run_;
  const LiveRun& live_;
  OtlpLimits limits_;
  OtlpRequests requests_;
  std::string trace_{}, root_{};
  WallTime last_{};
  std::map<std::string, NodeTime, std::less<>> nodes_{};
  std::map<std::string, std::string> node_ids_{};
  std::map<std::pair<std::string, std::string>, json::array> points_{};  // by name and unit
  std::size_t spans_ = 1, records_ = 0, points_taken_ = 0;               // the run's span has room
  std::size_t spans_out_ = 0, records_out_ = 0, points_out_ = 0;         // left out
  std::size_t failed_ = 0;                                               // nodes
};

json::array RunTelemetry::resource_of(const LiveRun& live, std::string_view version) {
  const json::value begin = live.head().begin;
  auto resource = otlp_resource(version, text_at(begin, "site").value_or(""));
  if (flag_at(begin, "rehearsal").value_or(false))
    put_attribute(resource, "cupel.rehearsal", "true");
  return resource;
}

std::string RunTelemetry::span_id(std::string_view node, std::string_view step,
                                  std::int64_t sequence) const {
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}", trace_, node, step, sequence))
      .substr(0, kSpanDigits);
}

json::array RunTelemetry::attributes_of(std::string_view node, std::string_view step) const {
  json::array attributes;
  put_attribute(attributes, "cupel.run", run_.id);
  put_attribute(attributes, "cupel.playbook", run_.playbook);
  put_attribute(attributes, "cupel.node", node);
  put_attribute(attributes, "cupel.step", step);
  const auto place = live_.head().places.find(node);
  if (place != live_.head().places.end())
    put_attribute(attributes, "cupel.rack", place->second.rack);
  return attributes;
}

/// Of the step that goes on, of the node, or of the run.
const std::string& RunTelemetry::span_of(const Event& event) const {
  const auto node = nodes_.find(event.node);
  if (node == nodes_.end()) return root_;
  const auto open = node->second.open.find(event.step);
  return open == node->second.open.end() ? node_ids_.at(event.node) : open->second.id;
}

void RunTelemetry::take(const store::EventText& text) {
  last_ = std::max(last_, text.time);
  Event event;
  event.node = text.node;
  event.step = text.step;
  event.time = text.time;
  event.sequence = text.sequence;
  const auto kind = engine::event_kind(text.kind);
  auto data = parse_json(text.data);
  // Of a kind that only a newer version knows: a record without words.
  if (!kind) return take_record(event, text);
  event.kind = *kind;
  if (data && data->is_object()) event.data = std::move(data->get_object());
  if (event.kind == EventKind::step_began) take_step(event);
  take_record(event, text);
  if (event.kind != EventKind::step_began) take_step(event);
  if (event.kind == EventKind::step_ended) take_measurements(event);
}

void RunTelemetry::take_record(const Event& event, const store::EventText& text) {
  if (records_ == limits_.records) {
    ++records_out_;
    return;
  }
  ++records_;
  const bool is_known = engine::event_kind(text.kind).has_value();
  const auto severity = is_known ? severity_of(event) : kInfo;
  auto attributes = attributes_of(event.node, event.step);
  put_attribute(attributes, "cupel.event", text.kind);
  put_attribute(attributes, "cupel.event.sequence", event.sequence);
  put_attribute(attributes, "cupel.event.hash", text.hash);
  const auto line = is_known ? line_of(event, text.kind) : text.kind;
  requests_.add(OtlpSignal::logs, {{"timeUnixNano", otlp_time(event.time)},
                                   {"observedTimeUnixNano", otlp_time(event.time)},
                                   {"severityNumber", severity.number},
                                   {"severityText", severity.text},
                                   {"body", json::object{{"stringValue", otlp_text(line)}}},
                                   {"attributes", std::move(attributes)},
                                   {"traceId", trace_},
                                   {"spanId", span_of(event)}});
}

/// Follows the steps of a node; what is not of a step is no span.
void RunTelemetry::take_step(const Event& event) {
  const bool begins = event.kind == EventKind::step_began;
  if (event.node.empty() || event.step.empty()) return;
  if (begins && node_ids_.try_emplace(event.node, span_id(event.node, "", 0)).second)
    nodes_[event.node].began = event.time;
  const auto found = nodes_.find(event.node);
  if (found == nodes_.end()) return;
  auto& node = found->second;
  node.ended = std::max(node.ended, event.time);
  const auto open = node.open.find(event.step);
  if (begins) {
    if (open != node.open.end()) end_step(event, node);
    node.open[event.step] = {span_id(event.node, event.step, event.sequence), event.time};
  } else if (open != node.open.end() && ends_try(event.kind)) {
    end_step(event, node);
  } else if (open != node.open.end() && event.kind == EventKind::step_overdue) {
    open->second.overdue = event.time;
  }
}

void RunTelemetry::end_step(const Event& event, NodeTime& node) {
  auto open = node.open.extract(event.step);
  std::string fault;
  if (event.kind == EventKind::step_began)
    fault = "begun again before it ended";
  else if (event.kind == EventKind::step_ended ? has_failed(event) : !waits(event))
    fault = line_of(event, to_string(event.kind));
  add_step_span(event.node, event.step, open.mapped(), event.time, fault);
}

void RunTelemetry::add_step_span(const std::string& node, const std::string& step,
                                 const OpenStep& open, WallTime ended, const std::string& fault) {
  auto span = span_with(open.id, node_ids_.at(node), step, open.began, ended);
  span["attributes"] = attributes_of(node, step);
  if (open.overdue)
    span["events"] = json::array{json::object{{"timeUnixNano", otlp_time(*open.overdue)},
                                              {"name", to_string(EventKind::step_overdue)}}};
  if (!fault.empty())
    span["status"] = json::object{{"code", kStatusError}, {"message", otlp_text(fault)}};
  add_span(std::move(span));
}

/// A clock that was set back gives a span no negative time.
json::object RunTelemetry::span_with(const std::string& id, const std::string& parent,
                                     std::string name, WallTime began, WallTime ended) const {
  json::object span{{"traceId", trace_},
                    {"spanId", id},
                    {"name", otlp_text(name)},
                    {"kind", kInternal},
                    {"startTimeUnixNano", otlp_time(began)},
                    {"endTimeUnixNano", otlp_time(std::max(began, ended))}};
  if (!parent.empty()) span["parentSpanId"] = parent;
  return span;
}

void RunTelemetry::add_span(json::object span) {
  if (spans_ == limits_.spans) {
    ++spans_out_;
    return;
  }
  ++spans_;
  requests_.add(OtlpSignal::traces, span);
}

void RunTelemetry::take_measurements(const Event& event) {
  const auto* list = event.data.if_contains("measurements");
  if (list == nullptr || !list->is_array()) return;
  for (const auto& each : list->get_array()) {
    const auto name = text_at(each, "name");
    const auto value = number_at(each, "value");
    if (!name || !value || !std::isfinite(*value)) continue;
    if (points_taken_ == limits_.points) {
      ++points_out_;
      continue;
    }
    ++points_taken_;
    auto attributes = attributes_of(event.node, event.step);
    put_attribute(attributes, "cupel.part", text_at(each, "part").value_or(""));
    points_[{otlp_text("cupel.measure." + *name), otlp_text(text_at(each, "unit").value_or(""))}]
        .push_back(json::object{{"attributes", std::move(attributes)},
                                {"timeUnixNano", otlp_time(event.time)},
                                {"asDouble", *value}});
  }
}

void RunTelemetry::add_nodes() {
  for (const auto& [name, node] : nodes_) {
    for (const auto& [step, open] : node.open)
      add_step_span(name, step, open, end(), "it had not ended when the run did");
    auto span = span_with(node_ids_.at(name), root_, name, node.began,
                          node.open.empty() ? node.ended : end());
    const auto state = live_.standing(name).state;
    auto attributes = attributes_of(name, "");
    put_attribute(attributes, "cupel.state", state);
    span["attributes"] = std::move(attributes);
    if (state != to_string(burnin::Decision::pass)) {
      const auto cause = live_.cause(name);
      span["status"] =
          json::object{{"code", kStatusError},
                       {"message", otlp_text(cause.empty() ? std::string{state} : cause)}};
    }
    add_span(std::move(span));
  }
  for (const auto& name : run_.nodes)
    if (live_.standing(name).state != to_string(burnin::Decision::pass)) ++failed_;
}

/// The last: what was left out is known.
void RunTelemetry::add_run(std::size_t dropped) {
  auto span = span_with(root_, "", "run " + run_.playbook, run_.began, end());
  auto attributes = attributes_of("", "");
  put_attribute(attributes, "cupel.nodes", static_cast<std::int64_t>(run_.nodes.size()));
  put_attribute(attributes, "cupel.phase", to_string(run_.phase));
  for (const auto& [key, count] : {std::pair{"cupel.left_out.spans", spans_out_},
                                   {"cupel.left_out.records", records_out_},
                                   {"cupel.left_out.points", points_out_},
                                   {"cupel.dropped_runs", dropped}})
    if (count > 0) put_attribute(attributes, key, static_cast<std::int64_t>(count));
  span["attributes"] = std::move(attributes);
  std::string fault;
  if (run_.phase == engine::RunPhase::cancelled) fault = "cancelled";
  if (failed_ > 0)
    fault += fmt::format("{}{} of {} nodes did not pass", fault.empty() ? "" : ": ", failed_,
                         run_.nodes.size());
  if (!fault.empty()) span["status"] = json::object{{"code", kStatusError}, {"message", fault}};
  requests_.add(OtlpSignal::traces, span);
}

void RunTelemetry::add_metric(const std::string& name, const std::string& unit,
                              json::array points) {
  const auto count = points.size();
  json::object metric{{"name", name}, {"gauge", json::object{{"dataPoints", std::move(points)}}}};
  if (!unit.empty()) metric["unit"] = unit;
  requests_.add(OtlpSignal::metrics, metric, count);
}

void RunTelemetry::add_run_metrics() {
  const auto point = [&](std::string_view state, double value) {
    auto attributes = attributes_of("", "");
    put_attribute(attributes, "cupel.state", state);
    return json::object{{"attributes", std::move(attributes)},
                        {"timeUnixNano", otlp_time(end())},
                        {"asDouble", value}};
  };
  const std::chrono::duration<double> took = std::max(end() - run_.began, WallTime::duration{0});
  add_metric("cupel.run.duration", "s", json::array{point("", took.count())});
  std::map<std::string, double> states;
  for (const auto& node : run_.nodes) ++states[std::string{live_.standing(node).state}];
  json::array points;
  for (const auto& [state, count] : states) points.push_back(point(state, count));
  if (!points.empty()) add_metric("cupel.run.nodes", "{node}", std::move(points));
  for (auto& [key, all] : points_)
    for (std::size_t at = 0; at < all.size(); at += kPointsAMetric) {
      const auto behind = std::min(at + kPointsAMetric, all.size());
      add_metric(key.first, key.second, json::array(all.begin() + at, all.begin() + behind));
    }
}

std::vector<OtlpRequest> RunTelemetry::finish(std::size_t dropped) {
  add_nodes();
  add_run(dropped);
  add_run_metrics();
  return requests_.finish();
}

}  // namespace

Result<std::vector<OtlpRequest>> otlp_of_run(const store::Run& run,
                                             const store::JournalReader& journal,
                                             std::string_view version, std::size_t dropped,
                                             OtlpLimits limits) {
  constexpr std::size_t kEventsAPage = 2000;
  LiveRun live{run.id};
  TRY(live.catch_up(journal));
  if (live.sequence() > 0 && !live.over())
    return Error{Code::kConflict,
                 fmt::format("run {} is not over: cupel status {}", run.id, run.id)};
  std::optional<RunTelemetry> telemetry;
  for (std::int64_t at = 0;;) {
    TRY(const auto page, journal.page({.run = run.id, .after = at, .most = kEventsAPage}));
    if (page.empty()) break;
    if (!telemetry) telemetry.emplace(run, live, version, page.front().hash, limits);
    for (const auto& each : page) telemetry->take(each);
    at = page.back().sequence;
  }
  if (!telemetry)
    return Error{Code::kNotFound, fmt::format("run {} has no events in the journal", run.id)};
  return telemetry->finish(dropped);
}

}  // namespace cupel::api
