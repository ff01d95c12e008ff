// `cupel run os`, whole: real machines with empty disks, real firmware, the RAM system and the
// controller as they are built, from power-on to facts of the installed system over SSH.
#include "tests/e2e/bare_metal/os_run_bench.h"
#include "tests/support/slurm.h"

namespace cupel::rehearsal {
namespace {
using cupel::testing::LoopbackSlurm;
using ::testing::HasSubstr;

// What the shipped playbook leaves to others: tests of what was installed, and the hand-off.
constexpr const char* kQualify = R"(playbook: qualify
description: a machine that has its OS, into Slurm
steps:
  - step: slurm-drain
  - step: os
  - step: ssh-wait
  - stage: facts
  - stage: disk
    with: {directory: /sysroot/var/lib/cupel, size: 16MiB, runtime: 1s}
  - step: verdict
  - step: hand-off
)";

class OsRun : public OsRunBench {};

TEST_F(OsRun, BringsTwoMachinesWithEmptyDisksIntoSlurmFromTheUrisOfTheirBmcs) {
  CUPEL_NEEDS_REAL_PART(LoopbackSlurm::installed(), "slurmctld, slurmd or munged is not installed");
  make_machines(2);
  const LoopbackSlurm slurm{"q01-n[01-02]",
                            "NodeName=q01-n[01-02] CPUs=1 RealMemory=100 State=UNKNOWN\n"};
  write_inventory("ways: [http]",
                  fmt::format("slurm: {{partition: gpu, features: [qualified], configuration: "
                              "\"{}\"}}\n",
                              slurm.configuration()));
  write("qualify.yaml", kQualify);

  const auto installed =
      cupel({"run", "os", "--set", "canary=2", "--no-console", "--wait-for-repair", "0s"});
  const auto qualified = cupel({"run", "qualify.yaml", "--no-console", "--wait-for-repair", "0s"});

  EXPECT_EQ(installed.status, 0) << installed.out << installed.err << rack->shown(1)
                                 << rack->shown(2);
  EXPECT_EQ(qualified.status, 0) << qualified.out << qualified.err;
  for (const int number : {1, 2}) {
    expect_installed(number, "cmdline");
    EXPECT_EQ(slurm.state(QemuRack::name(number)), "idle");
    EXPECT_THAT(slurm.reported(QemuRack::name(number), "%f"), HasSubstr("qualified"));
  }
}

TEST_F(OsRun, InstallsAMachineFromAVirtualDiscAndABootServerThatSpeaksHttps) {
  make_machines(1);
  make_certificate();
  write_inventory("ways: [media], tls: {certificate: server.pem, key: server.key, ca: ca.pem}");
  std::ofstream{file("inventory.yaml"), std::ios::app}
      << "    os: {user_data: {write_files: [{path: /var/lib/site, permissions: \"0640\", content: "
         "'site data of {{node}}'}]}}\n";

  const auto ran = cupel({"run", "os", "--no-console", "--wait-for-repair", "0s"});

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err << rack->shown(1);
  expect_installed(1, "media");
  EXPECT_THAT(on_node(1, "cat /var/lib/site"), HasSubstr("site data of " + QemuRack::name(1)));
  EXPECT_EQ(rack->on(1, [](QemuSystem& system) { return system.virtual_disc(); }), "");
}

}  // namespace
}  // namespace cupel::rehearsal
