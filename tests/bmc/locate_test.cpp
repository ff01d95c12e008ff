// The locator light, wherever a BMC has it.
#include "tests/bmc/acting.h"

namespace cupel::bmc {
namespace {

using ::testing::HasSubstr;

constexpr const char* kChassis = "/redfish/v1/Chassis/1";

class LocatorLight : public Acting {
 protected:
  /// The System and its chassis with these lights, and no other.
  void lights(const json::object& of_system, const json::object& of_chassis) {
    auto system = test_system().as_object();
    system.erase("IndicatorLED");
    system.erase("LocationIndicatorActive");
    for (const auto& entry : of_system) system[entry.key()] = entry.value();
    json::object chassis{{"@odata.id", kChassis}, {"Id", "1"}, {"ChassisType", "RackMount"}};
    for (const auto& entry : of_chassis) chassis[entry.key()] = entry.value();
    system["Links"] = {{"Chassis", json::array{link(kChassis)}}};
    server.set(kSystem, system);
    server.set(kChassis, chassis);
  }
  Result<Protocol> locate(bool on) {
    const auto bmc = open();
    auto done = run(bmc->locator.set(on, soon()));
    run(bmc->log_out());
    return done;
  }
};

TEST_F(LocatorLight, IsTheChassisOneWhereTheSystemHasNone) {
  lights({{"IndicatorLED", nullptr}}, {{"LocationIndicatorActive", false}});

  const auto on = locate(true);

  ASSERT_TRUE(on) << on.error().what;
  EXPECT_THAT(machine.patched, ::testing::ElementsAre(kChassis));
}

TEST_F(LocatorLight, OfADellBlinksAsItIsLitAtRest) {
  become("Dell Inc.", "PowerEdge XE9680");
  auto system = test_system().as_object();
  system["Manufacturer"] = "Dell Inc.";
  system["Model"] = "PowerEdge XE9680";
  system["IndicatorLED"] = "Lit";
  server.set(kSystem, system);

  const auto bmc = open();
  const auto before = run(bmc->locator.read(soon()));
  const auto on = run(bmc->locator.set(true, soon()));
  const auto after = run(bmc->locator.read(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(before && after);
  EXPECT_FALSE(before->value);
  ASSERT_TRUE(on) << on.error().what;
  EXPECT_TRUE(after->value);
}

/// A baseboard's BMC links the chassis of every part.
TEST_F(LocatorLight, IsLookedForOnManyChassisAndNotCalledMissingWhereSomeAreNotRead) {
  const auto stand_in = [this](int chassis) {
    auto system = test_system().as_object();
    json::array links;
    for (int i = 0; i < chassis; ++i)
      links.push_back(link("/redfish/v1/Chassis/" + std::to_string(i)));
    system["Links"] = {{"Chassis", std::move(links)}};
    server.set(kSystem, system);
  };
  server.set("/redfish/v1/Chassis/20", json::object{{"LocationIndicatorActive", false}});

  stand_in(21);
  const auto on = locate(true);
  server.set("/redfish/v1/Chassis/20", json::object{{"Id", "20"}});
  stand_in(40);
  const auto unread = locate(true);

  EXPECT_TRUE(on) << on.error().what;
  ASSERT_FALSE(unread);
  EXPECT_EQ(unread.error().code, Code::kMalformed);
  EXPECT_THAT(unread.error().what, HasSubstr("the others are not read"));
}

TEST_F(LocatorLight, ReportsThatNoResourceHasALight) {
  lights({}, {});

  const auto on = locate(true);

  ASSERT_FALSE(on);
  EXPECT_EQ(on.error().code, Code::kUnsupported);
  EXPECT_THAT(on.error().what, HasSubstr("no locator light"));
}

}  // namespace
}  // namespace cupel::bmc
