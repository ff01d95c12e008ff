// Scripts as a controller runs them on a node: uploads, and the questions that burn-in stages ask.
#include "base/digest.h"
#include "base/json.h"
#include "tests/rehearsal/bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;

TEST(JobTest, AnUploadIsCheckedAndMovedInPlace) {
  Bench bench;
  const std::string bytes(300'000, 'x');
  const auto receive = "cat > /root/f.part && [ \"$(sha256sum < /root/f.part)\" = '" +
                       sha256_hex(bytes) +
                       "  -' ] && chmod 0751 /root/f.part && "
                       "mv /root/f.part /root/f && stat -c '%a %s' /root/f";

  EXPECT_EQ(bench.sh(receive, bytes).out, "751 300000\n");
  EXPECT_EQ(bench.sh(receive, bytes + "y").status, 1);
}

TEST(JobTest, SysfsLeadsFromADeviceToItsPciFunction) {
  Bench bench;

  const auto ran = bench.sh(
      "grep -sH -e '^PCI_SLOT_NAME' /sys/class/nvme/nvme0/device/uevent; "
      "grep -sH . /sys/class/infiniband/mlx5_[0-1]/device/current_link_width /sys/none/*; "
      "grep '^oom_kill ' /proc/vmstat");

  EXPECT_EQ(ran.out,
            "/sys/class/nvme/nvme0/device/uevent:PCI_SLOT_NAME=0000:82:00.0\n"
            "/sys/class/infiniband/mlx5_0/device/current_link_width:16\n"
            "/sys/class/infiniband/mlx5_1/device/current_link_width:16\n"
            "oom_kill 0\n");
}

TEST(JobTest, DmidecodeListsEverySlot) {
  Bench bench{{{.kind = FaultKind::dimm_too_small, .part = "dimm A7", .bytes = 34359738368.0},
               {.kind = FaultKind::dimm_missing, .part = "dimm B1"}}};

  const auto text = bench.sh("dmidecode -t 1,17").out;

  EXPECT_THAT(text, HasSubstr("Product Name: DGXH100"));
  EXPECT_THAT(text, HasSubstr("Size: 32 GB\n\tForm Factor: DIMM\n\tSet: None\n\tLocator: DIMM A7"));
  EXPECT_THAT(text, HasSubstr("Size: No Module Installed"));
}

TEST(JobTest, FioVerifiesWhatItWroteAndSaysSoLineByLine) {
  Bench bench;

  const auto ran = bench.sh(
      "fio --output-format=json --directory=/var/tmp --filename=f --size=4194304 --bs=1048576 "
      "--name=w --rw=write --time_based --runtime=60 "
      "--name=v --stonewall --rw=write --verify=crc32c --do_verify=1");

  EXPECT_TRUE(ran.out.starts_with("{\n") && ran.out.ends_with("\n}\n"));
  const auto root = parse_json(ran.out);
  ASSERT_TRUE(root);
  const auto& jobs = root->at("jobs").as_array();
  EXPECT_EQ(number_at(jobs[0], "write/runtime"), 60000);
  EXPECT_EQ(number_at(jobs[1], "write/io_bytes"), 4194304);
  EXPECT_EQ(number_at(jobs[1], "read/io_bytes"), 4194304);
  EXPECT_EQ(number_at(jobs[1], "error"), 0);
}

TEST(JobTest, AKernelThatPanicsUnderALoadLivesUntilThen) {
  Fault panics{FaultKind::kernel_panic, {}};
  panics.span = VirtualTime{30};
  panics.timing.under = "cpu";
  Bench bench{{panics}};

  const auto idle = bench.sh("sleep 100; echo alive");
  const auto burnt = bench.sh("stress-ng --cpu 1 --timeout 300s; echo alive");

  EXPECT_EQ(idle.out, "alive\n");
  EXPECT_EQ(burnt.out, "");
  EXPECT_FALSE(bench.machine.up());
  EXPECT_EQ(bench.machine.power(), Power::on);
}

TEST(JobTest, ToolsSayWhatIsBroken) {
  Bench bench{{{.kind = FaultKind::memory_errors, .errors = 2},
               {.kind = FaultKind::disk_errors, .part = "nvme0"},
               {.kind = FaultKind::gpu_ecc, .part = "gpu1", .errors = 7},
               {.kind = FaultKind::gpu_remap_pending, .part = "gpu2"}}};

  const auto stress = bench.sh("stress-ng --vm 0 --verify --metrics --timeout 60s 2>&1");
  const auto disk = bench.sh(
      "fio --output-format=json --filename=/var/tmp/f --size=1M "
      "--name=v --rw=write --verify=crc32c");
  const auto gpus = bench.sh("nvidia-smi -q -x").out;

  EXPECT_EQ(stress.status, 2);
  EXPECT_THAT(stress.out, HasSubstr("stress-ng: fail:"));
  EXPECT_EQ(disk.status, 1);
  EXPECT_THAT(disk.out, HasSubstr("\"error\" : 84"));
  EXPECT_THAT(gpus, HasSubstr("<dram_uncorrectable>7</dram_uncorrectable>"));
  EXPECT_THAT(gpus, HasSubstr("<remapped_row_pending>Yes</remapped_row_pending>"));
  EXPECT_THAT(bench.sh("dmesg").out, HasSubstr("NVRM: Xid"));
}

}  // namespace
}  // namespace cupel::rehearsal
