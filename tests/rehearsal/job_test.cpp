// Scripts as a controller runs them on a node: jobs that outlive their connection, uploads, and the
// questions that burn-in stages ask.
#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/rehearsal/bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;

/// A keeper in a session of its own, a watch beside the job, the job in a third session.
std::string detached(const std::string& job, int limit) {
  const std::string watch = "sleep " + std::to_string(limit) +
                            "; mkdir $d/over; kill -KILL -- -$(cat $d/group) 2>/dev/null";
  const std::string keeper =
      "d=/var/tmp/job\n"
      "d=$d setsid sh -c " +
      shell_quoted(watch) +
      " < /dev/null > /dev/null 2>&1 &\n"
      "w=$!\n"
      "env CUPEL_JOB=\"$d\" setsid sh -c " +
      shell_quoted("echo $$ > /var/tmp/job/group; exec sh -c " + shell_quoted(job)) +
      " < /dev/null > \"$d/out\" 2> \"$d/err\"\n"
      "status=$?\n"
      "kill -KILL -- -$w 2>/dev/null\n"
      "cd /proc\n"
      "strays=$(grep -lsxzF \"CUPEL_JOB=$d\" [0-9]*/environ 2>/dev/null)\n"
      "[ -z \"$strays\" ] || kill -KILL $(dirname $strays) 2>/dev/null\n"
      "cd /\n"
      "if [ -d \"$d/over\" ]; then status=124; fi\n"
      "echo $status > \"$d/exit.part\"; mv \"$d/exit.part\" \"$d/exit\"\n";
  return "mkdir -p /var/tmp/job || exit 73\n"
         "cat /proc/sys/kernel/random/boot_id > /var/tmp/job/boot\n"
         "setsid sh -c " +
         shell_quoted(keeper) + " < /dev/null > /dev/null 2>&1 &\n";
}

/// Ends with the job, whenever that is.
const std::string kWait =
    "d=/var/tmp/job; while [ ! -s $d/exit ]; do sleep 1; done; cat $d/out; cat $d/err >&2; "
    "exit $(cat $d/exit)";

std::string alive(Bench& bench, const std::string& what) {
  return bench.sh("ps | grep -v grep | grep -c '" + what + "'").out;
}

TEST(JobTest, ADetachedJobOutlivesTheCommandThatStartedIt) {
  Bench bench;

  const auto started = bench.sh(detached("echo out; sleep 100; echo err >&2; exit 5", 100000));
  const auto early = bench.sh("cat /var/tmp/job/exit");
  const auto ended = bench.sh(kWait);

  EXPECT_EQ(started.status, 0);
  EXPECT_EQ(early.status, 1);
  EXPECT_EQ(ended.out, "out\n");
  EXPECT_EQ(ended.err, "err\n");
  EXPECT_EQ(ended.status, 5);
  EXPECT_EQ(alive(bench, "sleep"), "0\n");
}

TEST(JobTest, EndsAtItsLimitWithAllThatItStarted) {
  Bench bench;

  bench.sh(detached("setsid sleep 200001 & sleep 200002", 50));

  EXPECT_EQ(bench.sh(kWait).status, 124);
  EXPECT_EQ(alive(bench, "20000"), "0\n");
}

TEST(JobTest, IsReadFromAnOffset) {
  Bench bench;
  bench.sh("mkdir -p /var/tmp/job; printf abcdefgh > /var/tmp/job/out");

  const auto ran = bench.sh("cd /var/tmp/job; tail -c +4 out | head -c 3; wc -c < out");

  EXPECT_EQ(ran.out, "def8\n");
}

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
