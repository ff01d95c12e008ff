#include "rehearsal/bmc/several_systems.h"

#include <algorithm>

#include "rehearsal/bmc/refusals.h"

namespace cupel::rehearsal {
namespace {

bool is_of(const BmcService& service, const std::string& path) {
  const auto view = service.view();
  return std::ranges::any_of(
      std::array{view.system(), view.chassis(), view.bios()},
      [&](const std::string& place) { return path == place || path.starts_with(place + "/"); });
}

bool lists_machines(const HttpRequest& request, const std::string& path) {
  return request.method == "GET" &&
         (path == "/redfish/v1/Systems" || path == "/redfish/v1/Chassis");
}

json::array members_of(const BmcService& service, const HttpResponse& response) {
  json::array own;
  const auto body = parse_json(response.body);
  const auto* members = body ? find(*body, "Members") : nullptr;
  if (response.status != 200 || members == nullptr || !members->is_array()) return own;
  for (const auto& member : members->as_array())
    if (is_of(service, text_at(member, "@odata.id").value_or(""))) own.push_back(member);
  return own;
}

}  // namespace

void SeveralSystems::add(BmcService& other) {
  other.log_in_at(first_);
  others_.push_back(&other);
}

HttpResponse SeveralSystems::handle(const HttpRequest& request) {
  const auto path = path_of(request.target);
  for (auto* other : others_)
    if (is_of(*other, path)) return other->handle(request);
  auto response = first_.handle(request);
  if (lists_machines(request, path)) add_members_of_others(request, response);
  return response;
}

void SeveralSystems::restarted() {
  for (auto* other : others_) other->restarted();
}

void SeveralSystems::add_members_of_others(const HttpRequest& request, HttpResponse& into) {
  auto body = parse_json(into.body);
  auto* whole = body ? body->if_object() : nullptr;
  auto* members = whole != nullptr ? whole->if_contains("Members") : nullptr;
  if (into.status != 200 || members == nullptr || !members->is_array()) return;
  for (auto* other : others_)
    for (auto& member : members_of(*other, other->handle(request)))
      members->as_array().push_back(std::move(member));
  (*whole)["Members@odata.count"] = members->as_array().size();
  into.headers.erase("ETag");  // it was of the first one's members
  into.body = json::serialize(*body);
}

}  // namespace cupel::rehearsal
