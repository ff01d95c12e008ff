#include "bmc/redfish/event_targets.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "bmc/redfish/network.h"
#include "bmc/redfish/pages.h"
#include "inventory/machine_settings.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::SyslogServer;
using Kind = EventTarget::Kind;

constexpr std::size_t kMostSubscriptions = 64;

/// Source: DSP0268, EventDestinationProtocol.
struct ProtocolWord {
  std::string_view ours, redfish;
};
constexpr std::array<ProtocolWord, 3> kSyslogWords{
    {{"udp", "SyslogUDP"}, {"tcp", "SyslogTCP"}, {"tls", "SyslogTLS"}}};

/// "syslog://10.0.0.9:514" with its protocol, in our words.
std::optional<std::string> syslog_of(const json::value& body) {
  const auto protocol = reported(body, "Protocol");
  const auto word = std::ranges::find(kSyslogWords, protocol, &ProtocolWord::redfish);
  if (word == kSyslogWords.end()) return std::nullopt;
  auto place = reported(body, "Destination");
  const auto scheme = place.find("://");
  if (scheme != std::string::npos) place.erase(0, scheme + 3);
  const auto server = inventory::syslog_server_of(std::string{word->ours} + "://" + place);
  return server ? std::optional{inventory::to_string(*server)} : std::nullopt;
}

EventTarget target_in(const std::string& uri, const json::value& body) {
  EventTarget target{.destination = reported(body, "Destination"), .source = uri};
  const auto protocol = reported(body, "Protocol");
  if (auto syslog = syslog_of(body)) {
    target.kind = Kind::syslog;
    target.destination = *std::move(syslog);
  } else if (protocol.empty() || protocol == "Redfish") {
    target.kind = Kind::redfish;
  }
  return target;
}

/// A BMC with a fixed number of places shows the free ones too, disabled (Supermicro).
bool is_free(const json::value& body) {
  const auto place = reported(body, "Destination");
  return place.empty() || place == "0.0.0.0" || reported(body, "Status/State") == "Disabled";
}

std::string joined_path(std::string_view object, std::string_view key) {
  return std::string{object} + "/" + std::string{key};
}

/// The vendor's one place for a syslog server; nothing where this BMC does not have it.
struct OwnPlace {
  Document protocols{};
  std::optional<SyslogServer> server{};  // that is in it
};

std::optional<SyslogServer> server_in(const json::value& protocols, const SyslogPlace& place) {
  const auto* enabled = find(protocols, joined_path(place.object, place.enabled));
  const bool on = enabled != nullptr &&
                  (place.on.empty() ? enabled->is_bool() && enabled->get_bool()
                                    : enabled->is_string() && enabled->get_string() == place.on);
  const auto host = reported(protocols, joined_path(place.object, place.host));
  if (!on || host.empty()) return std::nullopt;
  const auto port = number_at(protocols, joined_path(place.object, place.port)).value_or(0);
  const bool tcp = !place.protocol.empty() &&
                   reported(protocols, joined_path(place.object, place.protocol)) == "TCP";
  return SyslogServer{tcp ? "tcp" : "udp", printable(host), static_cast<int>(port)};
}

Task<Result<std::optional<OwnPlace>>> own_place(Client& client, Layout layout, Deadline deadline) {
  const auto& place = layout.rules->syslog;
  if (place.object.empty()) co_return std::nullopt;
  auto protocols = co_await read_protocols(client, layout, deadline);
  if (!protocols && protocols.error().code == Code::kUnsupported) co_return std::nullopt;
  if (!protocols) co_return std::move(protocols).error();
  if (find(protocols->body, joined_path(place.object, place.host)) == nullptr)
    co_return std::nullopt;
  auto server = server_in(protocols->body, place);
  co_return OwnPlace{*std::move(protocols), std::move(server)};
}

Task<Result<std::vector<EventTarget>>> read_subscriptions(Client& client, std::string service,
                                                          Deadline deadline) {
  CO_TRY(const json::value events, co_await client.get(std::move(service), deadline));
  std::vector<EventTarget> targets;
  const auto uri = link_at(events, "Subscriptions");
  CO_TRY(const auto members, co_await member_uris(client, uri, kMostSubscriptions, deadline));
  for (const auto& member : members) {
    const auto body = co_await client.get(member, deadline);
    if (!body && body.error().code == Code::kNotFound) continue;  // it has just gone
    if (!body) co_return body.error();
    if (!is_free(*body)) targets.push_back(target_in(member, *body));
  }
  co_return targets;
}

/// {"A": {"B": inner}} of "A/B".
json::value nested(std::string_view path, json::value inner) {
  const auto slash = path.rfind('/');
  if (slash == path.npos) return json::object{{path, std::move(inner)}};
  json::object one{{path.substr(slash + 1), std::move(inner)}};
  return nested(path.substr(0, slash), std::move(one));
}

Task<Result<Sent>> write_own(Client& client, OwnPlace there, SyslogPlace place,
                             SyslogServer requested, Deadline deadline) {
  if (there.server)
    co_return Error{Code::kConflict, there.protocols.uri +
                                         " has one place for a syslog server, and " +
                                         inventory::to_string(*there.server) + " is in it"};
  const bool takes =
      requested.protocol == "udp" || (requested.protocol == "tcp" && !place.protocol.empty());
  if (!takes)
    co_return Error{Code::kUnsupported,
                    there.protocols.uri + " sends no syslog over " + requested.protocol};
  json::object own{{place.host, requested.host}, {place.port, requested.port}};
  own[place.enabled] = place.on.empty() ? json::value(true) : json::value(place.on);
  if (!place.protocol.empty()) own[place.protocol] = requested.protocol == "tcp" ? "TCP" : "UDP";
  co_return co_await send_change(client, there.protocols.uri, nested(place.object, std::move(own)),
                                 deadline);
}

Result<json::value> subscription_for(const EventTarget& target) {
  if (target.kind == Kind::redfish)
    return json::value{{"Destination", target.destination},
                       {"Protocol", "Redfish"},
                       {"Context", "cupel"},
                       {"SubscriptionType", "RedfishEvent"},
                       {"EventFormatType", "Event"}};
  const auto server = inventory::syslog_server_of(target.destination);
  if (!server) return Error{Code::kInvalid, "no syslog server: " + printable(target.destination)};
  const auto word = std::ranges::find(kSyslogWords, server->protocol, &ProtocolWord::ours);
  auto place = inventory::to_string(*server);
  place.replace(0, place.find("://"), "syslog");
  return json::value{{"Destination", place},
                     {"Protocol", word->redfish},
                     {"SubscriptionType", "Syslog"},
                     {"Context", "cupel"}};
}

bool has(const std::vector<EventTarget>& targets, const EventTarget& requested) {
  return std::ranges::any_of(targets, [&](const EventTarget& one) {
    return one.kind == requested.kind && one.destination == requested.destination;
  });
}

Task<Result<Sent>> subscribe(Client& client, Layout layout, EventTarget target, Deadline deadline) {
  CO_TRY(const json::value events, co_await client.get(layout.events, deadline));
  auto list = link_at(events, "Subscriptions");
  if (list.empty()) co_return Error{Code::kUnsupported, layout.events + " takes no subscriptions"};
  CO_TRY(json::value body, subscription_for(target));
  co_return co_await send_act(client, std::move(list), std::move(body), deadline);
}

}  // namespace

Task<Result<std::vector<EventTarget>>> read_event_targets(Client& client, Layout layout,
                                                          Deadline deadline) {
  CO_TRY(const auto own, co_await own_place(client, layout, deadline));
  auto targets = co_await read_subscriptions(client, layout.events, deadline);
  const bool none = !targets && targets.error().code == Code::kNotFound;
  if (!targets && !none) co_return targets;
  if (none && !own) co_return Error{Code::kUnsupported, "the BMC has no event service"};
  auto all = none ? std::vector<EventTarget>{} : *std::move(targets);
  if (own && own->server)
    all.push_back({Kind::syslog, inventory::to_string(*own->server), own->protocols.uri});
  co_return all;
}

Task<Result<void>> add_event_target(Client& client, Layout layout, EventTarget target,
                                    Deadline deadline) {
  CO_TRY(const auto before, co_await read_event_targets(client, layout, deadline));
  if (has(before, target)) co_return ok();
  CO_TRY(auto own, co_await own_place(client, layout, deadline));
  const auto server = inventory::syslog_server_of(target.destination);
  const bool has_place = target.kind == Kind::syslog && own && server;
  auto sending = has_place
                     ? write_own(client, *std::move(own), layout.rules->syslog, *server, deadline)
                     : subscribe(client, layout, target, deadline);
  CO_TRY(const Sent sent, co_await std::move(sending));
  for (int read = 0; read < kReadsBack; ++read) {
    if (read > 0) {
      CO_TRY(co_await pause_for(kBetweenReads));
    }
    CO_TRY(const auto now, co_await read_event_targets(client, layout, deadline));
    if (has(now, target)) co_return ok();
  }
  co_return sent.not_shown({Code::kFailed, "the BMC accepted the destination " +
                                               printable(target.destination) +
                                               " and does not show it"});
}

}  // namespace cupel::bmc::redfish
