// What a client may change about the BMC itself: its clock, its services, its log.
#include <fmt/format.h>

#include <cstdio>
#include <ctime>

#include "rehearsal/bmc/change.h"

namespace cupel::rehearsal {
namespace {

/// "2026-01-31T12:00:00+01:00", also with a fraction, or a Z. Source: RFC 3339, 5.6.
struct Moment {
  double epoch;
  int offset_minutes;
};

std::optional<int> offset_of(std::string_view zone) {
  if (zone == "Z") return 0;
  int hours = 0, minutes = 0;
  const std::string text{zone};
  if (zone.size() != 6 || std::sscanf(text.c_str() + 1, "%2d:%2d", &hours, &minutes) != 2)
    return std::nullopt;
  if (zone[0] != '+' && zone[0] != '-') return std::nullopt;
  if (hours > 14 || minutes > 59 || hours < 0 || minutes < 0) return std::nullopt;
  return (zone[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
}

std::optional<Moment> moment_of(const std::string& text) {
  std::tm when{};
  int read = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &when.tm_year, &when.tm_mon,
                  &when.tm_mday, &when.tm_hour, &when.tm_min, &when.tm_sec, &read) != 6)
    return std::nullopt;
  const bool plausible = when.tm_year >= 1970 && when.tm_mon >= 1 && when.tm_mon <= 12 &&
                         when.tm_mday >= 1 && when.tm_mday <= 31 && when.tm_hour <= 23 &&
                         when.tm_min <= 59 && when.tm_sec <= 60;
  std::string_view rest{text};
  rest.remove_prefix(static_cast<std::size_t>(read));
  if (rest.starts_with('.')) rest.remove_prefix(std::min(rest.find_first_of("Z+-"), rest.size()));
  const auto offset = offset_of(rest);
  if (!plausible || !offset) return std::nullopt;
  when.tm_year -= 1900;
  when.tm_mon -= 1;
  return Moment{static_cast<double>(::timegm(&when)) - *offset * 60, *offset};
}

/// Sets what one service is to be, or says what is wrong with it.
std::optional<HttpResponse> set_service(std::map<std::string, Service, std::less<>>& services,
                                        std::vector<std::string>& servers, std::string_view name,
                                        const json::object& values) {
  auto& service = services.find(name)->second;
  for (const auto& entry : values) {
    const auto& value = entry.value();
    if (entry.key() == "ProtocolEnabled") {
      if (!value.is_bool()) return wrong_type("ProtocolEnabled");
      if (name == "HTTPS" && !value.as_bool())
        return redfish_error(400, "PropertyNotWritable", "HTTPS cannot be disabled.");
      service.enabled = value.as_bool();
    } else if (entry.key() == "Port") {
      const auto* port = value.if_int64();
      if (!port || *port < 1 || *port > 65535) return wrong_type("Port");
      service.port = static_cast<int>(*port);
    } else if (entry.key() == "NTPServers" && name == "NTP") {
      const auto* list = value.if_array();
      constexpr std::size_t kMostServers = 4;
      if (!list || list->size() > kMostServers) return wrong_type("NTPServers");
      // DSP0266, "PATCH (update)": null takes an element away, {} leaves it as it is.
      const auto before = std::exchange(servers, {});
      for (std::size_t i = 0; i < list->size(); ++i) {
        const auto& server = (*list)[i];
        const bool stays = server.is_object() && server.as_object().empty();
        if (stays && i < before.size())
          servers.push_back(before[i]);
        else if (server.is_string())
          servers.emplace_back(server.as_string());
        else if (!server.is_null() && !stays)
          return wrong_type("NTPServers");
      }
    } else {
      return unknown_property(entry.key());
    }
  }
  return std::nullopt;
}

}  // namespace

HttpResponse restart_manager(Change& change) {
  const auto requested = change.state.behavior.power.bmc_reset;
  const auto* type = change.body.if_contains("ResetType");
  if (type && (!type->is_string() || std::string_view{type->as_string()} != requested))
    return redfish_error(400, "ActionParameterValueNotInList",
                         "The value for the parameter ResetType is not in the list of acceptable "
                         "values.");
  if (change.restart) change.restart();
  return {.status = 204};
}

HttpResponse patch_manager(Change& change) {
  std::optional<Moment> moment;
  for (const auto& entry : change.body) {
    if (entry.key() != "DateTime" && entry.key() != "DateTimeLocalOffset")
      return unknown_property(entry.key());
    if (!entry.value().is_string()) return wrong_type(entry.key());
    if (entry.key() != "DateTime") continue;
    moment = moment_of(std::string{entry.value().as_string()});
    if (!moment)
      return redfish_error(400, "PropertyValueFormatError",
                           "The value for the property DateTime is of a different format than "
                           "the property can accept.");
  }
  auto offset = change.state.offset_minutes;
  if (const auto* zone = change.body.if_contains("DateTimeLocalOffset")) {
    const auto reported = offset_of(zone->as_string());
    if (!reported) return wrong_type("DateTimeLocalOffset");
    offset = *reported;
  }
  const bool by_ntp = change.state.services.find("NTP")->second.enabled;
  if (moment && by_ntp && change.state.behavior.ntp_guards_clock)
    return redfish_error(400, "PropertyValueConflict",
                         "The property 'DateTime' could not be written because its value would "
                         "conflict with the value of the "
                         "'Managers/NetworkProtocol/NTPProtocolEnabled' property.");
  change.state.offset_minutes = offset;
  if (moment && !by_ntp) change.state.clock_ahead += moment->epoch - change.view().epoch();
  return {.status = 204};
}

HttpResponse patch_protocols(Change& change) {
  auto services = change.state.services;
  auto servers = change.state.ntp_servers;
  for (const auto& entry : change.body) {
    const auto* values = entry.value().if_object();
    if (!services.contains(std::string_view{entry.key()})) return unknown_property(entry.key());
    if (!values) return wrong_type(entry.key());
    if (auto complaint = set_service(services, servers, entry.key(), *values)) return *complaint;
  }
  change.state.services = std::move(services);
  change.state.ntp_servers = std::move(servers);
  return {.status = 204};
}

HttpResponse patch_session_service(Change& change) {
  constexpr std::int64_t kShortest = 30, kLongest = 86400;  // DSP0268, SessionTimeout
  for (const auto& entry : change.body)
    if (entry.key() != "SessionTimeout") return unknown_property(entry.key());
  const auto* requested = change.body.if_contains("SessionTimeout");
  const auto* seconds = requested == nullptr ? nullptr : requested->if_int64();
  if (seconds == nullptr) return wrong_type("SessionTimeout");
  if (*seconds < kShortest || *seconds > kLongest)
    return not_in_list("SessionTimeout", std::to_string(*seconds));
  change.sessions->set_timeout(std::chrono::seconds{*seconds});
  return {.status = 204};
}

HttpResponse clear_log(Change& change) {
  change.state.log.clear();
  change.note({.message = "The event log was cleared.",
               .message_id = "Platform.1.0.LogCleared",
               .sensor = "Event Logging Disabled"});
  return {.status = 204};
}

HttpResponse send_test_event(Change& change) {
  change.note({.message = "A test event.", .message_id = "Base.1.12.TestMessage"});
  return {.status = 204};
}

HttpResponse subscribe(Change& change) {
  constexpr std::size_t kLongest = 1024;
  const auto text = [&](std::string_view key) {
    const auto* found = change.body.if_contains(key);
    return found && found->is_string() ? std::string{found->as_string()} : std::string{};
  };
  const auto destination = text("Destination");
  const auto protocol = text("Protocol");
  const bool syslog = protocol.starts_with("Syslog");
  const std::string_view scheme = syslog ? "syslog://" : "https://";
  if (!destination.starts_with(scheme) || destination.size() > kLongest)
    return redfish_error(400, "PropertyValueFormatError",
                         fmt::format("Destination is no {} URI.", scheme));
  if (!protocol.empty() && protocol != "Redfish" && !syslog)
    return not_in_list("Protocol", protocol);
  if (change.state.subscriptions.size() >= BmcState::kMostSubscriptions)
    return redfish_error(503, "EventSubscriptionLimitExceeded",
                         "The event subscription failed due to the number of simultaneous "
                         "subscriptions exceeding the limit of the implementation.");
  const auto id = std::to_string(change.state.next_id++);
  Subscription subscription{destination, text("Context").substr(0, kLongest)};
  if (syslog) subscription.protocol = protocol;
  if (syslog) subscription.type = "Syslog";
  change.state.subscriptions[id] = std::move(subscription);
  HttpResponse response{.status = 201};
  response.headers["Location"] = change.path + "/" + id;
  return response;
}

HttpResponse unsubscribe(Change& change) {
  if (change.state.subscriptions.erase(change.name()) > 0) return {.status = 204};
  return redfish_error(404, "ResourceMissingAtURI", "There is no such subscription.");
}

}  // namespace cupel::rehearsal
