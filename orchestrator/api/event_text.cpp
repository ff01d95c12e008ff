#include "orchestrator/api/event_text.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "orchestrator/controller/event_words.h"

namespace cupel::api {
namespace {

std::string json_text(std::string_view text) {
  return boost::json::serialize(boost::json::string{text});
}

/// What the event says to people; empty where it says nothing.
std::string words_of_text(const store::EventText& text) {
  constexpr std::size_t kLongestData = 64u << 10;  // what is larger is findings, and says "done"
  engine::Event event;
  const auto kind = engine::event_kind(text.kind);
  if (!kind || text.data.size() > kLongestData) return {};
  event.kind = *kind;
  event.node = text.node;
  event.step = text.step;
  auto data = parse_json(text.data);
  if (data && data->is_object()) event.data = std::move(data->get_object());
  return printable(controller::words_of(event));
}

}  // namespace

bool may_see(Desk& desk, const Identity& identity, const store::EventText& event) {
  if (identity.racks.empty()) return true;
  if (event.node.empty()) return desk.sees_part(identity, event.run);
  return identity.sees_rack(desk.rack_of(event.run, event.node));
}

std::string event_json(const store::EventText& event, const Identity& identity) {
  auto text = fmt::format("{{\"run\":{},\"sequence\":{},\"time\":\"{}\",\"kind\":{}", event.run,
                          event.sequence, utc_ms(event.time), json_text(event.kind));
  if (!event.node.empty()) text += ",\"node\":" + json_text(event.node);
  if (!event.step.empty()) text += ",\"step\":" + json_text(event.step);
  // Events of the run as a whole may list nodes of all racks.
  const bool bounded = !identity.racks.empty() && event.node.empty();
  text += ",\"data\":" + (bounded ? std::string{"{}"} : event.data);
  if (const auto words = words_of_text(event); !words.empty() && !bounded)
    text += ",\"words\":" + json_text(words);
  return text + fmt::format(",\"hash\":\"{}\"}}", event.hash);
}

std::string stream_item(const store::EventText& event, std::string_view id,
                        const Identity& identity) {
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", id, event.kind,
                     event_json(event, identity));
}

}  // namespace cupel::api
