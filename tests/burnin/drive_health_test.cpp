// What drives say of themselves, and what else node-facts tells of a node's condition.
#include "burnin/node/drive_health.h"

#include <gmock/gmock.h>

#include "tests/burnin/node_text.h"
#include "tests/burnin/stages.h"
#include "tests/support/samples.h"

namespace cupel::burnin {
namespace {

TEST(DriveHealth, IsReadOfADriveAsSmartctlTellsIt) {
  CUPEL_NEEDS_SAMPLE(document, "smartctl/nvme.json");
  Findings findings;

  add_drive_health("cupel-smart: nvme3\n" + document + "\ncupel-smart-end\n", findings);

  EXPECT_EQ(value_of(findings, "nvme.used", "nvme3"), 4);
  EXPECT_EQ(value_of(findings, "nvme.spare", "nvme3"), 100);
  EXPECT_EQ(value_of(findings, "nvme.media_errors", "nvme3"), 0);
  EXPECT_EQ(value_of(findings, "nvme.warnings", "nvme3"), 0);
}

TEST(DriveHealth, IsUnknownForADriveThatReportedNothing) {
  Findings findings;

  add_drive_health(
      "cupel-smart: nvme0\nPermission denied\ncupel-smart-end\ncupel-smart: nvme1\n{}\n", findings);

  EXPECT_TRUE(findings.measurements.empty());
  EXPECT_TRUE(says_unknown(findings, "health of nvme0"));
  EXPECT_TRUE(says_unknown(findings, "nvme.used of nvme1"));
}

TEST(NodeFacts, TellsNameClockAndWhatHasThrottled) {
  const auto text =
      std::string{
          "/proc/sys/kernel/hostname:dgx-03\ncupel-epoch: 1763740800\n"
          "/sys/devices/system/cpu/cpu0/topology/physical_package_id:0\n"
          "/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count:7\n"
          "/sys/devices/system/cpu/cpu1/topology/physical_package_id:0\n"
          "/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count:9\n"
          "/sys/devices/system/cpu/cpu2/topology/physical_package_id:1\n"
          "/sys/devices/system/cpu/cpu2/thermal_throttle/package_throttle_count:0\n"} +
      std::string{kNodeText};

  const auto found = parsed("node-facts", text);

  ASSERT_TRUE(found) << found.error().what;
  const auto& findings = *found;
  EXPECT_EQ(findings.facts.at("node.hostname"), "dgx-03");
  EXPECT_EQ(findings.facts.at("node.epoch"), "1763740800");
  EXPECT_EQ(value_of(findings, "cpu.throttled", "cpu0"), 9);
  EXPECT_EQ(value_of(findings, "cpu.throttled", "cpu1"), 0);
}

}  // namespace
}  // namespace cupel::burnin
