#pragma once
// A site of real machines with empty disks, with the images that they boot and are installed with,
// and `cupel` as it is built.
#include <fmt/format.h>

#include <fstream>

#include "orchestrator/images/image_store.h"
#include "tests/rehearsal/qemu/netboot_bench.h"
#include "tests/support/boot_artefacts.h"
#include "tests/support/own_host/own_host.h"
#include "tests/support/real_part.h"

namespace cupel::rehearsal {

class OsRunBench : public NetbootBench {
 protected:
  using QemuRack = cupel::testing::QemuRack;
  static constexpr const char* kImage = "cupel-test";
  static std::string disk_of(int number) { return "NVME000" + std::to_string(number); }

  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(QemuRack::missing().empty(), QemuRack::missing());
    take_artefacts(cupel::testing::boot_artefacts(NODE_BINARY));
  }
  void take_artefacts(const Result<cupel::testing::BootArtefacts>& made) {
    CUPEL_NEEDS_REAL_PART(made, made.error().what);
    artefacts = *made;
  }
  /// A folder of programs as it is installed: the node's program is the one that is shipped.
  static std::filesystem::path make_programs(const std::filesystem::path& below) {
    const auto programs = below / "programs";
    std::filesystem::create_directory(programs);
    std::error_code there;
    std::filesystem::create_symlink(SOURCE_DIR "/burnin/ram", programs / "ram", there);
    std::filesystem::create_symlink(NODE_BINARY, programs / "cupel-node", there);
    return programs;
  }
  /// Where packages come from. Names are resolved, and packages fetched, in the machine's own
  /// network: those of the test and of its rack have no way out.
  static bool mirror_answers() {
    const cupel::testing::MachinesNetwork with_packages;
    constexpr const char* kMirror = "http://deb.debian.org/debian/dists/bookworm/InRelease";
    return cupel::testing::run({"curl", "-sfI", "-m", "20", kMirror}).status == 0;
  }
  /// `cupel image WORDS`, with a mirror in reach. Packages that were fetched are kept beside the
  /// artefacts.
  cupel::testing::Ran make_image(const std::filesystem::path& below,
                                 const std::vector<std::string>& words) const {
    const auto cache = artefacts.ram_efi.parent_path().parent_path() / "cache";
    std::vector<std::string> line{"env",
                                  "XDG_CACHE_HOME=" + cache.string(),
                                  CUPEL_BINARY,
                                  "--programs",
                                  make_programs(below).string(),
                                  "--state",
                                  (below / "state").string(),
                                  "image",
                                  "--images",
                                  (below / "images").string()};
    line.insert(line.end(), words.begin(), words.end());
    const cupel::testing::MachinesNetwork with_packages;
    return cupel::testing::run(line, {}, std::chrono::minutes{40});
  }

  void make_machines(int count) {
    std::vector<QemuMachine> machines;
    for (int number = 1; number <= count; ++number)
      machines.push_back({.firmware = QemuMachine::Firmware::uefi,
                          .mebibytes = 512,
                          .disks = {{.serial = disk_of(number), .bytes = 256u << 20}}});
    make_site(std::move(machines));
    start_dhcp();
  }
  /// Without DHCP.
  void make_site(std::vector<QemuMachine> machines) {
    make_rack(std::move(machines));
    store_images();
    const auto made = cupel::testing::run(
        {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file("key").string()});
    require(made.status == 0, made.err);
  }

  std::filesystem::path file(const std::string& name) const { return rack->folder() / name; }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(file(name).parent_path());
    std::ofstream{file(name)} << text;
  }

  std::string keep(images::ImageManifest manifest,
                   const std::vector<std::filesystem::path>& files) const {
    const auto store = *images::ImageStore::open_or_make(file("images"));
    auto folder = *store.begin(manifest.name);
    std::vector<std::string> names;
    for (const auto& each : files) {
      std::filesystem::copy_file(each, folder.folder() / each.filename());
      names.push_back(each.filename());
    }
    manifest.arch = arch;
    manifest.made = "2026-01-01T00:00:00Z";
    const auto kept = store.keep(std::move(folder), std::move(manifest), names);
    if (!kept) throw std::runtime_error{kept.error().what};
    return kept->digest();
  }
  std::string console() const { return arch == "aarch64" ? "ttyAMA0" : "ttyS0"; }
  virtual void store_images() {
    keep({.name = "ram",
          .kind = images::ImageKind::ram,
          .command_line = "console=" + console() + " quiet panic=5 cupel.http=yes",
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
          "    boot: {{macs: [\"{}\"], disk: {}{}}}\n",
          QemuRack::name(number), rack->machine(number).serial, QemuRack::bmc_address(number),
          QemuRack::address(number), rack->machine(number).nic->mac, disk_of(number),
          nodes_have_addresses ? ", address: " + QemuRack::address(number) + "/24" : "");
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
    require(made.status == 0, made.err);
  }
  /// Of the machines that the test has.
  virtual std::filesystem::path programs() const {
    return std::filesystem::path{NODE_BINARY}.parent_path();
  }
  std::vector<std::string> line_of(const std::vector<std::string>& words) const {
    std::vector<std::string> all{"env",
                                 "-C",
                                 rack->folder().string(),
                                 std::string{"BARE_PASSWORD="} + QemuRack::kPassword,
                                 CUPEL_BINARY,
                                 "--programs",
                                 programs().string(),
                                 "--state",
                                 file("state").string()};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
  cupel::testing::Ran cupel(const std::vector<std::string>& words) const {
    return cupel::testing::run(line_of(words), {}, std::chrono::minutes{25});
  }
  /// What one command says on the installed system, whose host key is the pinned one.
  std::string on_node(int number, const std::string& command) const {
    const auto ran = cupel({"exec", QemuRack::name(number), "--", command});
    return ran.out + ran.err;
  }

  void expect_installed(int number, const std::string& ticket_from) const {
    using ::testing::AllOf, ::testing::HasSubstr;
    EXPECT_THAT(rack->shown(number),
                AllOf(HasSubstr("CUPEL ticket from " + ticket_from),
                      HasSubstr("installed system is up: " + QemuRack::name(number))));
    EXPECT_THAT(on_node(number, "cat /var/lib/cupel/os.json"),
                AllOf(HasSubstr(digest), HasSubstr(QemuRack::name(number))));
  }

  cupel::testing::BootArtefacts artefacts;
  std::string arch = "x86_64";  // of the images
  std::string digest;
  bool nodes_have_addresses = false;  // boot: address
};

}  // namespace cupel::rehearsal
