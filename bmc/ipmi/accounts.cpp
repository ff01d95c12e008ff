#include "bmc/ipmi/accounts.h"

#include "base/text.h"
#include "bmc/ipmi/commands.h"
#include "bmc/ipmi/sdr.h"

namespace cupel::bmc::ipmi {
namespace {

constexpr std::uint8_t kMessaging = 0x10;
constexpr std::uint8_t kSetPassword = 0x02, kTestPassword = 0x03, kTwentyBytes = 0x80;
constexpr std::size_t kShort = 16, kLong = 20;
constexpr std::uint8_t kMacAddress = 5, kRmcpPort = 8;  // LAN parameters
constexpr std::uint8_t kSolEnable = 1, kSolPort = 8;    // SOL parameters
constexpr int kMostSlots = 63;

std::string role_of(std::uint8_t access) {
  switch (access & 0x0f) {
    case 1:
      return "Callback";
    case 2:
      return "User";
    case 3:
      return "Operator";
    case 4:
      return "Administrator";
    case 5:
      return "OEM";
    default:
      return {};  // 0Fh: no access
  }
}

struct Slot {
  Account account{};
  int slots = 0;
  bool used = false;
};

Task<Result<Slot>> read_slot(Client& client, int id, Deadline deadline) {
  Bytes which{kThisChannel, static_cast<std::uint8_t>(id)};
  CO_TRY(const Bytes access, co_await client.ask(kGetUserAccess, std::move(which), deadline));
  if (access.size() < 4)
    co_return Error{Code::kMalformed, client.node() + ": Get User Access: cut short"};
  Slot slot;
  slot.slots = std::min(access[0] & 0x3f, kMostSlots);
  const bool messaging = (access[3] & kMessaging) != 0;
  slot.account = {.id = std::to_string(id), .user = {}, .role = role_of(access[3])};
  slot.account.enabled = messaging && access[1] >> 6 != 2;
  slot.account.source = "ipmi:user/" + std::to_string(id);
  Bytes named{static_cast<std::uint8_t>(id)};
  auto name = co_await client.ask(kGetUserName, std::move(named), deadline);
  // A slot that never had a name answers with an error.
  if (!name && is_transient(name.error().code)) co_return std::move(name).error();
  if (!name && name.error().code == Code::kCancelled) co_return std::move(name).error();
  if (name) slot.account.user = latin1(*name);
  slot.used = messaging || !slot.account.user.empty();
  co_return slot;
}

Task<Result<Bytes>> lan_parameter(Client& client, std::uint8_t parameter, Deadline deadline) {
  Bytes which{kThisChannel, parameter, 0, 0};
  CO_TRY(Bytes reported, co_await client.ask(kGetLanParameters, std::move(which), deadline));
  if (reported.empty())
    co_return Error{Code::kMalformed,
                    client.node() + ": Get LAN Configuration Parameters: cut short"};
  reported.erase(reported.begin());  // the parameter's revision
  co_return reported;
}

Task<Result<Bytes>> sol_parameter(Client& client, std::uint8_t parameter, Deadline deadline) {
  Bytes which{kThisChannel, parameter, 0, 0};
  CO_TRY(Bytes reported, co_await client.ask(kGetSolParameters, std::move(which), deadline));
  if (reported.empty())
    co_return Error{Code::kMalformed,
                    client.node() + ": Get SOL Configuration Parameters: cut short"};
  reported.erase(reported.begin());
  co_return reported;
}

int port_of(const Result<Bytes>& reported, int otherwise) {
  if (!reported || reported->size() < 2) return otherwise;
  Reader reader{*reported};
  return reader.u16();
}

bool ends_everything(Code code) { return is_transient(code) || code == Code::kCancelled; }

Task<Result<Reply>> password_command(Client& client, int id, std::uint8_t what,
                                     std::string_view password, std::size_t size,
                                     Deadline deadline) {
  client.secrets().add_login({}, password);
  Bytes data{static_cast<std::uint8_t>(id | (size == kLong ? kTwentyBytes : 0)), what};
  put(data, bytes_of(password));
  data.resize(2 + size);
  auto reply = co_await client.exchange(kSetUserPassword, data, deadline);
  wipe(data);
  co_return reply;
}

bool wants_the_other_size(std::uint8_t completion) {
  return completion == 0xc7 || completion == 0xc8 || completion == 0xc9 || completion == 0xcc;
}

}  // namespace

Task<Result<std::vector<Account>>> read_accounts(Client& client, Deadline deadline) {
  std::vector<Account> accounts;
  int slots = 1;
  for (int id = 1; id <= slots; ++id) {
    auto slot = co_await read_slot(client, id, deadline);
    // A gap in the numbers, on BMCs that count only those in use.
    if (!slot && id > 1 && !ends_everything(slot.error().code)) continue;
    CO_TRY(Slot found, std::move(slot));
    slots = std::max(slots, found.slots);
    if (found.used) accounts.push_back(std::move(found.account));
  }
  co_return accounts;
}

Task<Result<void>> write_password(Client& client, std::string user, std::string password,
                                  Deadline deadline) {
  if (password.size() > kLong)
    co_return Error{Code::kInvalid, client.node() + ": IPMI passwords have at most 20 bytes"};
  CO_TRY(const auto accounts, co_await read_accounts(client, deadline));
  const auto found = std::ranges::find(accounts, user, &Account::user);
  if (found == accounts.end())
    co_return Error{Code::kNotFound, client.node() + ": no user " + printable(user)};
  const int id = number<int>(found->id).value_or(0);
  const bool fits = password.size() <= kShort;
  const auto size = fits ? kShort : kLong;
  CO_TRY(Reply reply,
         co_await password_command(client, id, kSetPassword, password, size, deadline));
  if (fits && wants_the_other_size(reply.completion)) {
    CO_TRY(reply, co_await password_command(client, id, kSetPassword, password, kLong, deadline));
  }
  if (!fits && reply.completion == 0) {
    // Some keep 16 bytes of it and say nothing.
    CO_TRY(reply, co_await password_command(client, id, kTestPassword, password, kLong, deadline));
    if (reply.completion != 0x80 && reply.completion != 0x81) reply.completion = 0;
  }
  wipe(password);
  if (reply.completion == 0) co_return ok();
  auto error = error_of(kSetUserPassword, reply.completion).within(client.node());
  if (reply.completion == 0x80 || reply.completion == 0x81 ||
      wants_the_other_size(reply.completion))
    error = Error{Code::kInvalid, client.node() + ": Set User Password: " +
                                      (fits ? "its policy refuses this password"
                                            : "it does not keep more than 16 bytes") +
                                      " (" + hex(reply.completion, 2) + ")"};
  co_return error;
}

Task<Result<bool>> sol_enabled(Client& client, Deadline deadline) {
  CO_TRY(const Bytes reported, co_await sol_parameter(client, kSolEnable, deadline));
  co_return !reported.empty() && (reported[0] & 1) != 0;
}

Task<Result<std::vector<NetworkService>>> read_services(Client& client, Deadline deadline) {
  std::vector<NetworkService> services;
  Bytes active{kThisChannel, 0x80};
  const auto access = co_await client.ask(kGetChannelAccess, std::move(active), deadline);
  if (!access && ends_everything(access.error().code)) co_return access.error();
  if (access && !access->empty()) {
    const auto port = co_await lan_parameter(client, kRmcpPort, deadline);
    services.push_back({"IPMI", ((*access)[0] & 7) != 0, port_of(port, 0)});
  }
  const auto sol = co_await sol_enabled(client, deadline);
  if (!sol && ends_everything(sol.error().code)) co_return sol.error();
  if (sol) {
    const auto port = co_await sol_parameter(client, kSolPort, deadline);
    services.push_back({"SOL", *sol, port_of(port, 0)});
  }
  if (services.empty() && !access) co_return access.error();
  co_return services;
}

Task<Result<void>> write_service(Client& client, std::string name, bool enabled,
                                 Deadline deadline) {
  const auto which = lower_case(name);
  if (which == "ipmi" && enabled) co_return ok();
  if (which == "ipmi")
    co_return Error{
        Code::kUnsupported,
        client.node() + ": IPMI is not switched off by IPMI: it could not be switched on again"};
  if (which != "sol")
    co_return Error{Code::kNotFound, client.node() + ": IPMI has no service " + printable(name) +
                                         " to switch; it has: IPMI, SOL"};
  CO_TRY(const bool before, co_await sol_enabled(client, deadline));
  if (before == enabled) co_return ok();
  Bytes value{kThisChannel, kSolEnable, static_cast<std::uint8_t>(enabled ? 1 : 0)};
  CO_TRY(co_await client.ask(kSetSolParameters, std::move(value), deadline));
  CO_TRY(const bool after, co_await sol_enabled(client, deadline));
  if (after != enabled)
    co_return Error{Code::kFailed, client.node() +
                                       ": Set SOL Configuration Parameters: accepted, but SOL is " +
                                       (after ? "still enabled" : "still disabled")};
  co_return ok();
}

Task<Result<std::string>> read_mac(Client& client, Deadline deadline) {
  CO_TRY(const Bytes reported, co_await lan_parameter(client, kMacAddress, deadline));
  const bool set = std::ranges::any_of(reported, [](auto each) { return each != 0; });
  if (reported.size() != 6 || !set)
    co_return Error{Code::kMalformed,
                    client.node() + ": Get LAN Configuration Parameters: no MAC address"};
  std::string mac;
  for (const auto each : reported) mac += (mac.empty() ? "" : ":") + hex(each, 2).substr(2);
  co_return mac;
}

}  // namespace cupel::bmc::ipmi
