#include "orchestrator/api/event_text.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "orchestrator/controller/event_words.h"

namespace cupel::api {
namespace {

constexpr std::size_t kLongestWorded = 64u << 10;  // what is larger is findings, and says "done"
constexpr std::size_t kLongestMember = 1u << 10;

std::string json_text(std::string_view text) { return json::serialize(json::string{text}); }

json::object data_of(const store::EventText& text) {
  auto data = parse_json(text.data);
  return data && data->is_object() ? std::move(data->get_object()) : json::object{};
}

/// What the event says to people; empty where it says nothing.
std::string words_of_data(const store::EventText& text, json::object data) {
  engine::Event event;
  const auto kind = engine::event_kind(text.kind);
  if (!kind) return {};
  event.kind = *kind;
  event.node = text.node;
  event.step = text.step;
  event.data = std::move(data);
  return printable(controller::words_of(event));
}

/// Whoever reads a list wants to know how a step ended, not all that it found.
std::string short_members(const json::object& data) {
  std::string text = "{";
  for (const auto& [key, value] : data) {
    if (value.is_structured() || key.size() > kLongestMember) continue;
    if (value.is_string() && value.get_string().size() > kLongestMember) continue;
    const auto member = json_text(key) + ":" + json::serialize(value);
    if (text.size() + member.size() > kMostListedData) break;
    text += (text.size() > 1 ? "," : "") + member;
  }
  return text + "}";
}

std::string truncated_data(const store::EventText& event, const json::object& data) {
  return fmt::format("{},\"truncated\":{{\"bytes\":{},\"href\":\"/api/v1/runs/{}/events/{}\"}}",
                     short_members(data), event.data.size(), event.run, event.sequence);
}

/// `most`: bytes of data.
std::string object_of(const store::EventText& event, const Identity& identity, std::size_t most) {
  auto text = fmt::format("{{\"run\":{},\"sequence\":{},\"time\":\"{}\",\"kind\":{}", event.run,
                          event.sequence, utc_ms(event.time), json_text(event.kind));
  if (!event.node.empty()) text += ",\"node\":" + json_text(event.node);
  if (!event.step.empty()) text += ",\"step\":" + json_text(event.step);
  const auto end = fmt::format(",\"hash\":\"{}\"}}", event.hash);
  // Events of the run as a whole may list nodes of all racks.
  if (!identity.sees_all_racks() && event.node.empty()) return text + ",\"data\":{}" + end;
  const bool is_long = event.data.size() > most;
  const bool has_words = event.data.size() <= kLongestWorded;
  json::object data;
  if (is_long || has_words) data = data_of(event);
  text += ",\"data\":" + (is_long ? truncated_data(event, data) : event.data);
  auto words = has_words ? words_of_data(event, std::move(data)) : std::string{};
  if (is_long) words = shortened(words, kLongestMember);
  if (!words.empty()) text += ",\"words\":" + json_text(words);
  return text + end;
}

}  // namespace

bool may_see(RequestHandler& handler, const Identity& identity, const store::EventText& event) {
  if (identity.sees_all_racks()) return true;
  if (event.node.empty()) return handler.sees_part(identity, event.run);
  return identity.sees_rack(handler.rack_of(event.run, event.node));
}

std::string event_json(const store::EventText& event, const Identity& identity) {
  return object_of(event, identity, std::string::npos);
}

std::string listed_event_json(const store::EventText& event, const Identity& identity) {
  return object_of(event, identity, kMostListedData);
}

std::string stream_item(const store::EventText& event, std::string_view id,
                        const Identity& identity) {
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", id, event.kind,
                     event_json(event, identity));
}

}  // namespace cupel::api
