// What Debian's installer is given: values that may stand there, the script that runs beside it,
// run here by sh against programs that note what they are called with, and what it leaves in the
// new system.
#include "orchestrator/os/installer.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "inventory/node.h"
#include "orchestrator/os/installer_templates.h"
#include "tests/support/captures.h"
#include "tests/support/child.h"

namespace cupel::os {
namespace {

namespace fs = std::filesystem;
using cupel::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kBase = "http://10.0.0.1:8081/boot/0123456789abcdef0123456789abcdef/";
constexpr const char* kHome = "http://10.0.0.1:8081/home/fedcba9876543210fedcba9876543210";

std::string content_of(const fs::path& file) {
  std::ifstream stream{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}
void write(const fs::path& file, std::string_view text) {
  fs::create_directories(file.parent_path());
  std::ofstream{file, std::ios::binary} << text;
}
unsigned mode_of(const fs::path& file) {
  return static_cast<unsigned>(fs::status(file).permissions()) & 0777U;
}

class Installer : public ::testing::Test {
 protected:
  Installer() {
    node.name = "a01-n01";
    node.boot = {{"52:54:00:AA:00:01"}, "", "NVME0001"};
    request = {.node = &node,
               .image = "debian-12-installer",
               .digest = std::string(64, 'd'),
               .mirror = "http://10.0.0.1:8000/debian",
               .public_key = "ssh-ed25519 AAAAC3Nza cupel",
               .ticket = {"0123456789abcdef0123456789abcdef", kBase, kHome},
               .networks = {json::object{{"mac", "52:54:00:aa:00:01"}, {"dhcp", true}}}};
  }
  std::string refused() const {
    const auto files = debian_installer(request);
    return files ? "" : files.error().what;
  }

  inventory::Node node{};
  InstallerRequest request{};
};

TEST_F(Installer, ItsKernelIsToldWhereTheAnswersAreAndWhichInterfaceItBootedFrom) {
  const auto files = debian_installer(request);

  ASSERT_TRUE(files) << files.error().what;
  EXPECT_EQ(files->arguments,
            "auto=true priority=critical DEBIAN_FRONTEND=text TERM=dumb "
            "netcfg/choose_interface=auto netcfg/get_nameservers= netcfg/hostname=a01-n01 "
            "domain=unassigned-domain "
            "url=http://10.0.0.1:8081/boot/0123456789abcdef0123456789abcdef/preseed.cfg "
            "BOOTIF=01-52-54-00-aa-00-01");
}

TEST_F(Installer, AnswersWithTheMirrorAndNeverWithADisk) {
  const auto files = debian_installer(request);

  ASSERT_TRUE(files) << files.error().what;
  const auto& answers = files->texts.at("preseed.cfg");
  EXPECT_THAT(answers,
              AllOf(HasSubstr("d-i mirror/protocol string http\n"),
                    HasSubstr("d-i mirror/http/hostname string 10.0.0.1:8000\n"),
                    HasSubstr("d-i mirror/http/directory string /debian\n"),
                    HasSubstr("d-i netcfg/get_hostname string a01-n01\n"),
                    HasSubstr("d-i passwd/root-password-crypted password !\n"),
                    HasSubstr("d-i partman/early_command string sh /tmp/cupel/installer.sh disk\n"),
                    Not(HasSubstr("partman-auto/disk")), Not(HasSubstr("{{"))));
}

TEST_F(Installer, TheHomeUrlIsInTheSecretPartAlone) {
  const auto files = debian_installer(request);

  ASSERT_TRUE(files) << files.error().what;
  EXPECT_THAT(files->late, HasSubstr(kHome));
  for (const auto& [name, text] : files->texts) EXPECT_THAT(text, Not(HasSubstr(kHome))) << name;
  EXPECT_THAT(files->arguments, Not(HasSubstr(kHome)));
}

TEST_F(Installer, TakesNoValueThatAShellOrAnAnswerFileReadsOtherwise) {
  const auto good = request;
  EXPECT_EQ(refused(), "");
  for (const auto* mirror : {"", "ftp://10.0.0.1/debian", "http://", "http:///debian",
                             "http://10.0.0.1/debian\nd-i x", "http://10.0.0.1/'"}) {
    request.mirror = mirror;
    EXPECT_THAT(refused(), HasSubstr("a01-n01: the installer's image names no mirror")) << mirror;
  }
  request = good;
  for (const auto* key : {"ssh-ed25519", "ssh-ed25519 AAAA'", "ssh-ed25519 AAAA\nCUPEL_END"}) {
    request.public_key = key;
    EXPECT_THAT(refused(), HasSubstr("not a public key of SSH")) << key;
  }
  request = good;
  node.boot.disk = "S1'; reboot; '";
  EXPECT_THAT(refused(), HasSubstr("no serial number that an installer can be given"));
  node.boot.disk = "";
  EXPECT_THAT(refused(), HasSubstr("boot: {disk: SERIAL}"));
  node.boot.disk = "NVME0001";
  node.host_name = "a01_n01 x";
  EXPECT_THAT(refused(), HasSubstr("not a host name"));
  node.host_name = "";
  request.networks = {json::object{{"mac", "52:54:00:aa:00:01\n"}}};
  EXPECT_THAT(refused(), HasSubstr("not an address"));
}

TEST_F(Installer, IsNotServedOverHttpsWhichItCouldNotCheck) {
  request.ticket.base_url = "https://10.0.0.1:8081/boot/0123456789abcdef0123456789abcdef/";

  EXPECT_THAT(refused(), HasSubstr("cannot check the boot server's certificate"));
}

/// The script in a folder of its own, and programs of a Debian installer that note what they do.
class InstallerScript : public Installer {
 protected:
  InstallerScript() {
    write(served("cupel-node"), "#!/bin/sh\nexec '" NODE_BINARY "' \"$1\" \"$2\" --root '" +
                                    root().string() + "' $(shift 2; echo \"$@\")\n");
    write(served("late"), "echo late >> '" + file("calls").string() + "'\n");
    // GNU wget, as far as the script calls it; the file "refuses" names what gets 403.
    program("wget", R"sh(post= out= url=
while [ $# -gt 0 ]; do
  case $1 in
    -O) out=$2; shift ;;
    -T | -t) shift ;;
    --post-file=*) post=${1#*=} ;;
    -*) ;;
    *) url=$1 ;;
  esac
  shift
done
name=${url##*/}
[ -z "$post" ] || { printf '%s %s\n' "$name" "$(cat "$post")" >> "$BED/calls"; }
! grep -qx "$name" "$BED/refuses" 2> /dev/null || exit 8
[ -n "$post" ] || cat "$BED/served/$name" > "$out")sh");
    program("debconf-set", R"sh(echo "debconf-set $*" >> "$BED/calls")sh");
    // Time passes as often as the file "sleeps" has lines; then the script is over.
    program("sleep", R"sh([ -s "$BED/sleeps" ] || { kill "$PPID"; exit 1; }
sed -i 1d "$BED/sleeps")sh");
    disk("nvme0n1", "NVME0001", std::string(1 << 20, '\0'));
    disk("nvme1n1", "NVME0002", "EFI PART");
    write(root() / "sys/class/dmi/id/product_serial", "S1");
    write(served("Release"), "Suite: stable\n");
    prepare();
  }
  void prepare() {
    const auto files = debian_installer(request);
    ASSERT_TRUE(files) << files.error().what;
    auto script = files->texts.at("installer.sh");
    const auto put = [&](std::string_view old, const std::string& text) {
      const auto at = script.find(old);
      ASSERT_NE(at, script.npos) << old;
      script.replace(at, old.size(), text);
    };
    put("here=/tmp/cupel", "here='" + file("here").string() + "'");
    put("log=/var/log/syslog", "log='" + file("syslog").string() + "'");
    put("console=/dev/console", "console='" + file("console").string() + "'");
    fs::create_directories(file("here"));
    write(file("installer.sh"), script);
    write(file("console"), "");
  }
  Ran call(const std::string& word) const {
    return cupel::testing::run(
        {"sh", file("installer.sh").string(), word},
        {"PATH=" + file("bin").string() + ":/usr/bin:/bin", "BED=" + folder.path().string()});
  }
  fs::path file(const std::string& name) const { return folder.path() / name; }
  fs::path served(const std::string& name) const { return folder.path() / "served" / name; }
  fs::path root() const { return folder.path() / "root"; }
  std::string calls() const { return content_of(file("calls")); }
  void refuse(const std::string& name) const { write(file("refuses"), name + "\n"); }
  void program(const std::string& name, const std::string& text) const {
    write(file("bin/" + name), "#!/bin/sh\n" + text + "\n");
    fs::permissions(file("bin/" + name), fs::perms::owner_all);
  }
  void disk(const std::string& name, const std::string& serial, const std::string& start) const {
    constexpr std::uint64_t kSize = 16U << 20;
    const auto block = root() / "sys/block" / name;
    write(block / "device/serial", serial + "\n");
    write(block / "size", std::to_string(kSize / 512));
    std::string content = std::string(512, '\0') + start;
    content.resize(kSize, '\0');
    write(root() / "dev" / name, content);
  }

  test::TemporaryFolder folder{};
};

TEST_F(InstallerScript, SaysHelloBeforeAnythingElseAndNamesAMirrorThatIsNotThere) {
  fs::remove(served("Release"));

  call("early");

  EXPECT_THAT(calls(), StartsWith(R"(hello {"version":1,)"));
  EXPECT_THAT(calls(), HasSubstr(R"("serial":"S1")"));
  EXPECT_THAT(calls(), HasSubstr(R"(failed {"cause":"mirror","text":"http://10.0.0.1:8000/debian/)"
                                 R"(dists/stable/Release cannot be fetched"})"));
  EXPECT_THAT(content_of(file("console")), HasSubstr("CUPEL failed mirror: http://10.0.0.1"));
}

TEST_F(InstallerScript, GoesOnWhereTheBootServerTakesTheMachineAndTheMirrorAnswers) {
  const auto ran = call("early");

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(calls(), Not(HasSubstr("failed")));
  EXPECT_THAT(content_of(file("console")), HasSubstr("the boot server takes this machine"));
}

TEST_F(InstallerScript, AMachineThatIsRefusedGetsNoFurtherNorDoesItGetADisk) {
  refuse("hello");

  const auto early = call("early");
  const auto disk = call("disk");

  EXPECT_NE(early.status, 0);
  EXPECT_NE(disk.status, 0);
  EXPECT_THAT(calls(), Not(HasSubstr("debconf-set")));
  EXPECT_THAT(content_of(file("console")), HasSubstr("CUPEL refused: the boot server does not"));
}

TEST_F(InstallerScript, NamesTheDiskOfTheInventoryToTheInstaller) {
  ASSERT_EQ(call("early").status, 0);

  const auto ran = call("disk");

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(calls(), AllOf(HasSubstr("debconf-set partman-auto/disk /dev/nvme0n1\n"),
                             HasSubstr("debconf-set grub-installer/bootdev /dev/nvme0n1\n"),
                             Not(HasSubstr("nvme1n1\n"))));
}

TEST_F(InstallerScript, ADiskThatIsAbsentEndsIt) {
  node.boot.disk = "NVME0009";
  prepare();
  ASSERT_EQ(call("early").status, 0);

  const auto ran = call("disk");

  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(calls(), HasSubstr(R"(failed {"cause":"disk-missing","text":"no disk is serial )"));
  EXPECT_THAT(calls(), Not(HasSubstr("debconf-set")));
}

TEST_F(InstallerScript, ADiskThatHoldsSomethingIsTakenOnlyWhereItMayBeWiped) {
  node.boot.disk = "NVME0002";
  prepare();
  ASSERT_EQ(call("early").status, 0);
  EXPECT_NE(call("disk").status, 0);
  EXPECT_THAT(calls(), AllOf(HasSubstr(R"(failed {"cause":"disk-not-empty")"),
                             Not(HasSubstr("debconf-set"))));
  request.wipe = true;
  prepare();

  EXPECT_EQ(call("disk").status, 0);

  EXPECT_THAT(calls(), HasSubstr("debconf-set partman-auto/disk /dev/nvme1n1\n"));
}

TEST_F(InstallerScript, ReportsEachStepOnceAndTheOneThatFailed) {
  write(file("syslog"), "Jan  1 00:00:01 main-menu[1]: INFO: Menu item 'choose-mirror' selected\n");
  write(file("sleeps"), "1\n2\n");
  call("watch");
  EXPECT_EQ(calls(), "progress {\"state\":\"choose-mirror\"}\n");
  write(file("syslog"),
        "Jan  1 00:00:01 main-menu[1]: INFO: Menu item 'bootstrap-base' selected\n"
        "Jan  1 00:00:09 main-menu[1]: WARNING **: Configuring 'bootstrap-base' failed with error "
        "code 1\n");
  write(file("sleeps"), "1\n");

  call("watch");

  EXPECT_THAT(calls(), HasSubstr("failed {\"cause\":\"installer\",\"text\":\"Configuring "
                                 "bootstrap-base failed with error code 1\"}\n"));
}

TEST_F(InstallerScript, DoesWhatTheLateScriptSaysAndReportsTheDisk) {
  ASSERT_EQ(call("early").status, 0);
  ASSERT_EQ(call("disk").status, 0);

  const auto ran = call("late");

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(calls(), HasSubstr("late\ndone {\"disk\":{\"name\":\"nvme0n1\",\"serial\":"
                                 "\"NVME0001\""));
  EXPECT_FALSE(fs::exists(file("here/late"))) << "it holds the home URL";
}

TEST_F(InstallerScript, ALateScriptThatIsRefusedEndsItUnfinished) {
  ASSERT_EQ(call("early").status, 0);
  ASSERT_EQ(call("disk").status, 0);
  refuse("late");

  EXPECT_NE(call("late").status, 0);

  EXPECT_THAT(calls(), AllOf(HasSubstr(R"(failed {"cause":"server")"), Not(HasSubstr("done"))));
}

/// The late script, run on a folder that stands for the new system.
class NewSystems : public Installer {
 protected:
  void prepare() {
    fs::create_directories(target() / "etc");
    const auto files = debian_installer(request);
    ASSERT_TRUE(files) << files.error().what;
    const auto ran = cupel::testing::run({"sh", "-c", files->late, "late", target().string()});
    ASSERT_EQ(ran.status, 0) << ran.err;
  }
  fs::path target() const { return folder.path() / "target"; }

  test::TemporaryFolder folder{};
};

TEST_F(NewSystems, LetTheKeyInAndReportByTheirOwnUnit) {
  prepare();

  EXPECT_EQ(content_of(target() / "root/.ssh/authorized_keys"), "ssh-ed25519 AAAAC3Nza cupel\n");
  EXPECT_EQ(mode_of(target() / "root/.ssh"), 0700U);
  EXPECT_EQ(content_of(target() / "etc/hostname"), "a01-n01\n");
  EXPECT_EQ(content_of(target() / "var/lib/cupel/os.json"),
            R"({"cupel_os":1,"node":"a01-n01","image":"debian-12-installer","sha256":")" +
                std::string(64, 'd') + "\"}\n");
  const auto home = target() / "var/lib/cupel/home";
  EXPECT_THAT(content_of(home), StartsWith("#!/bin/sh\n"));
  EXPECT_EQ(mode_of(home), 0700U);
  EXPECT_EQ(cupel::testing::run({"sh", "-n", home.string()}).status, 0);
  EXPECT_EQ(content_of(home.string() + ".env"),
            std::string{"CUPEL_HOME="} + kHome + "\nCUPEL_IMAGE=debian-12-installer\n");
  EXPECT_EQ(mode_of(home.string() + ".env"), 0600U);
  const auto units = target() / "etc/systemd/system";
  EXPECT_EQ(fs::read_symlink(units / "multi-user.target.wants/cupel-home.service"),
            "../cupel-home.service");
  EXPECT_THAT(content_of(units / "cupel-home.service"),
              HasSubstr("ExecStart=/var/lib/cupel/home\n"));
  EXPECT_FALSE(fs::exists(target() / "etc/network")) << "by DHCP, as the installer has set it";
}

TEST_F(NewSystems, HaveFixedAddressesByTheirMac) {
  request.networks = {json::object{{"mac", "52:54:00:aa:00:01"},
                                   {"address", "10.0.2.11/24"},
                                   {"gateway", "10.0.2.1"},
                                   {"dns", json::array{"10.0.2.2", "10.0.2.3"}}},
                      json::object{{"mac", "52:54:00:aa:00:02"}, {"dhcp", true}}};

  prepare();

  const auto networks = target() / "etc/systemd/network";
  EXPECT_EQ(content_of(networks / "10-cupel-0.network"),
            "[Match]\nMACAddress=52:54:00:aa:00:01\n\n[Network]\nAddress=10.0.2.11/24\n"
            "Gateway=10.0.2.1\n");
  EXPECT_EQ(content_of(networks / "10-cupel-1.network"),
            "[Match]\nMACAddress=52:54:00:aa:00:02\n\n[Link]\nRequiredForOnline=no\n\n"
            "[Network]\nDHCP=yes\n");
  EXPECT_EQ(content_of(target() / "etc/resolv.conf"), "nameserver 10.0.2.2\nnameserver 10.0.2.3\n");
  EXPECT_EQ(content_of(target() / "etc/network/interfaces"), "auto lo\niface lo inet loopback\n");
  EXPECT_TRUE(fs::is_symlink(
      target() / "etc/systemd/system/multi-user.target.wants/systemd-networkd.service"));
}

}  // namespace
}  // namespace cupel::os
