// `cupel image build --root`, whole: the burn-in system of real packages, and a machine that boots
// it through the boot server and runs its tools.
#include "tests/e2e/bare_metal/os_run_bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;

constexpr const char* kName = "burn-in";
constexpr const char* kPlaybook = R"(playbook: ram
description: the burn-in system, up
steps:
  - step: boot-ram
    with: {ram: burn-in}
  - step: ssh-wait
  - stage: facts
)";

class LongBurnInRoot : public OsRunBench {
 protected:
  void SetUp() override {
    for (const auto* file : {"/usr/bin/mmdebstrap", "/usr/bin/mksquashfs"})
      CUPEL_NEEDS_REAL_PART(std::filesystem::exists(file), file + std::string{" is not there"});
    if (!mirror_answers()) GTEST_SKIP() << "Debian's mirror is not reachable";
    OsRunBench::SetUp();
  }
  void build() {
    const auto ran =
        make_image(made.path(), {"build", kName, "--any-boot-server", "--root", "bookworm",
                                 "--cmdline", "console=ttyS0 quiet panic=5"});
    require(ran.status == 0, ran.out + ran.err);
  }
  void make_machine() {
    std::vector<QemuMachine> machines;
    machines.push_back({.firmware = QemuMachine::Firmware::uefi, .mebibytes = 2048});
    make_site(std::move(machines));
    start_dhcp();
    std::filesystem::copy(made.path() / "images" / kName, file("images") / kName,
                          std::filesystem::copy_options::recursive);
    write_inventory("ways: [http]");
    write("ram.yaml", kPlaybook);
  }

  test::TemporaryFolder made{};
};

TEST_F(LongBurnInRoot, IsBuiltOfPackagesAndRunsItsToolsOnAMachineThatBootedIt) {
  build();
  make_machine();

  const auto ran = cupel({"run", "ram.yaml", "--no-console", "--wait-for-repair", "0s"});

  ASSERT_EQ(ran.status, 0) << ran.out << ran.err << rack->shown(1);
  EXPECT_THAT(rack->shown(1), HasSubstr("CUPEL switches to the large RAM system"));
  // The host key is still the pinned one, as are name and address.
  EXPECT_THAT(on_node(1, "uname -n; cat /etc/cupel/os.json; ip -br addr"),
              ::testing::AllOf(HasSubstr(QemuRack::name(1)), HasSubstr("root.squashfs"),
                               HasSubstr(QemuRack::address(1) + "/24")));
  EXPECT_THAT(on_node(1, "systemctl is-system-running --wait; systemctl --failed --plain"),
              HasSubstr("running"));
  EXPECT_THAT(on_node(1, "stress-ng --cpu 1 --cpu-ops 10 2>&1"), HasSubstr("successful run"));
  EXPECT_THAT(on_node(1, "fio --name=x --filename=/var/tmp/x --size=4M --rw=write --verify=crc32c"),
              HasSubstr("err= 0"));
  EXPECT_THAT(on_node(1, "modprobe mlx5_core && echo it has drivers of its kernel"),
              HasSubstr("it has drivers of its kernel"));
}

}  // namespace
}  // namespace cupel::rehearsal
