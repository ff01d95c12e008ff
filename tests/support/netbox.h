#pragma once
// A NetBox or Nautobot that answers as the documentation of its version shows: pages, brief related
// objects, filters by id. It keeps what is written to it. Shares no code with the client.
#include <algorithm>
#include <map>
#include <sstream>

#include "base/json.h"
#include "base/text.h"
#include "tests/support/replay_server.h"

namespace cupel::test {

class FakeNetbox {
 public:
  ReplayAnswer operator()(const ReplayRequest& asked) {
    if (!asked.head.contains("Authorization: " + authorization + "\r\n"))
      return {.status = 403, .body = R"({"detail":"Invalid token"})"};
    const auto mark = asked.path.find('?');
    const auto path = asked.path.substr(0, mark);
    const auto query = mark == asked.path.npos ? std::string{} : asked.path.substr(mark + 1);
    if (path == "/api/status/") return {.body = status};
    if (asked.method == "GET" && lists.contains(path)) return listed(lists.at(path), query);
    const auto body = parse_json(asked.body);
    if (asked.method == "POST" && lists.contains(path) && body) {
      auto item = body->as_object();
      item["id"] = static_cast<std::int64_t>(1000 + lists.at(path).size());
      lists.at(path).push_back(item);
      return {.status = 201, .body = json::serialize(item)};
    }
    for (auto& [list, items] : lists)
      for (auto& item : items)
        if (asked.method == "PATCH" && path == list + text(item.at("id")) + "/" && body)
          return patched(item.as_object(), body->as_object());
    return {.status = 404, .body = R"({"detail":"Not found."})"};
  }

  std::string authorization = "Token secret";
  std::string status{};
  std::map<std::string, json::array> lists{};
  std::size_t page = 2;  // the site's MAX_PAGE_SIZE

 private:
  static std::string text(const json::value& value) {
    return value.is_string() ? std::string{value.as_string()} : json::serialize(value);
  }
  static ReplayAnswer patched(json::object& item, const json::object& change) {
    for (const auto& [key, value] : change)
      item[key] = key == "status" ? json::value{{"value", value}} : value;
    return {.body = json::serialize(item)};
  }
  /// Items whose id, or whose device's id, is among those of the query.
  static bool fits(const json::value& item, const std::vector<std::string>& ids) {
    if (ids.empty()) return true;
    for (const auto* key : {"id", "device", "assigned_object_id"}) {
      const auto* of = item.as_object().if_contains(key);
      if (of == nullptr) continue;
      const auto id = of->is_object() ? text(of->at("id")) : text(*of);
      if (std::ranges::find(ids, id) != ids.end()) return true;
    }
    const auto* device = find(item, "assigned_object/device/id");
    return device != nullptr && std::ranges::find(ids, text(*device)) != ids.end();
  }
  ReplayAnswer listed(const json::array& all, const std::string& query) const {
    std::vector<std::string> ids;
    std::size_t offset = 0;
    for (const auto part : split(query, '&')) {
      const auto key = part.substr(0, part.find('='));
      const auto value = part.substr(part.find('=') + 1);
      if (key == "offset") offset = number<std::size_t>(value).value_or(0);
      const bool is_id =
          key == "id" || key == "device_id" || key == "device" || key == "assigned_object_id";
      if (is_id) ids.emplace_back(value);
    }
    json::array meant;
    for (const auto& item : all)
      if (fits(item, ids)) meant.push_back(item);
    json::array results;
    for (auto at = offset; at < std::min(offset + page, meant.size()); ++at)
      results.push_back(meant[at]);
    const bool more = offset + results.size() < meant.size();
    // An address that nobody is to ask: the real one names the host as the client called it.
    const json::value next = more ? json::value{"http://192.0.2.1/api/?offset=2"} : nullptr;
    return {.body = json::serialize(
                json::object{{"count", meant.size()}, {"next", next}, {"results", results}})};
  }
};

/// NetBox 4.2: `role`, `oob_ip`, MAC addresses of their own; three devices of one rack.
inline FakeNetbox netbox_4_2() {
  FakeNetbox fake;
  fake.status = R"({"django-version":"5.1.5","netbox-version":"4.2.6","plugins":{}})";
  const auto device = [](int id, const std::string& name, const std::string& more) {
    return parse_json(R"({"id":)" + std::to_string(id) + R"(,"name":")" + name +
                      R"(","device_type":{"id":1,"manufacturer":{"id":1,"name":"NVIDIA"},
      "model":"DGX H100","slug":"dgx-h100"},"role":{"id":2,"slug":"gpu-node"},
      "site":{"id":1,"slug":"oslo-1"},"rack":{"id":7,"name":"a01"},"last_updated":
      "2026-11-01T08:00:00Z","status":{"value":"staged","label":"Staged"},"custom_fields":{},)" +
                      more + "}")
        .value();
  };
  fake.lists["/api/dcim/devices/"] = {
      device(11, "a01-n02", R"("serial":"SN-2","position":9.0,
        "primary_ip":{"id":1,"address":"10.0.2.12/24"},"oob_ip":{"id":2,"address":"10.0.1.12/24"})"),
      device(10, "a01-n01", R"("serial":"","position":1.0,
        "primary_ip":{"id":3,"address":"10.0.2.11/24"},"oob_ip":null)"),
      device(12, "a01-n03", R"("serial":"To be filled by O.E.M.","position":null,
        "primary_ip":{"id":5,"address":"fd00::13/64"},"oob_ip":{"id":6,"address":"10.0.1.13/24"})")};
  fake.lists["/api/dcim/racks/"] =
      parse_json(R"([{"id":7,"name":"a01","u_height":52}])").value().as_array();
  fake.lists["/api/dcim/interfaces/"] = parse_json(R"([
      {"id":40,"device":{"id":10,"name":"a01-n01"},"name":"bmc","mgmt_only":true,
       "mac_address":"AA:BB:CC:00:11:01","primary_mac_address":{"id":1,"mac_address":"AA:BB:CC:00:11:01"}},
      {"id":41,"device":{"id":10,"name":"a01-n01"},"name":"eno1","mgmt_only":false,"mac_address":null},
      {"id":42,"device":{"id":11,"name":"a01-n02"},"name":"bmc","mgmt_only":true,
       "mac_address":"AA:BB:CC:00:11:02"}])")
                                            .value()
                                            .as_array();
  fake.lists["/api/ipam/ip-addresses/"] = parse_json(R"([
      {"id":50,"address":"10.0.1.11/24","assigned_object_type":"dcim.interface",
       "assigned_object_id":40,"assigned_object":{"id":40,"name":"bmc","device":{"id":10}}},
      {"id":51,"address":"10.0.2.11/24","assigned_object_type":"dcim.interface",
       "assigned_object_id":41,"assigned_object":{"id":41,"name":"eno1","device":{"id":10}}},
      {"id":52,"address":"10.0.1.12/24","assigned_object_type":"dcim.interface",
       "assigned_object_id":42,"assigned_object":{"id":42,"name":"bmc","device":{"id":11}}}])")
                                              .value()
                                              .as_array();
  fake.lists["/api/extras/journal-entries/"] = {};
  return fake;
}

/// NetBox 3.7: `device_role` beside `role`, no `mac-addresses`; the same devices.
inline FakeNetbox netbox_3_7() {
  auto fake = netbox_4_2();
  fake.status = R"({"django-version":"4.2.9","netbox-version":"3.7.8","plugins":{}})";
  for (auto& device : fake.lists.at("/api/dcim/devices/"))
    device.as_object()["device_role"] = device.at("role");
  for (auto& interface : fake.lists.at("/api/dcim/interfaces/"))
    interface.as_object().erase("primary_mac_address");
  return fake;
}

/// Nautobot 2.3 with depth=1: UUIDs, `location`, addresses in the interfaces; one device.
inline FakeNetbox nautobot_2_3() {
  FakeNetbox fake;
  fake.status = R"({"django-version":"4.2.16","nautobot-version":"2.3.12"})";
  fake.lists["/api/dcim/devices/"] =
      parse_json(R"([{"id":"0f4e0f5a-1111-4b0c-9f3e-000000000010","name":"a01-n01",
      "device_type":{"id":"0f4e0f5a-2222-4b0c-9f3e-000000000001","model":"DGX H100"},
      "role":{"id":"0f4e0f5a-3333-4b0c-9f3e-000000000001","name":"gpu-node"},
      "location":{"id":"0f4e0f5a-4444-4b0c-9f3e-000000000001","name":"oslo-1"},
      "rack":{"id":"0f4e0f5a-5555-4b0c-9f3e-000000000001","name":"a01","u_height":52},"position":1,
      "serial":"SN-1","status":{"id":"0f4e0f5a-6666-4b0c-9f3e-000000000001","name":"Active"},
      "primary_ip4":{"id":"0f4e0f5a-7777-4b0c-9f3e-000000000001","address":"10.0.2.11/24",
      "host":"10.0.2.11","mask_length":24},"custom_fields":{}}])")
          .value()
          .as_array();
  fake.lists["/api/dcim/racks/"] =
      parse_json(R"([{"id":"0f4e0f5a-5555-4b0c-9f3e-000000000001","name":"a01","u_height":52}])")
          .value()
          .as_array();
  fake.lists["/api/dcim/interfaces/"] =
      parse_json(R"([{"id":"0f4e0f5a-8888-4b0c-9f3e-000000000001","name":"bmc","mgmt_only":true,
      "mac_address":"AA:BB:CC:00:11:01","device":{"id":"0f4e0f5a-1111-4b0c-9f3e-000000000010"},
      "ip_addresses":[{"id":"0f4e0f5a-9999-4b0c-9f3e-000000000001","address":"10.0.1.11/24"}]}])")
          .value()
          .as_array();
  return fake;
}

}  // namespace cupel::test
