// Controllers of a rack's equipment, which have no System: power shelves, cooling units; and where
// a tray's GPUs say that they sit.
#include "bmc/redfish/rack_places.h"
#include "tests/bmc/reading.h"
#include "tests/support/captured_fetch.h"

namespace cupel::bmc {
namespace {

using inventory::Part;
using inventory::PartKind;

/// The example's chassis links its power subsystem to its sensors: mended.
void mend_shelf(const std::string& uri, json::value& body) {
  if (uri == "/redfish/v1/Chassis/PowerShelf")
    body.as_object()["PowerSubsystem"] = link_to("/redfish/v1/Chassis/PowerShelf/PowerSubsystem");
}

class Captured {
 public:
  explicit Captured(const std::filesystem::path& tree, test::CapturedFetch::Damage damage = {})
      : fetch_{tree, std::move(damage)} {}
  Observed inventory() {
    auto seen = run_to_end(io_, redfish::read_inventory(fetch_, Deadline::in(60s)));
    EXPECT_TRUE(seen) << seen.error().what;
    return seen ? *std::move(seen) : Observed{};
  }
  std::map<std::string, Sensor> sensors() {
    auto seen = run_to_end(io_, redfish::read_sensors(fetch_, Deadline::in(60s)));
    EXPECT_TRUE(seen);
    std::map<std::string, Sensor> all;
    if (seen) watts = seen->watts;
    if (seen)
      for (auto& one : seen->sensors) all.emplace(one.name, one);
    return all;
  }
  std::optional<double> watts{};

 private:
  asio::io_context io_;
  test::CapturedFetch fetch_;
};

Part part(const Observed& seen, const std::string& name) {
  for (const auto& one : seen.parts)
    if (one.name == name) return one;
  return {};
}

TEST(PowerShelf, IsKnownByItsChassis) {
  CUPEL_NEED_CAPTURE(tree, "dmtf-power-shelf");

  const auto seen = Captured{tree, mend_shelf}.inventory();

  EXPECT_EQ(seen.identity.vendor, "Contoso");
  EXPECT_EQ(seen.identity.model, "ZAP33000");
  EXPECT_EQ(seen.identity.serial, "29347ZT536");
  EXPECT_EQ(seen.identity.part_number, "AA-23");
  EXPECT_EQ(seen.identity.uuid, "32354641-4135-4332-4a35-313735303734");
  const auto system = part(seen, "system");
  EXPECT_EQ(system.manufacturer, "Contoso");
  EXPECT_EQ(system.firmware, "1.2.1") << "which the power equipment alone reports";
  EXPECT_EQ(system.health, "OK");
  EXPECT_EQ(system.source, "/redfish/v1/Chassis/PowerShelf");
  EXPECT_EQ(std::ranges::count(seen.parts, PartKind::system, &Part::kind), 1)
      << "the shelf of PowerEquipment is the same one";
}

TEST(PowerShelf, HasTheSuppliesThatAreInItsBays) {
  CUPEL_NEED_CAPTURE(tree, "dmtf-power-shelf");

  const auto seen = Captured{tree, mend_shelf}.inventory();

  EXPECT_EQ(part(seen, "psu0").serial, "3488247");
  EXPECT_EQ(part(seen, "psu0").model, "RKS-440DC");
  EXPECT_EQ(part(seen, "psu1").name, "") << "bay 2 is empty";
}

TEST(PowerShelf, MeasuresWhatGoesInAndWhatComesOut) {
  CUPEL_NEED_CAPTURE(tree, "dmtf-power-shelf");
  Captured shelf{tree, mend_shelf};

  const auto sensors = shelf.sensors();

  EXPECT_EQ(shelf.watts, 6438);
  EXPECT_EQ(sensors.at("power shelf 1 Mains AC Input #1 voltage").value, 222.8);
  EXPECT_EQ(sensors.at("power shelf 1 DC Output Circuit to Busbar power").value, 816.5);
  EXPECT_EQ(sensors.at("power shelf 1 DC Output Circuit to Busbar current").unit, "A");
  EXPECT_EQ(sensors.at("power shelf 1 DC Output Circuit to Busbar breaker").state, "Normal");
}

TEST(CoolingUnit, IsAPartOfItsControllerWithPumpsFiltersAndReservoirs) {
  CUPEL_NEED_CAPTURE(tree, "dmtf-cooling-unit");
  Captured unit{tree};

  const auto seen = unit.inventory();
  const auto sensors = unit.sensors();

  EXPECT_EQ(seen.identity.serial, "8234803");
  EXPECT_EQ(seen.identity.vendor, "Contoso");
  const auto cdu = part(seen, "CDU 1");
  EXPECT_EQ(cdu.serial, "29347ZT536");
  EXPECT_EQ(cdu.model, "BRRR4000");
  EXPECT_EQ(cdu.firmware, "3.2.0");
  EXPECT_EQ(cdu.health, "Warning");
  EXPECT_EQ(sensors.at("CDU Pump 1").value, 38.5);
  EXPECT_EQ(sensors.at("CDU Pump 2").state, "UnavailableOffline");
  EXPECT_EQ(sensors.at("CDU Pump 2").health, "Critical");
  EXPECT_EQ(sensors.at("Internal CDU Filter").health, "OK");
  EXPECT_EQ(sensors.at("Main supply from facility flow").value, 42);
}

class Controller : public ReadingTree {
 protected:
  /// No Systems; these chassis.
  void chassis(const std::vector<std::pair<std::string, std::string>>& all) {
    tree.documents.erase(kSystem);
    tree.documents.erase(kSystems);
    at(kRoot).erase("Systems");
    std::vector<std::string> uris;
    for (const auto& [id, body] : all) {
      uris.push_back("/redfish/v1/Chassis/" + id);
      put(uris.back(), body);
    }
    tree.documents["/redfish/v1/Chassis"] = list_of(uris);
  }
};

TEST_F(Controller, OfAShelfIsKnownByTheShelfAmongOtherChassis) {
  for (const auto* name : {"powershelf", "PowerShelf_0"}) {
    chassis({{"BMC_board", R"({"SerialNumber": "B1", "Manufacturer": "Board"})"},
             {name, R"({"SerialNumber": "S1", "Manufacturer": "LiteOn", "Model": "PF-1333"})"}});

    const auto identity = inventory().identity;

    EXPECT_EQ(identity.serial, "S1") << name;
    EXPECT_EQ(identity.vendor, "LiteOn") << name;
    EXPECT_EQ(identity.model, "PF-1333") << name;
  }
}

TEST_F(Controller, IsUnknownWhereSeveralChassisCouldBeIt) {
  chassis({{"One", R"({"SerialNumber": "A"})"}, {"Two", R"({"SerialNumber": "B"})"}});

  EXPECT_EQ(inventory().identity.serial, "");
}

TEST_F(Controller, IsNotKnownByAPlaceholder) {
  chassis({{"powershelf", R"({"SerialNumber": "NA"})"}, {"Two", R"({"SerialNumber": "B"})"}});

  EXPECT_EQ(inventory().identity.serial, "B");
}

Result<std::vector<inventory::RackPlace>> places_in(redfish::Fetch& fetch) {
  asio::io_context io;
  return run_to_end(io, redfish::read_rack_places(fetch, Deadline::in(60s)));
}

TEST(RackPlaces, AreReadOfEachGpuOfACapturedGb300Tray) {
  CUPEL_NEED_CAPTURE(tree, "lambda-gb300-happypath");
  test::CapturedFetch fetch{tree};

  const auto places = places_in(fetch);

  ASSERT_TRUE(places) << places.error().what;
  ASSERT_EQ(places->size(), 4) << "each once, though two Systems show it";
  const auto& first = places->front();
  EXPECT_EQ(first.part, "GPU_0");
  EXPECT_EQ(first.slot, 4);
  EXPECT_EQ(first.tray, 3);
  EXPECT_EQ(first.host, 1);
  EXPECT_EQ(first.module, 1);
  EXPECT_EQ(first.chassis_serial, "") << "its authors wrote 123456 over it, which is no serial";
}

class TrayPlaces : public ReadingTree {
 protected:
  TrayPlaces() {
    const auto processors = std::string{kSystem} + "/Processors";
    at(kSystem)["Processors"] = link_to(processors);
    tree.documents[processors] = list_of({processors + "/GPU_0"});
  }
  void gpu(std::string_view topology) {
    put(std::string{kSystem} + "/Processors/GPU_0",
        R"({"ProcessorType": "GPU", "Oem": {"Nvidia": {"MNNVLinkTopology": )" +
            std::string{topology} + "}}}");
  }
  inventory::RackPlace place() {
    const auto all = run_to_end(io, redfish::read_rack_places(tree, soon()));
    EXPECT_TRUE(all);
    return all && !all->empty() ? all->front() : inventory::RackPlace{};
  }
};

TEST_F(TrayPlaces, TakesNumbersThatAreTextsAndNothingForNaZeroAndNonsense) {
  gpu(R"({"ChassisSerialNumber": " 1800000000001 ", "TraySlotNumber": "6", "TraySlotIndex": 0})");
  EXPECT_EQ(place().chassis_serial, "1800000000001");
  EXPECT_EQ(place().slot, 6);
  EXPECT_EQ(place().tray, 0);

  for (const auto* nothing :
       {R"({"ChassisSerialNumber": "NA", "TraySlotNumber": "NA", "TraySlotIndex": -1})",
        R"({"ChassisSerialNumber": null, "TraySlotNumber": 0, "TraySlotIndex": 1.5})",
        R"({"ChassisSerialNumber": 5, "TraySlotNumber": 1e9, "TraySlotIndex": []})"}) {
    gpu(nothing);
    EXPECT_EQ(place().chassis_serial, "") << nothing;
    EXPECT_EQ(place().slot, std::nullopt) << nothing;
    EXPECT_EQ(place().tray, std::nullopt) << nothing;
  }
}

TEST_F(TrayPlaces, AreAnErrorWhereAGpuThatIsListedCannotBeRead) {
  const auto all = run_to_end(io, redfish::read_rack_places(tree, soon()));

  ASSERT_FALSE(all);
  EXPECT_THAT(all.error().what, HasSubstr("GPU_0"));
}

}  // namespace
}  // namespace cupel::bmc
