#pragma once
// A BMC as documents in memory, for tests of reading: a small machine to begin with, and whatever a
// test adds to it.
#include "bmc/redfish/event_log.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/sensors.h"
#include "tests/bmc/fixture.h"

namespace cupel::bmc {

class TreeFetch final : public redfish::Fetch {
 public:
  Task<Result<json::value>> get(std::string uri, Deadline) override {
    asked.push_back(uri);
    if (const auto bad = errors.find(uri); bad != errors.end()) co_return bad->second;
    const auto found = documents.find(uri);
    if (found == documents.end())
      co_return Error{Code::kNotFound, "a01-n01: GET " + uri + ": HTTP 404"};
    co_return found->second;
  }
  std::string system() const override { return requested; }
  bool was_asked(std::string_view uri) const {
    return std::ranges::find(asked, uri) != asked.end();
  }

  std::map<std::string, json::value> documents;
  std::map<std::string, Error> errors;
  std::vector<std::string> asked;
  std::string requested{};  // System
};

/// {"@odata.id": uri}
inline json::value link_to(std::string uri) { return json::object{{"@odata.id", std::move(uri)}}; }

inline json::value list_of(const std::vector<std::string>& members) {
  json::array links;
  for (const auto& uri : members) links.push_back(link_to(uri));
  return json::object{{"Members", std::move(links)}};
}

class ReadingTree : public ::testing::Test {
 protected:
  static constexpr const char* kRoot = "/redfish/v1";
  static constexpr const char* kSystems = "/redfish/v1/Systems";
  static constexpr const char* kSystem = "/redfish/v1/Systems/1";
  static constexpr const char* kManager = "/redfish/v1/Managers/1";
  static constexpr const char* kChassis = "/redfish/v1/Chassis/1";

  ReadingTree() {
    for (const auto* uri : {kRoot, kSystems, kSystem, "/redfish/v1/Managers", kManager})
      tree.documents[uri] = test::small_machine(uri);
    tree.documents["/redfish/v1/Chassis"] = list_of({kChassis});
    tree.documents[kChassis] = json::object{{"ChassisType", "RackMount"}};
  }
  json::object& at(const std::string& uri) { return tree.documents[uri].as_object(); }
  void put(const std::string& uri, std::string_view text) {
    auto parsed = parse_json(text);
    ASSERT_TRUE(parsed) << uri << ": " << parsed.error().what;
    tree.documents[uri] = *std::move(parsed);
  }

  Result<Observed> read() { return run_to_end(io, redfish::read_inventory(tree, soon())); }
  Observed inventory() {
    auto seen = read();
    EXPECT_TRUE(seen) << seen.error().what;
    return seen ? *std::move(seen) : Observed{};
  }
  Sensors sensors() {
    auto seen = run_to_end(io, redfish::read_sensors(tree, soon()));
    EXPECT_TRUE(seen);
    return seen ? *std::move(seen) : Sensors{};
  }
  EventLog log(std::size_t most = 100, std::optional<Seconds> since = {}) {
    auto seen = run_to_end(io, redfish::read_event_log(tree, since, most, soon()));
    EXPECT_TRUE(seen);
    return seen ? *std::move(seen) : EventLog{};
  }
  static inventory::Part part(const Observed& seen, const std::string& name) {
    for (const auto& one : seen.parts)
      if (one.name == name) return one;
    return {};
  }
  static bool is_unknown(const std::vector<inventory::Unknown>& all, const std::string& fact) {
    return std::ranges::find(all, fact, &inventory::Unknown::fact) != all.end();
  }
  static Deadline soon() { return Deadline::in(60s); }

  asio::io_context io;
  TreeFetch tree;
};

}  // namespace cupel::bmc
