#include "bmc/redfish/network.h"

#include "base/text.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostServices = 32;

std::vector<NetworkService> services_in(const json::value& protocols) {
  std::vector<NetworkService> services;
  if (!protocols.is_object()) return services;
  for (const auto& entry : protocols.get_object()) {
    const auto enabled = is_enabled(protocols, entry.key());
    if (!enabled || services.size() >= kMostServices) continue;
    const auto port = number_at(entry.value(), "Port").value_or(0);
    const bool known = port > 0 && port < 65536;
    services.push_back(
        {printable(std::string_view{entry.key()}), *enabled, known ? static_cast<int>(port) : 0});
  }
  return services;
}

Result<NetworkService> named(const std::vector<NetworkService>& services, const std::string& name) {
  std::string all;
  for (const auto& one : services) {
    if (lower_case(one.name) == lower_case(name)) return one;
    all += (all.empty() ? "" : ", ") + one.name;
  }
  return Error{Code::kUnsupported,
               "this BMC has no service " + printable(name) + " to set; it has: " + all};
}

}  // namespace

std::optional<bool> is_enabled(const json::value& protocols, std::string_view name) {
  const auto* value = find(protocols, std::string{name} + "/ProtocolEnabled");
  if (value == nullptr || !value->is_bool()) return std::nullopt;
  return value->get_bool();
}

Task<Result<Document>> read_protocols(Client& client, Layout layout, Deadline deadline) {
  if (layout.manager.empty())
    co_return Error{Code::kUnsupported, "the BMC shows no manager, so no network services"};
  CO_TRY(const json::value manager, co_await client.get(layout.manager, deadline));
  const auto uri = link_at(manager, "NetworkProtocol");
  if (uri.empty())
    co_return Error{Code::kUnsupported, layout.manager + " shows no network services"};
  CO_TRY(json::value body, co_await client.get(uri, deadline));
  co_return Document{uri, std::move(body)};
}

Task<Result<std::vector<NetworkService>>> read_services(Client& client, Layout layout,
                                                        Deadline deadline) {
  CO_TRY(const Document protocols, co_await read_protocols(client, layout, deadline));
  co_return services_in(protocols.body);
}

Task<Result<void>> enable_service(Client& client, Layout layout, std::string name, bool enabled,
                                  Deadline deadline) {
  CO_TRY(const Document protocols, co_await read_protocols(client, layout, deadline));
  CO_TRY(const NetworkService service, named(services_in(protocols.body), name));
  if (service.enabled == enabled) co_return ok();
  json::value body{{service.name, {{"ProtocolEnabled", enabled}}}};
  CO_TRY(const Sent sent, co_await send_change(client, protocols.uri, std::move(body), deadline));
  for (int read = 0; read < kReadsBack; ++read) {
    if (read > 0) {
      CO_TRY(co_await pause_for(kBetweenReads));
    }
    CO_TRY(const json::value now, co_await client.get(protocols.uri, deadline));
    if (is_enabled(now, service.name) == enabled) co_return ok();
  }
  co_return sent.not_shown({Code::kFailed, protocols.uri + ": the BMC accepted it, and " +
                                               service.name + " is still " +
                                               (enabled ? "off" : "on")});
}

}  // namespace cupel::bmc::redfish
