// Of link_history.h: an event of a link as it is recorded.
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "burnin/fabric/link_history.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kLongestText = 400, kMostDefects = 64;
constexpr double kMostSeconds = 1e11;  // year 5138

json::object port_json(const PortId& port) {
  return {{"device", valid_utf8(port.device)}, {"hca", valid_utf8(port.hca)}, {"port", port.port}};
}

std::int64_t seconds_of(std::chrono::sys_seconds time) { return time.time_since_epoch().count(); }

std::optional<PortId> port_at(const json::value& data, std::string_view key) {
  const auto* port = find(data, key);
  const auto number = port == nullptr ? std::nullopt : number_at(*port, "port");
  constexpr double kMostPorts = 100'000;
  if (!number || !(*number >= 0 && *number < kMostPorts)) return std::nullopt;
  return PortId{text_at(*port, "device").value_or(""), text_at(*port, "hca").value_or(""),
                static_cast<int>(*number)};
}

std::optional<std::chrono::sys_seconds> time_at(const json::value& data, std::string_view key) {
  const auto seconds = number_at(data, key);
  if (!seconds || !(*seconds >= 0 && *seconds < kMostSeconds)) return std::nullopt;
  return std::chrono::sys_seconds{std::chrono::seconds{static_cast<std::int64_t>(*seconds)}};
}

Error malformed(std::string_view what) {
  return Error{Code::kMalformed, fmt::format("an event of a link without {}", what)};
}

Result<void> read_judged(const json::value& data, LinkEvent& event) {
  const auto since = time_at(data, "since");
  const auto* defects = find(data, "defects");
  if (!since || defects == nullptr || !defects->is_array()) return malformed("its judgement");
  event.since = *since;
  for (const auto& one : defects->get_array()) {
    if (event.defects.size() >= kMostDefects) break;
    const auto fault = link_fault(text_at(one, "fault").value_or(""));
    if (!fault) return malformed("a fault that is known");
    event.defects.push_back({*fault, text_at(one, "what").value_or("")});
  }
  return ok();
}

}  // namespace

json::object to_json(const LinkEvent& event) {
  json::object data{{"from", port_json(event.here)}, {"at", seconds_of(event.at)}};
  if (!event.there.device.empty()) data["to"] = port_json(event.there);
  if (event.kind == LinkEvent::Kind::repaired) {
    data["did"] = to_string(event.did);
    if (!event.note.empty()) data["note"] = valid_utf8(event.note);
    return data;
  }
  json::array defects;
  for (const auto& defect : event.defects)
    defects.push_back({{"fault", to_string(defect.fault)},
                       {"what", shortened(valid_utf8(defect.what), kLongestText)}});
  data["since"] = seconds_of(event.since);
  data["defects"] = std::move(defects);
  return data;
}

json::object full_json(const LinkEvent& event) {
  auto object = to_json(event);
  object["kind"] = event.kind == LinkEvent::Kind::judged ? "judged" : "repaired";
  object["by"] = valid_utf8(event.by);
  return object;
}

Result<LinkEvent> link_event(LinkEvent::Kind kind, const json::object& object) {
  const json::value data = object;
  LinkEvent event{.kind = kind};
  const auto at = time_at(data, "at");
  auto here = port_at(data, "from");
  if (!at || !here || here->device.empty()) return malformed("a time and a port");
  event.at = *at;
  event.here = std::move(*here);
  if (auto there = port_at(data, "to")) event.there = std::move(*there);
  if (kind == LinkEvent::Kind::judged) {
    TRY(read_judged(data, event));
    return event;
  }
  const auto did = repair_of(text_at(data, "did").value_or(""));
  if (!did) return malformed("a repair that is known");
  event.did = *did;
  event.note = text_at(data, "note").value_or("");
  return event;
}

}  // namespace cupel::burnin
