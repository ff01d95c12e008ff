#include "orchestrator/api/browser_guard.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "base/text.h"

namespace cupel::api {
namespace {

/// "a.example" of "a.example:8443"; "::1" of "[::1]:8443".
std::string_view host_in(std::string_view field) {
  if (field.starts_with('[')) {
    const auto end = field.find(']');
    return end == field.npos ? std::string_view{} : field.substr(1, end - 1);
  }
  return field.substr(0, field.find(':'));
}

bool is_address(std::string_view host) {
  boost::system::error_code none;
  (void)boost::asio::ip::make_address(std::string{host}, none);
  return !none;
}

Problem forbidden(std::string detail) { return {403, "forbidden", std::move(detail)}; }

}  // namespace

std::optional<Problem> foreign(const Request& request, const std::vector<std::string>& names) {
  const auto field = request.field("host");
  const auto host = lower_case(host_in(field));
  const bool known =
      request.peer.local || host == "localhost" || is_address(host) ||
      std::ranges::any_of(names, [&](const std::string& name) { return lower_case(name) == host; });
  if (!known)
    return forbidden("the Host is none of this service: name it below names: in service.yaml");
  const auto origin = lower_case(request.field("origin"));
  if (!origin.empty() && origin != "https://" + lower_case(field))
    return forbidden("the request comes from another origin");
  const auto fetched = request.field("sec-fetch-site");
  const bool here = fetched.empty() || fetched == "same-origin" || fetched == "none";
  if (!here) return forbidden("the request comes from another site");
  return std::nullopt;
}

}  // namespace cupel::api
