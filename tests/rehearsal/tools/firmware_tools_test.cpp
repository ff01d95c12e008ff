// Firmware written from the host: what the tools say, and from when the new version is seen.
#include "rehearsal/bmc/image.h"
#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

std::string image(const std::string& component, const std::string& version,
                  const std::string& model = {}, std::size_t size = 0) {
  std::string bytes;
  const auto made = write_image({{{component, version}}, model, size},
                                [&](std::string_view piece) { bytes += piece; });
  EXPECT_TRUE(made);
  return bytes;
}

/// A node with that file on it.
class Node : public Bench {
 public:
  void put(const std::string& path, const std::string& bytes) { host.disk().put(path, bytes); }
};

TEST(Mstflint, WritesWhatRunsAfterAReset) {
  Node node;
  node.put("/tmp/fw.bin", image("hca", "28.43.2026", "MT_0000000838", 4000));

  const auto burnt = node.sh("mstflint -d mlx5_3 -i /tmp/fw.bin -y burn");
  const auto before = node.sh("mstflint -d mlx5_3 query; cat /sys/class/infiniband/mlx5_3/fw_ver");
  const auto reset = node.sh("mstfwreset -d mlx5_3 -y reset");
  const auto after = node.sh("flint -d mlx5_3 q; cat /sys/class/infiniband/mlx5_3/fw_ver");

  EXPECT_EQ(burnt.status, 0) << burnt.out;
  EXPECT_THAT(burnt.out, HasSubstr("New FW version:               28.43.2026"));
  EXPECT_THAT(before.out, HasSubstr("FW Version:            28.43.2026"));
  EXPECT_THAT(before.out, HasSubstr("FW Version(Running):   28.39.1002"));
  EXPECT_THAT(before.out, HasSubstr("\n28.39.1002\n"));
  EXPECT_EQ(reset.status, 0) << reset.out;
  EXPECT_THAT(after.out, Not(HasSubstr("Running")));
  EXPECT_THAT(after.out, HasSubstr("\n28.43.2026\n"));
}

TEST(Mstflint, RefusesAnotherBoardsImageADamagedOneAndAnOlderOneWithoutYes) {
  Node node;
  const auto good = image("hca", "28.43.2026", "", 4000);
  node.put("/tmp/other.bin", image("hca", "28.43.2026", "MT_0000000999"));
  node.put("/tmp/cut.bin", good.substr(0, 3999));
  node.put("/tmp/old.bin", image("hca", "28.30.1000"));

  EXPECT_THAT(node.sh("mstflint -d mlx5_0 -i /tmp/other.bin -y burn").out, HasSubstr("PSID"));
  EXPECT_EQ(node.sh("mstflint -d mlx5_0 -i /tmp/cut.bin -y burn").status, 1);
  EXPECT_EQ(node.sh("mstflint -d mlx5_0 -i /tmp/old.bin burn").status, 1);
  EXPECT_EQ(node.sh("mstflint -d mlx5_0 -i /tmp/none.bin burn").status, 1);
  EXPECT_EQ(node.sh("mstflint -d mlx5_99 query").status, 1);
  EXPECT_EQ(node.sh("mstflint -d mlx5_0 -i /tmp/old.bin -y burn").status, 0);
}

TEST(Nvme, WritesADrivesFirmwareThatRunsAtOnceOrAfterAReset) {
  Node node;
  node.put("/tmp/fw.bin", image("nvme", "GDC7702Q"));

  const auto early = node.sh("nvme fw-commit /dev/nvme3 --slot=2 --action=1");
  const auto downloaded = node.sh("nvme fw-download /dev/nvme3 --fw=/tmp/fw.bin");
  const auto committed = node.sh("nvme fw-commit /dev/nvme3 --slot=2 --action=1");
  const auto log = node.sh("nvme fw-log /dev/nvme3; cat /sys/class/nvme/nvme3/firmware_rev");
  node.sh("nvme fw-download /dev/nvme4 -f /tmp/fw.bin && nvme fw-commit /dev/nvme4 -s 2 -a 3");

  EXPECT_EQ(early.status, 1);
  EXPECT_THAT(downloaded.out, HasSubstr("Firmware download success"));
  EXPECT_THAT(committed.out, HasSubstr("Success committing firmware action:1 slot:2"));
  EXPECT_THAT(log.out, HasSubstr("frs2 : GDC7702Q"));
  EXPECT_THAT(log.out, HasSubstr("\nGDC5602Q\n"));
  EXPECT_THAT(node.sh("nvme list").out, HasSubstr("GDC7702Q"));
  EXPECT_EQ(node.host.machine().hardware().drives.at(3).firmware, "GDC5602Q");
  node.machine.press(Reset::power_cycle);
  EXPECT_TRUE(
      node.run_until([&] { return node.machine.hardware().drives.at(3).firmware == "GDC7702Q"; }));
}

}  // namespace
}  // namespace cupel::rehearsal
