#include "bmc/redfish/accounts.h"

#include <algorithm>

#include "base/text.h"
#include "bmc/redfish/pages.h"
#include "bmc/redfish/refusals.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostAccounts = 256;

bool flag(const json::value& body, std::string_view name, bool otherwise) {
  const auto* value = find(body, name);
  return value != nullptr && value->is_bool() ? value->get_bool() : otherwise;
}

Account account_of(const std::string& uri, const json::value& body) {
  Account account{.id = reported(body, "Id"), .user = reported(body, "UserName"), .source = uri};
  if (account.id.empty()) account.id = printable(last_name(uri));
  account.role = reported(body, "RoleId");
  account.enabled = flag(body, "Enabled", true);
  account.locked = flag(body, "Locked", false);
  return account;
}

Task<Result<std::vector<std::string>>> account_uris(Client& client, Layout layout,
                                                    Deadline deadline) {
  CO_TRY(const json::value service, co_await client.get(layout.accounts, deadline));
  auto collection = link_at(service, "Accounts");
  if (collection.empty()) collection = normal(layout.accounts) + "/Accounts";
  co_return co_await member_uris(client, std::move(collection), kMostAccounts, deadline);
}

/// The account that a BMC names when it wants its password changed first. DSP0266, 13.3.7.2: the
/// message's argument is its URI.
std::string account_in(const Error& refusal) {
  auto from = refusal.what.find("HTTP ");
  if (from == std::string::npos) return {};
  from = refusal.what.find("/redfish/", from);
  if (from == std::string::npos) return {};
  auto uri = refusal.what.substr(from, refusal.what.find_first_of(" '\",;)]", from) - from);
  while (uri.ends_with('.')) uri.pop_back();
  return uri.find("/Accounts/") != std::string::npos && is_on_the_bmc(uri) ? uri : std::string{};
}

std::string factory_account(const Layout& layout, const std::string& user) {
  auto slot = layout.handling.own_account;
  if (slot.empty()) slot = layout.rules->own_account;
  const std::string name = slot == "{user}" ? user : std::string{slot};
  const bool plain = !name.empty() && name.find_first_of("/?#%. ") == std::string::npos;
  return plain ? normal(layout.accounts) + "/Accounts/" + name : std::string{};
}

bool wants_change(const Error& refusal) { return says(refusal, "PasswordChangeRequired"); }

/// Where only a change of password is allowed: the account, without having seen it, by what the
/// BMC said to the question for its accounts, and to the one before (`first`).
Result<std::string> unseen_account(const Layout& layout, const Error& refusal, const Error& first,
                                   const std::string& user) {
  if (!wants_change(refusal) && !wants_change(first)) return refusal;
  auto uri = account_in(refusal);
  if (uri.empty()) uri = account_in(first);
  if (uri.empty()) uri = factory_account(layout, user);
  // Most name an account as its user.
  const bool plain = !user.empty() && user.find_first_of("/?#%. ") == std::string::npos;
  if (uri.empty() && plain) uri = normal(layout.accounts) + "/Accounts/" + user;
  if (uri.empty()) return refusal;
  return uri;
}

Task<Result<std::string>> find_account(Client& client, Layout layout, Error first, std::string user,
                                       Deadline deadline) {
  auto accounts = co_await read_accounts(client, layout, deadline);
  if (!accounts) co_return unseen_account(layout, accounts.error(), first, user);
  std::string others;
  for (const auto& one : *accounts) {
    if (one.user == user) co_return one.source;
    others += (others.empty() ? "" : ", ") + printable(one.user);
  }
  co_return Error{Code::kNotFound,
                  "the BMC has no user " + printable(user) + "; it has: " + others};
}

/// What is known of the vendor and the model, and what the BMC says: the stricter of both.
Task<PasswordRules> rules_of(Client& client, Layout layout, Deadline deadline) {
  PasswordRules rules = layout.rules->password;
  if (layout.handling.password.longest > 0) rules = layout.handling.password;
  const auto service = co_await client.get(layout.accounts, deadline);
  if (!service) co_return rules;
  const auto length = [&](std::string_view name) {
    const auto reported = number_at(*service, name).value_or(0);
    return reported > 0 && reported < 1000 ? static_cast<std::size_t>(reported) : 0;
  };
  rules.shortest = std::max(rules.shortest, length("MinPasswordLength"));
  const auto longest = length("MaxPasswordLength");
  if (longest > 0) rules.longest = rules.longest == 0 ? longest : std::min(rules.longest, longest);
  co_return rules;
}

Task<Result<void>> write_password(Client& client, std::string uri, std::string password,
                                  Answer before, Deadline deadline) {
  json::value body{{"Password", password}};
  auto done = co_await change(client, uri, std::move(body), std::move(before), deadline);
  if (done) co_return ok();
  Error refusal = std::move(done).error();
  // A rule that was not reported to us: it is the password that has to change, not the world.
  const bool a_rule = is_http(refusal, 400) && says(refusal, "password");
  if (a_rule && refusal.code == Code::kFailed) refusal.code = Code::kInvalid;
  co_return refusal;
}

}  // namespace

Result<void> check_password(const PasswordRules& rules, std::string_view user,
                            std::string_view password) {
  const auto has = [&](auto is) { return std::ranges::any_of(password, is); };
  const bool lower = has([](char c) { return c >= 'a' && c <= 'z'; });
  const bool upper = has([](char c) { return c >= 'A' && c <= 'Z'; });
  const bool digit = has([](char c) { return c >= '0' && c <= '9'; });
  const bool special = has([](char c) { return c > ' ' && c < 0x7f && !std::isalnum(c); });
  const bool printable_only =
      std::ranges::all_of(password, [](char c) { return c > ' ' && c < 0x7f; });
  const auto no = [](const std::string& rule) {
    return Error{Code::kInvalid, "this BMC wants a password " + rule};
  };
  if (!printable_only) return no("of printable ASCII characters without blanks");
  if (password.size() < rules.shortest)
    return no("of at least " + std::to_string(rules.shortest) + " characters");
  if (rules.longest > 0 && password.size() > rules.longest)
    return no("of at most " + std::to_string(rules.longest) + " characters");
  if (rules.special && !special) return no("with a character that is no letter and no digit");
  if (lower + upper + digit + special < rules.classes)
    return no("of at least " + std::to_string(rules.classes) +
              " kinds: lower case, upper case, digits, others");
  if (!user.empty() && password.find(user) != password.npos)
    return no("that does not hold the user's name");
  return ok();
}

Task<Result<std::vector<Account>>> read_accounts(Client& client, Layout layout, Deadline deadline) {
  CO_TRY(const auto uris, co_await account_uris(client, layout, deadline));
  std::vector<Account> accounts;
  for (const auto& uri : uris) {
    auto body = co_await client.get(uri, deadline);
    if (!body && body.error().code == Code::kNotFound) continue;
    if (!body) co_return std::move(body).error();
    auto account = account_of(uri, *body);
    if (!account.user.empty()) accounts.push_back(std::move(account));
  }
  co_return accounts;
}

Task<Result<void>> change_password(Client& client, Layout layout, Error refusal, std::string user,
                                   std::string password, Deadline deadline) {
  CO_TRY(std::string uri,
         co_await find_account(client, layout, std::move(refusal), user, deadline));
  const PasswordRules rules = co_await rules_of(client, layout, deadline);
  CO_TRY(check_password(rules, user, password));
  // Collections do not show the ETag that the PATCH wants: the member does. Where even that is
  // not to be read before the change, none is known.
  auto before = co_await client.get_tagged(uri, deadline);
  const bool unseen = !before && (wants_change(before.error()) || is_http(before.error(), 404));
  if (!before && !unseen) co_return std::move(before).error();
  Answer known = before ? *std::move(before) : Answer{};
  co_return co_await write_password(client, uri, std::move(password), std::move(known), deadline);
}

Task<Result<void>> change_first_password(Client& client, Error refusal, std::string user,
                                         std::string password, Deadline deadline) {
  const auto root = co_await client.get("/redfish/v1", deadline);
  const VendorHints signs{.root = root ? &*root : nullptr};
  Layout layout{.accounts = "/redfish/v1/AccountService", .rules = &rules_for(signs)};
  const auto linked = root ? link_at(*root, "AccountService") : std::string{};
  if (!linked.empty()) layout.accounts = linked;
  co_return co_await change_password(client, std::move(layout), std::move(refusal), std::move(user),
                                     std::move(password), deadline);
}

}  // namespace cupel::bmc::redfish
