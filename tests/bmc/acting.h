#pragma once
// The small machine, doing what it is asked in the standard's ways, and in another vendor's skin.
#include "tests/bmc/fixture.h"

namespace cupel::bmc {

class Acting : public OverHttps {
 protected:
  static constexpr const char* kManager = "/redfish/v1/Managers/1";

  void SetUp() override {
    server.change([this](auto& options) { options.writes = test::captured_actions(machine); });
  }
  void become(const char* manufacturer, const char* model) {
    auto system = test_system();
    system.as_object()["Manufacturer"] = manufacturer;
    system.as_object()["Model"] = model;
    server.set(kSystem, system);
  }
  /// The manager with these properties besides its own.
  void manage(const json::object& more) {
    auto manager = test::small_machine(kManager);
    for (const auto& entry : more) manager.as_object()[entry.key()] = entry.value();
    server.set(kManager, manager);
  }
  static json::value link(const std::string& uri) { return {{"@odata.id", uri}}; }
  static json::value collection(const std::vector<std::string>& uris) {
    json::array members;
    for (const auto& uri : uris) members.push_back(link(uri));
    return json::object{{"Members", std::move(members)}};
  }
  int count(std::string_view method) const {
    const auto asked = server.asked();
    return static_cast<int>(std::ranges::count_if(
        asked.lines, [&](const std::string& line) { return line.starts_with(method); }));
  }

  test::Done machine;
};

}  // namespace cupel::bmc
