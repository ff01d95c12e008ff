// What a client may change about the BMC's users.
#include <fmt/format.h>

#include "rehearsal/bmc/change.h"

namespace cupel::rehearsal {
namespace {

constexpr std::array<std::string_view, 3> kRoles{"Administrator", "Operator", "ReadOnly"};
constexpr std::size_t kLongestName = 64;

/// Sets one property of a user, or says what is wrong with it.
std::optional<HttpResponse> set(BmcUser& user, const BmcAccounts& accounts, std::string_view name,
                                const json::value& value) {
  if (name == "Enabled" || name == "Locked") {
    if (!value.is_bool()) return wrong_type(name);
    if (name == "Enabled") user.enabled = value.as_bool();
    if (name == "Locked" && !value.as_bool()) user.locked_until.reset();
    return std::nullopt;
  }
  if (name == "AccountTypes") return std::nullopt;
  if (name != "Password" && name != "UserName" && name != "RoleId") return unknown_property(name);
  if (!value.is_string()) return wrong_type(name);
  const std::string text{value.as_string()};
  if (name == "RoleId") {
    const bool known = std::ranges::find(kRoles, std::string_view{text}) != kRoles.end();
    if (!known) return not_in_list(name, text);
    user.role = text;
  } else if (name == "UserName") {
    const bool taken = text != user.name && !accounts.id_of(text).empty();
    if (taken || text.size() > kLongestName || text.find('/') != text.npos)
      return redfish_error(400, "PropertyValueConflict", "The user name cannot be taken.");
    user.name = text;
  } else {
    const auto complaint = accounts.complaint(text);
    if (!complaint.empty())
      return redfish_error(400, "PropertyValueFormatError",
                           "The value for the property Password is of a different format than the "
                           "property can accept: " +
                               complaint + ".");
    user.password = text;
    user.must_change = false;
  }
  return std::nullopt;
}

}  // namespace

HttpResponse patch_account(Change& change) {
  const auto id = change.name();
  auto* user = change.state.accounts.find(id);
  if (!user) return redfish_error(404, "ResourceMissingAtURI", "There is no account " + id + ".");
  const bool reserved =
      change.state.behavior.accounts.slots > 0 && id == "1";  // Dell: never to be filled
  if (reserved) return redfish_error(400, "PropertyNotWritable", "Account 1 cannot be configured.");
  auto requested = *user;
  for (const auto& entry : change.body)
    if (auto complaint = set(requested, change.state.accounts, entry.key(), entry.value()))
      return *complaint;
  *user = std::move(requested);
  if (change.body.contains("Password")) change.state.accounts.on_password(*user);
  return {.status = 204};
}

HttpResponse add_account(Change& change) {
  BmcUser user{.role = "ReadOnly"};
  for (const auto& entry : change.body)
    if (auto complaint = set(user, change.state.accounts, entry.key(), entry.value()))
      return *complaint;
  if (user.name.empty() || user.password.empty())
    return redfish_error(400, "CreateFailedMissingReqProperties",
                         "The create operation failed because UserName or Password is missing.");
  const auto id = change.state.accounts.add(std::move(user));
  if (!id)
    return redfish_error(400, "CreateLimitReachedForResource",
                         "The create operation failed because the resource has reached the limit "
                         "of possible resources.");
  HttpResponse response{.status = 201};
  response.headers["Location"] = change.path + "/" + *id;
  return response;
}

HttpResponse remove_account(Change& change) {
  if (change.state.accounts.remove(change.name())) return {.status = 204};
  return redfish_error(404, "ResourceMissingAtURI", "There is no account " + change.name() + ".");
}

}  // namespace cupel::rehearsal
