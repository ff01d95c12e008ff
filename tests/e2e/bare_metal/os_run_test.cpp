// `cupel run os`, whole: real machines with empty disks, real firmware, the RAM system and the
// controller as they are built, from power-on to facts of the installed system over SSH.
#include <fmt/format.h>

#include <fstream>

#include "orchestrator/images/image_store.h"
#include "tests/rehearsal/qemu/netboot_bench.h"
#include "tests/support/boot_artefacts.h"
#include "tests/support/real_part.h"

namespace cupel::rehearsal {
namespace {
using cupel::testing::QemuRack;
using cupel::testing::Ran;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kDisk = "NVME0001";
constexpr const char* kImage = "cupel-test";

class LongOsRun : public NetbootBench {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(QemuRack::missing().empty(), QemuRack::missing());
    const auto made = cupel::testing::boot_artefacts(NODE_BINARY);
    CUPEL_NEEDS_REAL_PART(made, made.error().what);
    artefacts = *made;
    make_rack({.firmware = QemuMachine::Firmware::uefi,
               .mebibytes = 512,
               .disks = {{.serial = kDisk, .bytes = 256u << 20}}});
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
  /// `ways`: as boot: ways.
  void write_inventory(const std::string& ways) const {
    write("profiles/lab.yaml", fmt::format("profile: lab\n"
                                           "description: a machine of a test\n"
                                           "units: 1\n"
                                           "power: {{idle: 100, loaded: 200}}\n"
                                           "patience: {{post: 15m}}\n"
                                           "os: {{image: {}, sha256: {}}}\n",
                                           kImage, digest));
    write("inventory.yaml",
          fmt::format("site: bare-metal\n"
                      "boot: {{serve: \"10.77.0.1:8081\", images: images, ways: [{}]}}\n"
                      "defaults:\n"
                      "  profile: lab\n"
                      "  bmc: {{user: {}, password: \"env:BARE_PASSWORD\", tls: {{trust: "
                      "first-use}}}}\n"
                      "  ssh: {{user: root, key: key, host_key: first-use}}\n"
                      "nodes:\n"
                      "  - name: {}\n"
                      "    serial: {}\n"
                      "    bmc: {{address: {}}}\n"
                      "    ssh: {{address: {}}}\n"
                      "    boot: {{macs: [\"{}\"], disk: {}}}\n",
                      ways, QemuRack::kUser, QemuRack::name(1), rack->machine(1).serial,
                      QemuRack::bmc_address(1), QemuRack::address(1), rack->machine(1).nic->mac,
                      kDisk));
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
  std::string on_node(const std::string& command) const {
    const auto ran = cupel({"exec", QemuRack::name(1), "--", command});
    return ran.out + ran.err;
  }

  void expect_installed(const Ran& ran, const std::string& ticket_from) const {
    EXPECT_EQ(ran.status, 0) << ran.out << ran.err << rack->shown(1);
    EXPECT_THAT(rack->shown(1), HasSubstr("CUPEL ticket from " + ticket_from));
    EXPECT_THAT(rack->shown(1), HasSubstr("installed system is up: q01-n01"));
    EXPECT_THAT(on_node("cat /var/lib/cupel/os.json"), HasSubstr(digest));
  }

  cupel::testing::BootArtefacts artefacts;
  std::string digest;
};

TEST_F(LongOsRun, InstallsAMachineWithAnEmptyDiskFromTheUriOfItsBmc) {
  write_inventory("http");

  const auto ran = cupel({"run", "os", "--no-console", "--wait-for-repair", "0s"});

  expect_installed(ran, "cmdline");
}

}  // namespace
}  // namespace cupel::rehearsal
