// `cupel run os`, whole: real machines with empty disks, real firmware, the RAM system and the
// controller as they are built, from power-on to facts of the installed system over SSH.
#include <fmt/format.h>

#include <fstream>

#include "orchestrator/images/image_store.h"
#include "tests/rehearsal/qemu/netboot_bench.h"
#include "tests/support/boot_artefacts.h"
#include "tests/support/real_part.h"
#include "tests/support/slurm.h"

namespace cupel::rehearsal {
namespace {
using cupel::testing::LoopbackSlurm;
using cupel::testing::QemuRack;
using cupel::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kImage = "cupel-test";
std::string disk_of(int number) { return "NVME000" + std::to_string(number); }

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

class OsRun : public NetbootBench {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(QemuRack::missing().empty(), QemuRack::missing());
    const auto made = cupel::testing::boot_artefacts(NODE_BINARY);
    CUPEL_NEEDS_REAL_PART(made, made.error().what);
    artefacts = *made;
  }

  void make_machines(int count) {
    std::vector<QemuMachine> machines;
    for (int number = 1; number <= count; ++number)
      machines.push_back({.firmware = QemuMachine::Firmware::uefi,
                          .mebibytes = 512,
                          .disks = {{.serial = disk_of(number), .bytes = 256u << 20}}});
    make_rack(std::move(machines));
    start_dhcp();
    store_images();
    ASSERT_EQ(cupel::testing::run(
                  {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file("key").string()})
                  .status,
              0);
  }

  fs::path file(const std::string& name) const { return rack->folder() / name; }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(file(name).parent_path());
    std::ofstream{file(name)} << text;
  }

  std::string keep(images::ImageManifest manifest, const std::vector<fs::path>& files) const {
    const auto store = *images::ImageStore::open_or_make(file("images"));
    auto folder = *store.begin(manifest.name);
    std::vector<std::string> names;
    for (const auto& each : files) {
      fs::copy_file(each, folder.folder() / each.filename());
      names.push_back(each.filename());
    }
    manifest.arch = "x86_64";
    manifest.made = "2026-01-01T00:00:00Z";
    const auto kept = store.keep(std::move(folder), std::move(manifest), names);
    if (!kept) throw std::runtime_error{kept.error().what};
    return kept->digest();
  }
  void store_images() {
    keep({.name = "ram",
          .kind = images::ImageKind::ram,
          .command_line = "console=ttyS0 quiet panic=5",
          .iso_ticket = images::Slot{artefacts.iso_ticket, 4096}},
         {artefacts.ram_efi, artefacts.vmlinuz, artefacts.initrd, artefacts.ram_iso});
    digest = keep({.name = kImage,
                   .kind = images::ImageKind::disk,
                   .content_size = artefacts.disk_size,
                   .compression = "zstd",
                   .efi = "\\EFI\\cupel\\linux.efi"},
                  {artefacts.disk});
  }
  /// `boot` and `slurm`: what the inventory says below these keys.
  void write_inventory(const std::string& boot, const std::string& slurm = {}) const {
    write("profiles/lab.yaml",
          fmt::format("profile: lab\n"
                      "description: a machine of a test\n"
                      "units: 1\n"
                      "power: {{idle: 100, loaded: 200}}\n"
                      "patience: {{post: 15m}}\n"
                      "os: {{image: {}, sha256: {}}}\n"
                      "criteria:\n"
                      "  facts:\n"
                      "    - {{measure: memory.total, at_least: 0.1, unit: GiB, source: a test}}\n"
                      "  disk:\n"
                      "    - {{measure: disk.errors, at_most: 0, unit: errors, source: fio}}\n",
                      kImage, digest));
    std::string text = fmt::format(
        "site: bare-metal\n"
        "boot: {{serve: \"10.77.0.1:8081\", images: images, {}}}\n"
        "{}"
        "defaults:\n"
        "  profile: lab\n"
        "  bmc: {{user: {}, password: \"env:BARE_PASSWORD\", tls: {{trust: first-use}}}}\n"
        "  ssh: {{user: root, key: key, host_key: first-use}}\n"
        "nodes:\n",
        boot, slurm, QemuRack::kUser);
    for (int number = 1; number <= rack->count(); ++number)
      text += fmt::format(
          "  - name: {}\n"
          "    serial: {}\n"
          "    bmc: {{address: {}}}\n"
          "    ssh: {{address: {}}}\n"
          "    boot: {{macs: [\"{}\"], disk: {}}}\n",
          QemuRack::name(number), rack->machine(number).serial, QemuRack::bmc_address(number),
          QemuRack::address(number), rack->machine(number).nic->mac, disk_of(number));
    write("inventory.yaml", text);
  }
  /// Of the boot server, by the authority that the RAM system trusts.
  void make_certificate() const {
    const auto made = cupel::testing::run(
        {"env", "-C", rack->folder().string(), "sh", "-ec",
         "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=boot "
         "-keyout server.key -out server.csr; echo subjectAltName=IP:10.77.0.1 > names; "
         "openssl x509 -req -in server.csr -CA \"$1\" -CAkey \"$2\" -CAcreateserial "
         "-CAserial serial -days 2 -extfile names -out server.pem; cp \"$1\" ca.pem",
         "certificate", artefacts.ca.string(), artefacts.ca_key.string()});
    ASSERT_EQ(made.status, 0) << made.err;
  }
  Ran cupel(std::vector<std::string> words) const {
    std::vector<std::string> all{"env",
                                 "-C",
                                 rack->folder().string(),
                                 std::string{"BARE_PASSWORD="} + QemuRack::kPassword,
                                 CUPEL_BINARY,
                                 "--programs",
                                 fs::path{NODE_BINARY}.parent_path().string(),
                                 "--state",
                                 file("state").string()};
    all.insert(all.end(), words.begin(), words.end());
    return cupel::testing::run(all, {}, std::chrono::minutes{25});
  }
  /// What one command says on the installed system, whose host key is the pinned one.
  std::string on_node(int number, const std::string& command) const {
    const auto ran = cupel({"exec", QemuRack::name(number), "--", command});
    return ran.out + ran.err;
  }

  void expect_installed(int number, const std::string& ticket_from) const {
    EXPECT_THAT(rack->shown(number),
                AllOf(HasSubstr("CUPEL ticket from " + ticket_from),
                      HasSubstr("installed system is up: " + QemuRack::name(number))));
    EXPECT_THAT(on_node(number, "cat /var/lib/cupel/os.json"),
                AllOf(HasSubstr(digest), HasSubstr(QemuRack::name(number))));
  }

  cupel::testing::BootArtefacts artefacts;
  std::string digest;
};

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
    EXPECT_THAT(slurm.told(QemuRack::name(number), "%f"), HasSubstr("qualified"));
  }
}

TEST_F(OsRun, InstallsAMachineFromAVirtualDiscAndABootServerThatSpeaksHttps) {
  make_machines(1);
  make_certificate();
  write_inventory("ways: [media], tls: {certificate: server.pem, key: server.key, ca: ca.pem}");

  const auto ran = cupel({"run", "os", "--no-console", "--wait-for-repair", "0s"});

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err << rack->shown(1);
  expect_installed(1, "media");
  EXPECT_EQ(rack->on(1, [](QemuSystem& system) { return system.virtual_disc(); }), "");
}

}  // namespace
}  // namespace cupel::rehearsal
