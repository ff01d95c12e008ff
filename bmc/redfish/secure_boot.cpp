#include "bmc/redfish/secure_boot.h"

#include "base/text.h"

namespace cupel::bmc::redfish {
namespace {

constexpr const char* kEnable = "SecureBootEnable";

std::optional<bool> flag_at(const json::value& body, std::string_view name) {
  const auto* value = find(body, name);
  if (value == nullptr || !value->is_bool()) return std::nullopt;
  return value->get_bool();
}

Task<Result<Document>> resource_of(Client& client, Document system, Deadline deadline) {
  const auto uri = link_at(system.body, "SecureBoot");
  if (uri.empty()) co_return Error{Code::kUnsupported, system.uri + " shows no secure boot"};
  CO_TRY(json::value body, co_await client.get(uri, deadline));
  co_return Document{uri, std::move(body)};
}

Result<SecureBootState> state_in(const Document& resource) {
  const auto next = flag_at(resource.body, kEnable);
  if (!next) return Error{Code::kUnsupported, resource.uri + " does not report SecureBootEnable"};
  SecureBootState state{.next = *next, .mode = reported(resource.body, "SecureBootMode")};
  const auto active = reported(resource.body, "SecureBootCurrentBoot");
  if (active == "Enabled" || active == "Disabled") state.active = active == "Enabled";
  return state;
}

}  // namespace

Task<Result<SecureBootState>> read_secure_boot(Client& client, Document system, Deadline deadline) {
  CO_TRY(const Document resource, co_await resource_of(client, std::move(system), deadline));
  co_return state_in(resource);
}

Task<Result<void>> set_secure_boot(Client& client, Document system, bool on, Deadline deadline) {
  CO_TRY(const Document resource, co_await resource_of(client, std::move(system), deadline));
  CO_TRY(const SecureBootState before, state_in(resource));
  if (before.next == on) co_return ok();
  json::value body{{kEnable, on}};
  CO_TRY(const Sent sent, co_await send_change(client, resource.uri, std::move(body), deadline));
  for (int read = 0; read < kReadsBack; ++read) {
    if (read > 0) {
      CO_TRY(co_await pause_for(kBetweenReads));
    }
    CO_TRY(const json::value now, co_await client.get(resource.uri, deadline));
    if (flag_at(now, kEnable) == on) co_return ok();
  }
  co_return sent.not_shown({Code::kFailed, resource.uri +
                                               ": the BMC accepted it, and secure boot is still " +
                                               (on ? "off" : "on") + " for the next boot"});
}

}  // namespace cupel::bmc::redfish
