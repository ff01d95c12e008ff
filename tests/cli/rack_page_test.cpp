// The page of a rack that is one machine: what is wrong, what was not read, in text and as an
// object.
#include "orchestrator/cli/rack_page.h"

#include <gmock/gmock.h>

#include <boost/json.hpp>

namespace cupel::cli {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kChassis = "1800000000001";

/// Three compute trays in slots 1 to 3, two switches in 9 and 10, one shelf: all well.
class RackPageTest : public ::testing::Test {
 protected:
  RackPageTest() {
    rack.name = "a01";
    rack.kind = inventory::rack_kind("gb200-nvl72");
    page.rack = &rack;
    for (int i = 1; i <= 3; ++i) {
      const auto name = "a01/compute" + std::to_string(i);
      rack.compute.push_back({.bmc = {.name = name}, .slot = i});
      page.compute.push_back({.name = name, .slot = i, .node = "n" + std::to_string(i)});
      page.compute.back().reading = bmc::rack::BmcReading{};
      auto& reading = *page.compute.back().reading;
      reading.identity.serial = "S" + std::to_string(i);
      reading.identity.model = "GB200 NVL";
      reading.leaks = {{.kind = bmc::SensorKind::leak, .name = "ColdPlate", .state = "OK"}};
      for (int gpu = 0; gpu < 4; ++gpu)
        reading.places.push_back(at("GPU_" + std::to_string(gpu), i));
    }
    for (int i = 1; i <= 2; ++i) {
      const auto name = "a01/switch" + std::to_string(i);
      rack.switches.push_back({.name = name, .slot = 8 + i});
      page.switches.push_back({.name = name, .slot = 8 + i});
      page.switches.back().reading = bmc::rack::SwitchReading{};
      auto& reading = *page.switches.back().reading;
      reading.platform = {.product = "N5110_LD", .serial = "MT" + std::to_string(i)};
      reading.place = at("switch", 8 + i);
      reading.place.topology = "GB200 NVL72";
      reading.cluster = {.state = i == 1 ? "enabled" : "disabled", .connection = "up"};
      reading.controller =
          bmc::nvos::App{.status = "ok", .control_plane = "CONTROL_PLANE_STATE_CONFIGURED"};
      reading.images = {.current = "partition1", .partition1 = "nvos-25"};
      reading.health.status = "OK";
      reading.leakage = {{"LEAKAGE-1", "ok"}};
      if (i == 1)
        reading.partitions = {
            {.id = "32766", .name = "Default Partition", .gpus = 72, .health = "healthy"}};
    }
    page.shelves.push_back({.name = "a01/shelf1"});
    page.shelves.back().reading = bmc::rack::BmcReading{};
    auto& shelf = *page.shelves.back().reading;
    shelf.identity.model = "PF-1333";
    shelf.watts = 6438;
    shelf.parts = {{.kind = inventory::PartKind::psu, .name = "psu0", .health = "OK"}};
  }
  static inventory::RackPlace at(std::string part, int slot) {
    return {.part = std::move(part), .chassis_serial = kChassis, .slot = slot, .tray = slot - 1};
  }
  std::vector<std::string> wrong() const {
    std::vector<std::string> all;
    for (const auto& each : faults_of(page)) all.push_back(each.what);
    return all;
  }

  inventory::NvlRack rack;
  RackPage page;
};

TEST_F(RackPageTest, OfARackThatIsWellShowsTraysBySlotAndNothingWrong) {
  const auto text = text_of(page);

  EXPECT_THAT(wrong(), IsEmpty());
  EXPECT_THAT(not_read(page), IsEmpty());
  EXPECT_THAT(text, HasSubstr("a01: gb200-nvl72, chassis 1800000000001, topology GB200 NVL72\n"));
  EXPECT_THAT(text, HasSubstr("nothing contradicts"));
  EXPECT_LT(text.find("a01/compute3"), text.find("a01/switch1")) << "by slot";
  EXPECT_THAT(text, HasSubstr("slot 3, tray 2"));
  EXPECT_THAT(text, HasSubstr("6438 W"));
  EXPECT_THAT(text, HasSubstr("Default Partition"));
}

TEST_F(RackPageTest, NamesSwappedTraysInTextAndAsAnObject) {
  for (auto& place : page.compute[0].reading->places) place.slot = 2;
  for (auto& place : page.compute[1].reading->places) place.slot = 1;

  EXPECT_THAT(text_of(page), HasSubstr("a01/compute1 and a01/compute2 are in each other's slots"));
  const auto object = object_of(page);
  const auto& first = object.at("wrong").as_array().at(0).as_object();
  EXPECT_EQ(first.at("kind"), "swapped");
  EXPECT_EQ(first.at("devices").as_array().size(), 2);
  EXPECT_EQ(
      object.at("compute").as_array()[0].as_object().at("places").as_array()[0].as_object().at(
          "slot"),
      2);
}

TEST_F(RackPageTest, TakesALeakThatContradictsAndOneOfTheLogForWrong) {
  page.compute[1].reading->leaks[0].state = "Critical (contradiction: sensor OK, roll-up OK)";
  page.compute[2].reading->latched = {{.detector = "Manifold", .message = "changed to Degraded"}};
  page.switches[1].reading->leakage["LEAKAGE-1"] = "leak";

  EXPECT_THAT(
      wrong(),
      ElementsAre("a01/compute2: ColdPlate is Critical (contradiction: sensor OK, roll-up OK)",
                  "a01/compute3: its log reports a leak at Manifold: changed to Degraded",
                  "a01/switch2: LEAKAGE-1 is leak"));
}

TEST_F(RackPageTest, WantsExactlyOneSwitchThatControls) {
  page.switches[1].reading->cluster.state = "enabled";
  EXPECT_THAT(wrong(), ElementsAre(HasSubstr("a01/switch1 and a01/switch2 have the cluster on")));

  page.switches[0].reading->cluster.state = page.switches[1].reading->cluster.state = "disabled";
  page.switches[0].reading->partitions.clear();
  EXPECT_THAT(wrong(), ElementsAre(HasSubstr("no switch has the cluster on")));

  page.switches[1].reading = Error{Code::kTimeout, "a01/switch2: timed out"};
  EXPECT_THAT(wrong(), IsEmpty()) << "the one that was not read may have it";
  EXPECT_THAT(not_read(page), ElementsAre("a01/switch2: timed out"));
}

TEST_F(RackPageTest, DoesNotTakeAnUnconfiguredControllerForOneThatIsOk) {
  page.switches[0].reading->controller->control_plane = "CONTROL_PLANE_STATE_UNCONFIGURED";

  EXPECT_THAT(wrong(),
              ElementsAre(HasSubstr("its control plane is CONTROL_PLANE_STATE_UNCONFIGURED")));
}

TEST_F(RackPageTest, NamesPartitionsSwitchesAndSuppliesThatAreNotWell) {
  page.switches[0].reading->partitions[0].health = "degraded";
  page.switches[0].reading->health = {.status = "Not OK", .issues = {{"PSU1", "not OK"}}};
  page.shelves[0].reading->parts[0].health = "Critical";

  EXPECT_THAT(wrong(), ElementsAre("a01/switch1: its health is Not OK: PSU1: not OK",
                                   "a01/switch1: partition 32766 (Default Partition) is degraded",
                                   "a01/shelf1: psu0 is Critical"));
}

TEST_F(RackPageTest, CountsTheGpusOfAWholeRacksPartitions) {
  page.switches[0].reading->partitions[0].gpus = 71;
  EXPECT_THAT(wrong(), IsEmpty()) << "the inventory has three trays of eighteen";

  rack.compute.resize(18);
  EXPECT_THAT(wrong(), ElementsAre("a01/switch1: its partitions hold 71 of 72 GPUs"));

  page.switches[0].reading->partitions[0].gpus.reset();
  EXPECT_THAT(wrong(), IsEmpty()) << "not reported is not zero";
}

TEST_F(RackPageTest, TakesATrayThatSaysNothingOfSlotAndLeaksForOneThatWasNotRead) {
  page.compute[0].reading->places.clear();
  page.compute[0].reading->leaks.clear();

  EXPECT_THAT(not_read(page), ElementsAre("a01/compute1: slots of the GPUs: not reported",
                                          "a01/compute1: leak detectors: none reported"));
}

TEST_F(RackPageTest, ListsWhatWasNotReadAndCutsItInTextAlone) {
  for (int i = 0; i < 50; ++i)
    page.compute[0].reading->unknown.push_back({"fact " + std::to_string(i), "uri", "HTTP 500"});
  page.compute[1].reading = Error{Code::kRefused, "a01/compute2: the password is wrong"};

  const auto text = text_of(page);

  EXPECT_THAT(text, HasSubstr("51 not read, and not known to be well:"));
  EXPECT_THAT(text, HasSubstr("and 11 more: --json has them all"));
  EXPECT_THAT(text, HasSubstr("not read"));
  EXPECT_EQ(object_of(page).at("not_read").as_array().size(), 51);
  EXPECT_EQ(object_of(page).at("compute").as_array()[1].as_object().at("code"), "refused");
}

TEST_F(RackPageTest, StripsControlsFromWhatPartsSay) {
  page.compute[0].reading->identity.model = "GB200\x1b[2J";
  page.compute[0].reading->latched = {{.detector = "x\x07", .message = "y\x1b]0;z"}};

  const auto text = text_of(page) + json::serialize(object_of(page));

  EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07"))));
}

}  // namespace
}  // namespace cupel::cli
