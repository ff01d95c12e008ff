#include "orchestrator/report/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "orchestrator/engine/event_data.h"
#include "orchestrator/report/summary.h"

namespace cupel::report {
namespace {

using engine::Event;
using engine::EventKind;
using engine::text_in;
using std::chrono::milliseconds;

Pairs pairs_in(const Event& event, std::string_view key) {
  Pairs pairs;
  const auto* value = event.data.if_contains(key);
  if (value == nullptr || !value->is_object()) return pairs;
  for (const auto& [name, text] : value->get_object())
    if (text.is_string()) pairs.emplace_back(name, text.get_string());
  return pairs;
}

std::string_view deed_of(EventKind kind) {
  switch (kind) {
    case EventKind::step_skipped:
      return "skipped";
    case EventKind::step_approved:
      return "approved";
    case EventKind::node_retried:
      return "asked for a retry";
    case EventKind::run_paused:
      return "paused";
    case EventKind::run_unpaused:
      return "continued";
    case EventKind::run_released:
      return "released the halt";
    case EventKind::run_cancelled:
      return "cancelled";
    case EventKind::run_resumed:
      return "resumed";
    default:
      return {};
  }
}

std::optional<Deed> deed_in(const Event& event) {
  const auto what = deed_of(event.kind);
  const auto by = text_in(event, "by");
  if (what.empty() || by.empty() || by == engine::kByItself || event.data.contains("refused"))
    return std::nullopt;
  Deed deed{event.time, by, std::string{what}, event.node, event.step, text_in(event, "why")};
  if (deed.step.empty()) deed.step = text_in(event, "step");
  if (deed.step.empty()) deed.step = text_in(event, "from");
  return deed;
}

void take_begin(Provenance& all, const Event& event) {
  all.begun_by = text_in(event, "by");
  all.host = text_in(event, "host");
  all.versions = pairs_in(event, "versions");
  all.parameters = pairs_in(event, "parameters");
  all.profiles = pairs_in(event, "profiles_sha256");
  all.playbook_sha256 = text_in(event, "playbook_sha256");
  all.inventory_sha256 = text_in(event, "inventory_sha256");
}

/// What the controller has noticed of the clock; else, where it went back, by at least how much.
milliseconds set_by(const Event& event, engine::WallTime before) {
  const auto* noticed = event.data.if_contains("clock_set_ms");
  if (noticed != nullptr && noticed->is_int64()) return milliseconds{noticed->get_int64()};
  return std::min(event.time - before, milliseconds{0});
}

boost::json::object to_json(const Pairs& pairs) {
  boost::json::object object;
  for (const auto& [name, value] : pairs) object[name] = value;
  return object;
}

boost::json::object to_json(const Deed& deed) {
  boost::json::object object{{"at", utc(deed.at)}, {"by", deed.by}, {"what", deed.what}};
  if (!deed.node.empty()) object["node"] = deed.node;
  if (!deed.step.empty()) object["step"] = deed.step;
  if (!deed.why.empty()) object["why"] = deed.why;
  return object;
}

}  // namespace

Provenance provenance_of(const std::vector<Event>& events) {
  Provenance all;
  all.events = static_cast<std::int64_t>(events.size());
  if (!events.empty()) all.head = events.back().hash;
  auto before = events.empty() ? engine::WallTime{} : events.front().time;
  for (const auto& event : events) {
    if (event.kind == EventKind::run_started) take_begin(all, event);
    if (auto deed = deed_in(event)) all.deeds.push_back(std::move(*deed));
    if (const auto by = set_by(event, std::exchange(before, event.time)); by != milliseconds{0})
      all.clock_sets.push_back({event.sequence, by});
  }
  return all;
}

milliseconds undo_clock_sets(std::vector<Event>& events) {
  if (events.empty()) return milliseconds{0};
  const auto began = events.front().time;
  auto before = began, dated = began;
  for (auto& event : events) {
    const auto passed = event.time - before - set_by(event, before);
    before = event.time;
    dated += std::max(passed, milliseconds{0});
    event.time = dated;
  }
  return dated - began;
}

boost::json::object to_json(const Provenance& provenance) {
  boost::json::array deeds, sets;
  for (const auto& deed : provenance.deeds) deeds.push_back(to_json(deed));
  for (const auto& set : provenance.clock_sets)
    sets.push_back({{"event", set.sequence}, {"seconds", set.by.count() / 1000}});
  return {{"begun_by", provenance.begun_by},
          {"host", provenance.host},
          {"versions", to_json(provenance.versions)},
          {"parameters", to_json(provenance.parameters)},
          {"playbook_sha256", provenance.playbook_sha256},
          {"inventory_sha256", provenance.inventory_sha256},
          {"profiles_sha256", to_json(provenance.profiles)},
          {"people", std::move(deeds)},
          {"clock_set", std::move(sets)},
          {"journal", {{"events", provenance.events}, {"head", provenance.head}}}};
}

std::string clock_text(const Provenance& provenance) {
  std::string text;
  for (const auto& set : provenance.clock_sets)
    text += fmt::format("{}{} {} before event {}", text.empty() ? "" : ", ",
                        span_text(std::chrono::abs(set.by)),
                        set.by > milliseconds{0} ? "forward" : "back", set.sequence);
  return text;
}

}  // namespace cupel::report
