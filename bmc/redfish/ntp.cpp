#include "bmc/redfish/ntp.h"

#include "base/text.h"
#include "bmc/redfish/network.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostServers = 16;

/// The resource, and where in it.
struct Place {
  Document resource{};
  std::string object{};           // "NTP"; empty: the resource itself
  std::string servers{};          // key
  bool has_switch = false;        // ProtocolEnabled beside it
  std::size_t reported_size = 0;  // entries of the list, empty ones too
};

const json::value* list_in(const json::value& body, const Place& place) {
  const auto path = place.object.empty() ? place.servers : place.object + "/" + place.servers;
  return find(body, path);
}

Task<Result<Place>> place_of(Client& client, Layout layout, Deadline deadline) {
  const auto& own = layout.rules->ntp;
  Place place;
  if (!own.link.empty()) {
    CO_TRY(const json::value manager, co_await client.get(layout.manager, deadline));
    const auto uri = link_at(manager, own.link);
    if (!uri.empty()) {
      CO_TRY(json::value body, co_await client.get(uri, deadline));
      place = {.resource = {uri, std::move(body)}, .servers = std::string{own.servers}};
    }
  }
  if (place.resource.uri.empty()) {
    CO_TRY(Document protocols, co_await read_protocols(client, layout, deadline));
    place = {.resource = std::move(protocols),
             .object = "NTP",
             .servers = "NTPServers",
             .has_switch = true};
  }
  const auto* list = list_in(place.resource.body, place);
  const auto* reported = list == nullptr ? nullptr : list->if_array();
  if (reported == nullptr)
    co_return Error{Code::kUnsupported, place.resource.uri + " shows no NTP servers"};
  place.reported_size = reported->size();
  co_return place;
}

NtpSettings settings_in(const json::value& body, const Place& place) {
  NtpSettings settings;
  const auto* list = list_in(body, place);
  const auto texts = list == nullptr ? std::vector<std::string>{} : texts_of(list);
  for (const auto& server : texts) {
    std::string name{trimmed(printable(server))};
    // An iLO writes 0.0.0.0 into an empty place.
    const bool empty = name.empty() || name == "0.0.0.0" || name == "::";
    if (!empty && settings.servers.size() < kMostServers)
      settings.servers.push_back(std::move(name));
  }
  settings.enabled =
      place.has_switch ? is_enabled(body, place.object).value_or(false) : !settings.servers.empty();
  return settings;
}

/// A list of places is filled as long as it is: what is left out of an array stays as it was.
/// Source: DSP0266, "PATCH (update)".
json::value body_for(const std::vector<std::string>& servers, const Place& place) {
  json::array list;
  for (const auto& server : servers) list.emplace_back(server);
  while (list.size() < std::min(place.reported_size, kMostServers))
    list.push_back(place.has_switch ? json::value(nullptr) : json::value(""));
  json::object own{{place.servers, std::move(list)}};
  if (place.has_switch) own["ProtocolEnabled"] = true;
  if (place.object.empty()) return own;
  return json::object{{place.object, std::move(own)}};
}

std::string listed(const std::vector<std::string>& servers) {
  std::string text;
  for (const auto& server : servers) text += (text.empty() ? "" : ", ") + printable(server);
  return text.empty() ? "none" : text;
}

}  // namespace

Task<Result<NtpSettings>> read_ntp(Client& client, Layout layout, Deadline deadline) {
  CO_TRY(const Place place, co_await place_of(client, std::move(layout), deadline));
  co_return settings_in(place.resource.body, place);
}

Task<Result<void>> set_ntp(Client& client, Layout layout, std::vector<std::string> servers,
                           Deadline deadline) {
  CO_TRY(const Place place, co_await place_of(client, std::move(layout), deadline));
  const NtpSettings requested{.enabled = true, .servers = servers};
  if (settings_in(place.resource.body, place) == requested) co_return ok();
  CO_TRY(const Sent sent,
         co_await send_change(client, place.resource.uri, body_for(servers, place), deadline));
  NtpSettings now;
  for (int read = 0; read < kReadsBack; ++read) {
    if (read > 0) {
      CO_TRY(co_await pause_for(kBetweenReads));
    }
    CO_TRY(const json::value body, co_await client.get(place.resource.uri, deadline));
    now = settings_in(body, place);
    if (now == requested) co_return ok();
  }
  co_return sent.not_shown(
      {Code::kFailed, place.resource.uri + ": the BMC accepted the NTP servers and reports " +
                          listed(now.servers) + (now.enabled ? "" : ", with NTP off")});
}

}  // namespace cupel::bmc::redfish
