// What a machine has reported of its parts, over several runs.
#include "orchestrator/record/seen_parts.h"

#include <gmock/gmock.h>

namespace cupel::record {
namespace {

using inventory::Part;
using inventory::PartKind;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Part part(PartKind kind, const std::string& serial) {
  return {.kind = kind, .name = serial, .serial = serial};
}

std::vector<std::string> serials(const std::vector<Part>& parts) {
  std::vector<std::string> all;
  for (const auto& each : parts) all.push_back(each.serial);
  return all;
}

NodeRecord bmc_read(NodeRecord record, const std::string& serial) {
  record.bmc_parts.push_back(part(PartKind::psu, serial));
  record.bmc_reported = true;
  record.steps.push_back({.name = "bmc-facts", .outcome = "done"});
  return record;
}

NodeRecord gpus_read(NodeRecord record, const std::string& serial) {
  record.findings["gpu-facts"].parts.push_back(part(PartKind::gpu, serial));
  record.steps.push_back({.name = "gpu-facts", .outcome = "done"});
  return record;
}

NodeRecord of_chassis(const std::string& serial) {
  NodeRecord record;
  record.system_serial = serial;
  return record;
}

TEST(SeenParts, AreTheNewestReadingOfEachSource) {
  SeenParts seen;

  EXPECT_TRUE(seen.take(gpus_read({}, "G2")));
  EXPECT_TRUE(seen.take(bmc_read(gpus_read(of_chassis("S1"), "G1"), "P1")));

  EXPECT_THAT(serials(seen.parts()), UnorderedElementsAre("G2", "P1", "S1"));
  EXPECT_THAT(seen.unread(), IsEmpty());
}

TEST(SeenParts, OfASourceThatHasFailedSinceAreNotRead) {
  SeenParts seen;
  auto newest = gpus_read({}, "G1");
  newest.steps.push_back({.name = "bmc-facts", .outcome = "failed"});

  seen.take(newest);
  seen.take(bmc_read({}, "P1"));

  EXPECT_THAT(serials(seen.parts()), UnorderedElementsAre("G1"));
  EXPECT_THAT(serials(seen.unread()), UnorderedElementsAre("P1"));
}

TEST(SeenParts, OfASourceThatAFailureKeptFromBeingReadAreNotRead) {
  SeenParts seen;
  auto newest = bmc_read({}, "P1");
  newest.steps.push_back({.name = "gpu-facts", .outcome = "skipped", .skipped = Skipped::failure});

  seen.take(newest);
  seen.take(gpus_read({}, "G1"));

  EXPECT_THAT(serials(seen.unread()), UnorderedElementsAre("G1"));
}

TEST(SeenParts, OfAKindThatTheNewestReadingCouldNotListInFullAreNotRead) {
  SeenParts seen;
  auto newest = bmc_read({}, "P1");
  newest.bmc_partial = {{PartKind::psu, "/redfish/v1/Chassis/1/Power", "HTTP 503", true}};

  EXPECT_TRUE(seen.take(newest));
  EXPECT_THAT(serials(seen.unread()), UnorderedElementsAre("")) << "any of them";
  seen.take(bmc_read({}, "P2"));

  EXPECT_THAT(serials(seen.parts()), UnorderedElementsAre("P1"));
  EXPECT_THAT(serials(seen.unread()), UnorderedElementsAre("", "P2"));
}

TEST(SeenParts, SayWhichSourceOfWhichRunReportedThem) {
  SeenParts seen;
  auto newest = gpus_read({}, "G2");
  newest.steps.push_back({.name = "bmc-facts", .outcome = "failed"});

  seen.take(newest, 9);
  seen.take(bmc_read(of_chassis("S1"), "P1"), 7);

  std::vector<std::string> all;
  for (const auto& each : seen.reports())
    all.push_back(each.part.serial + " " + each.source + " " + std::to_string(each.run) +
                  (each.is_current ? "" : " not since"));
  EXPECT_THAT(
      all, ::testing::ElementsAre("G2 gpu-facts 9", "S1 bmc-facts 7", "P1 bmc-facts 7 not since"));
}

TEST(SeenParts, AreOfOneMachine) {
  SeenParts seen;

  EXPECT_TRUE(seen.take(gpus_read(of_chassis("S2"), "G2")));
  EXPECT_FALSE(seen.take(bmc_read(of_chassis("S1"), "P1")));

  EXPECT_THAT(serials(seen.parts()), UnorderedElementsAre("G2", "S2"));
}

}  // namespace
}  // namespace cupel::record
