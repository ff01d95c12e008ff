#include "bmc/redfish/session_timeout.h"

namespace cupel::bmc::redfish {
namespace {

constexpr const char* kTimeout = "SessionTimeout";
constexpr double kLongest = 10 * 365 * 86400.0;

Result<std::chrono::seconds> timeout_in(const std::string& uri, const json::value& body) {
  const auto reported = number_at(body, kTimeout);
  if (!reported || *reported < 0 || *reported > kLongest)
    return Error{Code::kUnsupported, uri + " does not report a session timeout"};
  return std::chrono::seconds{static_cast<std::int64_t>(*reported)};
}

}  // namespace

Task<Result<std::chrono::seconds>> read_session_timeout(Client& client, Layout layout,
                                                        Deadline deadline) {
  CO_TRY(const json::value body, co_await client.get(layout.sessions, deadline));
  co_return timeout_in(layout.sessions, body);
}

Task<Result<void>> set_session_timeout(Client& client, Layout layout, std::chrono::seconds timeout,
                                       Deadline deadline) {
  CO_TRY(const auto before, co_await read_session_timeout(client, layout, deadline));
  if (before == timeout) co_return ok();
  json::value body{{kTimeout, timeout.count()}};
  CO_TRY(const Sent sent, co_await send_change(client, layout.sessions, std::move(body), deadline));
  CO_TRY(const auto after, co_await read_session_timeout(client, layout, deadline));
  if (after == timeout) co_return ok();
  co_return sent.not_shown(
      {Code::kFailed, layout.sessions + ": the BMC accepted a session timeout of " +
                          std::to_string(timeout.count()) + " s and still reports " +
                          std::to_string(after.count()) + " s"});
}

}  // namespace cupel::bmc::redfish
