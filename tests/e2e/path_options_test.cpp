// What stands in the place of a file or folder that an option names may be a pipe, a device,
// another user's or nothing: the command ends, says so once with the path as it can be printed, and
// changes nothing. The options are those of the program's own table, as its man pages print it: one
// that is neither a path below nor known to be none fails the test.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "base/text.h"
#include "tests/e2e/forked_cupel.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::IsEmpty;

enum class Takes {
  file,           // it is read
  folder,         // the same
  new_folder,     // it is made where it is not there
  output,         // a file that is written
  output_folder,  // files are written into it
};

struct Row {
  const char* option;  // "cupel exec --inventory"
  Takes takes;
  /// A blank between words. VALUE is what is tried; FOLDER is the test's own, PROGRAMS where cupel
  /// lies, KEPT a state folder with a run and a certificate of it.
  const char* line;
  bool decides = false;  // who may change it says who is admin, what is signed, who has a password
};

const std::vector<Row>& rows() {
  using enum Takes;
  static const std::vector<Row> all{
      {"cupel --state", new_folder, "--state VALUE status"},
      {"cupel --programs", folder, "--programs VALUE status"},
      {"cupel --log", output, "--log VALUE controller"},
      {"cupel audit arrivals FILE", file, "audit arrivals VALUE"},
      {"cupel audit assets FILE", file, "audit assets VALUE"},
      {"cupel backup FOLDER", output_folder, "backup VALUE"},
      {"cupel baseline floor import --floor", file,
       "baseline floor import FOLDER/advisory.json --floor VALUE", true},
      {"cupel baseline floor import --out", output,
       "baseline floor import FOLDER/advisory.json --out VALUE"},
      {"cupel baseline floor import FILE", file, "baseline floor import VALUE", true},
      {"cupel baseline floor show FILE", file, "baseline floor show VALUE", true},
      {"cupel bmc --inventory", file, "bmc n1 power -i VALUE"},
      {"cupel bmc console --record", output, "bmc n1 console --record VALUE"},
      {"cupel bmc diagnostics --output", output_folder, "bmc n1 diagnostics -o VALUE"},
      {"cupel bmc pins import FILE", file, "bmc pins import VALUE"},
      {"cupel bmc scan --ca", file, "bmc scan 127.0.0.9/32 --port 9 --ca VALUE", true},
      {"cupel bmc scan --password", file,
       "bmc scan 127.0.0.9/32 --port 9 --user a --password file:VALUE", true},
      {"cupel boot dhcp --inventory", file, "boot dhcp -i VALUE"},
      {"cupel certificate --key", file, "--state KEPT certificate 1 --nodes v01-n04 --key VALUE",
       true},
      {"cupel certificate --output", output,
       "--state KEPT certificate 1 --nodes v01-n04 --key FOLDER/key.pem -o VALUE"},
      {"cupel certificate --tsa-ca", file,
       "--state KEPT certificate 1 --nodes v01-n04 --key FOLDER/key.pem -o FOLDER/made/it --tsa "
       "http://127.0.0.1:9/ --tsa-ca VALUE",
       true},
      {"cupel check conf --inventory", file, "check conf n1 -i VALUE"},
      {"cupel doctor --inventory", file, "doctor -i VALUE"},
      {"cupel exec --inventory", file, "exec n1 -i VALUE -- true"},
      {"cupel fabric after-swap --inventory", file, "fabric after-swap -i VALUE"},
      {"cupel fabric audit --ibdiagnet", file, "fabric audit --ibdiagnet VALUE"},
      {"cupel fabric audit --iblinkinfo", file, "fabric audit --iblinkinfo VALUE"},
      {"cupel fabric audit --ibnetdiscover", file, "fabric audit --ibnetdiscover VALUE"},
      {"cupel fabric audit --inventory", file, "fabric audit --lldp FOLDER/now -i VALUE"},
      {"cupel fabric audit --lldp", folder, "fabric audit --lldp VALUE"},
      {"cupel fabric health --before", folder, "fabric health FOLDER/now --before VALUE"},
      {"cupel fabric health --inventory", file, "fabric health FOLDER/now -i VALUE"},
      {"cupel fabric health folder", folder, "fabric health VALUE"},
      {"cupel fabric plan --inventory", file, "fabric plan -i VALUE"},
      {"cupel fabric repaired --inventory", file, "fabric repaired l1/1 --did reseat -i VALUE"},
      {"cupel firmware check --inventory", file, "firmware check -i VALUE"},
      {"cupel firmware digest FILES", file, "firmware digest VALUE"},
      {"cupel firmware learn --inventory", file, "firmware learn n1 -i VALUE"},
      {"cupel firmware plan --inventory", file, "firmware plan -i VALUE"},
      {"cupel firmware rewrite --inventory", file, "firmware rewrite n1 --only bios -i VALUE"},
      {"cupel firmware show --inventory", file, "firmware show n1 -i VALUE"},
      {"cupel firmware sign --key", file, "firmware sign FOLDER/images.yaml --key VALUE", true},
      {"cupel firmware sign MANIFEST", file, "firmware sign VALUE --key FOLDER/key.pem", true},
      {"cupel image --images", new_folder, "image --images VALUE list"},
      {"cupel image build --ca", file,
       "--programs FOLDER/now image --images FOLDER/images build x --ca VALUE", true},
      {"cupel image build --cert", file,
       "--programs FOLDER/now image --images FOLDER/images build x --any-boot-server --key "
       "FOLDER/key.pem --cert VALUE",
       true},
      {"cupel image build --key", file,
       "--programs FOLDER/now image --images FOLDER/images build x --any-boot-server --cert "
       "FOLDER/key.pem --key VALUE",
       true},
      {"cupel image import FILE", file, "image --images FOLDER/images import VALUE d"},
      {"cupel image installer --initrd", file,
       "--programs FOLDER/now image --images FOLDER/images installer x --mirror http://10.0.0.1/x "
       "--kernel "
       "FOLDER/key.pem --initrd VALUE",
       true},
      {"cupel image installer --kernel", file,
       "--programs FOLDER/now image --images FOLDER/images installer x --mirror http://10.0.0.1/x "
       "--initrd "
       "FOLDER/key.pem --kernel VALUE",
       true},
      {"cupel inventory check --inventory", file, "inventory check -i VALUE"},
      {"cupel inventory check FILE", file, "inventory check VALUE"},
      {"cupel inventory ansible --inventory", file, "inventory ansible -i VALUE"},
      {"cupel compliance --against", file, "compliance --against VALUE", true},
      {"cupel compliance --check", file, "compliance --check VALUE", true},
      {"cupel compliance --html", output, "compliance --against clustermax --html VALUE"},
      {"cupel compliance --inventory", file, "compliance --against clustermax -i VALUE"},
      {"cupel export netbox --ca", file,
       "export netbox --url https://127.0.0.1:9 --token env:PATH --ca VALUE", true},
      {"cupel export netbox --inventory", file,
       "export netbox --url http://127.0.0.1:9 --token env:PATH -i VALUE"},
      {"cupel export netbox --token", file,
       "export netbox --url http://127.0.0.1:9 --token file:VALUE", true},
      {"cupel export otlp --ca", file,
       "export otlp --url https://127.0.0.1:9 --token env:PATH --ca VALUE", true},
      {"cupel export otlp --token", file, "export otlp --url http://127.0.0.1:9 --token file:VALUE",
       true},
      {"cupel export s3 --ca", file,
       "export s3 --endpoint https://127.0.0.1:9 --bucket abc --key env:PATH --ca VALUE", true},
      {"cupel export s3 --certificate", file,
       "export s3 --endpoint http://127.0.0.1:9 --bucket abc --key env:PATH --certificate VALUE"},
      {"cupel export s3 --key", file,
       "export s3 --endpoint http://127.0.0.1:9 --bucket abc --key file:VALUE", true},
      {"cupel login --ca", file,
       "login --server https://127.0.0.1:9 --issuer https://127.0.0.1:9 --client-id x --ca VALUE",
       true},
      {"cupel inventory import netbox --base", file,
       "inventory import netbox --url http://127.0.0.1:9 --token env:PATH --out FOLDER/made/x "
       "--base VALUE",
       true},
      {"cupel inventory import netbox --ca", file,
       "inventory import netbox --url https://127.0.0.1:9 --token env:PATH --out FOLDER/x --base "
       "FOLDER/judge.yaml --ca VALUE",
       true},
      {"cupel inventory import netbox --token", file,
       "inventory import netbox --url http://127.0.0.1:9 --out FOLDER/x --base FOLDER/judge.yaml "
       "--token file:VALUE",
       true},
      {"cupel inventory list --inventory", file, "inventory list -i VALUE"},
      {"cupel inventory prometheus --inventory", file, "inventory prometheus -i VALUE"},
      {"cupel manual --folder", output_folder, "manual --folder VALUE"},
      {"cupel parts --inventory", file, "parts n1 -i VALUE"},
      {"cupel plan --inventory", file, "plan audit -i VALUE"},
      {"cupel plan PLAYBOOK", file, "plan VALUE"},
      {"cupel playbook check --inventory", file, "playbook check FOLDER/judge.yaml -i VALUE"},
      {"cupel playbook check FILE", file, "playbook check VALUE"},
      {"cupel playbook show PLAYBOOK", file, "playbook show VALUE"},
      {"cupel profile check FILES", file, "profile check VALUE"},
      {"cupel profile learn --inventory", file, "profile learn n1 -i VALUE"},
      {"cupel profile list --inventory", file, "profile list -i VALUE"},
      {"cupel profile show --inventory", file, "profile show dgx-h100 -i VALUE"},
      {"cupel rack list --inventory", file, "rack list -i VALUE"},
      {"cupel rack show --inventory", file, "rack show a01 -i VALUE"},
      {"cupel report --html", output, "--state KEPT report 1 --html VALUE"},
      {"cupel requalify --inventory", file, "requalify n1 --plan -i VALUE"},
      {"cupel restore FOLDER", folder, "--state FOLDER/fresh restore VALUE"},
      {"cupel resume --notify", file, "resume 1 --notify VALUE"},
      {"cupel rma --attach", file, "--state KEPT rma v01-n03 -o FOLDER/made/x.tar --attach VALUE"},
      {"cupel rma --inventory", file, "--state KEPT rma v01-n03 -o FOLDER/made/x.tar -i VALUE"},
      {"cupel rma --output", output, "--state KEPT rma v01-n03 -o VALUE"},
      {"cupel run --inventory", file, "run audit -i VALUE"},
      {"cupel run --notify", file, "run audit --notify VALUE"},
      {"cupel run PLAYBOOK", file, "run VALUE"},
      {"cupel serve --config", file, "serve --listen nonsense --config VALUE", true},
      {"cupel serve --inventory", file, "serve --listen nonsense -i VALUE"},
      {"cupel settings --inventory", file, "settings plan n1 -i VALUE"},
      {"cupel slurm conf --inventory", file, "slurm conf -i VALUE"},
      {"cupel store verify --heads", file, "--state KEPT store verify --heads VALUE", true},
      {"cupel verify --journal", file,
       "verify FOLDER/run-1.certificate --key FOLDER/site.pub --journal VALUE"},
      {"cupel verify --key", file, "verify FOLDER/run-1.certificate --key VALUE"},
      {"cupel verify --revoked", file,
       "verify FOLDER/run-1.certificate --key FOLDER/site.pub --revoked VALUE"},
      {"cupel verify --tsa-ca", file,
       "verify FOLDER/run-1.certificate --key FOLDER/site.pub --tsa-ca VALUE", true},
      {"cupel verify CERTIFICATE", file, "verify VALUE --key FOLDER/site.pub"},
  };
  return all;
}

/// Not opened by the command itself, or by none that ends: tests of the virtual rack, of the
/// service and of verdicts have them.
const std::set<std::string>& elsewhere() {
  static const std::set<std::string> all{
      "cupel boot dhcp --lease-file",         // of dnsmasq
      "cupel boot dhcp --tftp",               // the same
      "cupel firmware continue --inventory",  // behind the update of a node
      "cupel inventory import netbox --out",  // behind the answers of NetBox
      "cupel rack serve --folder",            // of cupel-sim
      "cupel rack serve --inventory",         // the same
      "cupel rack serve --scenario",          // the same
      "cupel rack serve --slurm",             // the same
      "cupel rack serve RACK",                // the same
      "cupel rehearse --folder",              // the same
      "cupel rehearse --inventory",           // the same
      "cupel rehearse --rack",                // the same
      "cupel rehearse --scenario",            // the same
      "cupel rehearse --slurm",               // the same
      "cupel rehearse PLAYBOOK",              // that of `plan` reads it
      "cupel serve --socket",                 // it serves
      "cupel slurm conf --gres",              // behind the answers of slurmctld
      "cupel verdict recompute --criteria"    // behind the inventory of a run
  };
  return all;
}

/// Options and arguments whose values are no paths of this machine.
const std::set<std::string>& no_paths() {
  static const std::set<std::string> all{"--ago",
                                         "--audit-head",
                                         "--block-sizes",
                                         "--boot-host",
                                         "--bucket",
                                         "--endpoint",
                                         "--prefix",
                                         "--region",
                                         "--retain",
                                         "--cmdline",
                                         "--client-id",
                                         "--issuer",
                                         "--scope",
                                         "--server",
                                         "--columns",
                                         "--component",
                                         "--efi",
                                         "--escape",
                                         "--failed",
                                         "--filter",
                                         "--host",
                                         "--passed",
                                         "--product",
                                         "--profile",
                                         "--url",
                                         "--expires",
                                         "--from",
                                         "--interface",
                                         "--interval",
                                         "--keep",
                                         "--listen",
                                         "--measure-power",
                                         "--mirror",
                                         "--model",
                                         "--name",
                                         "--node",
                                         "--nodes",
                                         "--note",
                                         "--ocp",
                                         "--older-than",
                                         "--only",
                                         "--os",
                                         "--part",
                                         "--patience",
                                         "--racks",
                                         "--reason",
                                         "--recheck-interval",
                                         "--replaced",
                                         "--role",
                                         "--root",
                                         "--root-package",
                                         "--root-source",
                                         "--set",
                                         "--since",
                                         "--store",
                                         "--timeout",
                                         "--to",
                                         "--tsa",
                                         "--type",
                                         "--user",
                                         "--valid",
                                         "--vendor",
                                         "--version",
                                         "--wait-for-repair",
                                         "COMMAND",
                                         "NAME",
                                         "NAMES",
                                         "NETWORK",
                                         "NEWER",
                                         "NODE",
                                         "NODES",
                                         "OF",
                                         "OLDER",
                                         "RUN",
                                         "RUN_STEP",
                                         "SHELL",
                                         "STEP",
                                         "TARGET",
                                         "TOKEN",
                                         "URL",
                                         "WHAT",
                                         "port"};
  return all;
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream{file}.rdbuf();
  return text.str();
}

/// What it is, and how large: to be the same afterwards.
std::string look_of(const fs::path& path) {
  struct stat found{};
  ::lstat(path.c_str(), &found);
  const auto size = S_ISDIR(found.st_mode) ? 0 : found.st_size;
  return fmt::format("{:o} {} {} {}", found.st_mode, found.st_uid, found.st_ino, size);
}

class PathOptions : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::temp_directory_path() / "cupel-paths-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
    fs::create_directories(folder_ / "images");
    fs::create_directories(folder_ / "now");
    fs::create_directories(folder_ / "made");
    write("inventory.yaml",
          "site: lab\ndefaults: {profile: mine, bmc: {user: a, password: \"cmd:echo x\"}}\nnodes:\n"
          "  - {name: n1, bmc: {address: \"127.0.0.1:9\"}, ssh: {address: \"127.0.0.1:9\"}}\n"
          "  - {name: n2, bmc: {address: \"127.0.0.2:9\"}, ssh: {address: \"127.0.0.2:9\"}}\n"
          "fabric: {layout: fat-tree, hcas: [mlx5_0], group: 2}\n");
    fs::create_directory(folder_ / "profiles");
    write("profiles/mine.yaml", "profile: mine\npower: {idle: 1, loaded: 2}\n");
    write("judge.yaml", "playbook: judge\nsteps: [{step: verdict}]\n");
    write("images.yaml", "images: []\n");
    write(
        "advisory.json",
        R"({"document": {"csaf_version": "2.0", "publisher": {"name": "V"}, "tracking": {)"
        R"("id": "1", "current_release_date": "2026-05-21", "status": "final"}}, "product_tree": {)"
        R"("full_product_names": [{"name": "runc 1.2.9", "product_id": "a"}]}, )"
        R"("vulnerabilities": [{"product_status": {"fixed": ["a"]}}]})");
    write("now/ibnetdiscover.txt",
          "Switch\t41 \"S-a088c20300000010\"\t\t# \"MF0;leaf1:MQM8700/U1\" lid 1\n"
          "[1]\t\"H-a088c20300000101\"[1](a088c20300000101) \t\t# \"n1 mlx5_0\" lid 2 4xHDR\n\n"
          "Ca\t1 \"H-a088c20300000101\"\t\t# \"n1 mlx5_0\"\n"
          "[1](a088c20300000101) \t\"S-a088c20300000010\"[1]\t\t# lid 2 \"MF0;leaf1:MQM8700/U1\" "
          "4xHDR\n");
    const auto archive = SOURCE_DIR "/tests/orchestrator/kept_state/schema-10.tar.xz";
    const auto unpacked = run({"tar", "--no-same-owner", "-xf", archive, "-C", folder_.string()});
    ASSERT_EQ(unpacked.status, 0) << unpacked.err;
    const auto key = (folder_ / "key.pem").string();
    ASSERT_EQ(run({"openssl", "genpkey", "-algorithm", "ed25519", "-out", key}).status, 0);
    ::chmod(key.c_str(), 0600);
    ::setenv("CUPEL_INVENTORY", (folder_ / "inventory.yaml").c_str(), 1);
  }
  /// A run, so that commands on runs come to their options.
  void judge() const {
    const auto judged = run_forked_cupel({"--state", (folder_ / "own-state").string(), "run",
                                          (folder_ / "judge.yaml").string(), "--no-console",
                                          "--wait-for-repair", "0s"});
    ASSERT_EQ(judged.status, 1) << judged.out << judged.err;
  }
  void TearDown() override {
    ::unsetenv("CUPEL_INVENTORY");
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream{folder_ / name} << text;
  }

  /// What stands in the place of a path. Devices are links: a command that replaces its output
  /// would replace the machine's own.
  void make_values() const {
    fs::remove_all(folder_ / "v");
    fs::create_directories(folder_ / "v/a-folder");
    write("v/a-file", "x: 1\n");
    ASSERT_EQ(::mkfifo((folder_ / "v/a-pipe").c_str(), 0600), 0);
    fs::create_symlink("/dev/zero", folder_ / "v/all-zero");
    fs::create_symlink("/dev/full", folder_ / "v/no-room");
    fs::create_symlink("a-loop", folder_ / "v/a-loop");
    fs::create_directory(folder_ / "v/open");
    write("v/open/of-another", "x: 1\n");
    ::chmod((folder_ / "v/open").c_str(), 01777);
    if (::geteuid() == 0) {
      ASSERT_EQ(::chown((folder_ / "v/open/of-another").c_str(), 12345, 12345), 0);
    }
  }
  static std::vector<std::string> values_for(Takes takes) {
    const std::string missing = "not\x1b[2Jthere", too_long(5'000, 'x');
    switch (takes) {
      case Takes::file:
        return {"a-pipe", "a-folder", "all-zero", "a-loop", missing, too_long, "open/of-another"};
      case Takes::folder:
        return {"a-pipe", "a-file", "all-zero", "a-loop", missing, too_long};
      case Takes::new_folder:
        return {"a-pipe", "a-file", "all-zero", "a-loop", too_long};
      case Takes::output:
        return {"a-pipe", "a-folder", "no-room", "a-loop", "none/" + missing, too_long};
      case Takes::output_folder:
        return {"a-pipe", "a-file", "no-room", "a-loop", "a-file/" + missing, too_long};
    }
    __builtin_unreachable();
  }

  /// All that is in the test's folder, but for records.
  std::map<std::string, std::string> looks() const {
    std::map<std::string, std::string> all;
    for (auto at = fs::recursive_directory_iterator{folder_};
         at != fs::recursive_directory_iterator{}; ++at) {
      const auto name = at->path().filename();
      const bool records =
          name == "state" || name == "own-state" || name == "fresh" || name == "made";
      if (records && at.depth() == 0) at.disable_recursion_pending();
      if (!records) all.emplace(at->path().string(), look_of(at->path()));
    }
    return all;
  }

  std::vector<std::string> words_of(const Row& row, const std::string& value) const {
    std::vector<std::string> all;
    for (const auto each : words(row.line)) {
      std::string word{each};
      for (const auto& [name, what] :
           {std::pair{"FOLDER", folder_.string()}, {"KEPT", (folder_ / "state").string()}})
        if (word.starts_with(name)) word.replace(0, std::string_view{name}.size(), what);
      if (const auto at = word.find("VALUE"); at != word.npos) word.replace(at, 5, value);
      all.push_back(word);
    }
    if (all.front() != "--state")
      all.insert(all.begin(), {"--state", (folder_ / "own-state").string()});
    return all;
  }

  void try_value(const Row& row, const std::string& name) const {
    SCOPED_TRACE(fmt::format("{} {}", row.option, printable(shortened(name, 40))));
    const auto value = (folder_ / "v" / name).string();
    const auto before = looks();

    const auto ran = run_forked_cupel(words_of(row, value));

    EXPECT_EQ(looks(), before) << "it changed something";
    EXPECT_EQ((ran.out + ran.err).find('\x1b'), std::string::npos) << "a name moves the cursor";
    const bool of_another = name == "open/of-another";
    const bool may_be_read = of_another ? !row.decides : name == "a-pipe" && reads(row.takes);
    if (may_be_read || (of_another && ::geteuid() != 0)) {
      // A pipe that no program writes to is an empty file.
      EXPECT_THAT(ran.status, AnyOf(0, 1, 2, 3)) << ran.err;
      return;
    }
    EXPECT_THAT(ran.status, AnyOf(2, 3)) << ran.out << ran.err;
    int naming = 0;
    const auto printed = shortened(printable(value), 200);
    const auto begin = printed.substr(0, printed.rfind("..."));
    for (const auto line : lines(ran.err)) naming += line.contains(begin) ? 1 : 0;
    EXPECT_EQ(naming, 1) << "one error names " << begin << ": " << ran.err;
  }
  /// The rows with those of their values, by number, that `chosen` takes.
  void try_all(const std::function<bool(std::size_t row, std::size_t value)>& chosen) const {
    judge();
    const auto& all = rows();
    for (std::size_t row = 0; row < all.size(); ++row) {
      make_values();
      const auto values = values_for(all[row].takes);
      for (std::size_t i = 0; i < values.size(); ++i)
        if (chosen(row, i) && (values[i] != "all-zero" || !is_an_inventory_again(all[row])))
          try_value(all[row], values[i]);
    }
  }
  static bool reads(Takes takes) { return takes == Takes::file; }
  /// One function reads inventories: it reads 64 MiB of zeros once, and not for each command.
  static bool is_an_inventory_again(const Row& row) {
    const std::string_view option{row.option};
    return option.ends_with("--inventory") && !option.starts_with("cupel inventory check");
  }

  fs::path folder_;
};

/// Each option with a pipe, which is what a command hangs at, and with two more values, others for
/// the next option.
TEST_F(PathOptions, AreRefusedWhereThePathIsAPipeADeviceALoopOrNotThere) {
  try_all([](std::size_t row, std::size_t value) { return value == 0 || (row + value) % 3 == 0; });
}

class LongPathOptions : public PathOptions {};

TEST_F(LongPathOptions, AreRefusedWithEachValue) {
  try_all([](std::size_t, std::size_t) { return true; });
}

/// "cupel exec --inventory" of "\fB-i, --inventory\fR \fITEXT\fR" below "cupel exec"; empty for a
/// flag, a number and a word of a list.
std::string option_in(const std::string& command, std::string line) {
  for (auto at = line.find("\\-"); at != line.npos; at = line.find("\\-")) line.erase(at, 1);
  const auto end = line.find("\\fR");
  if (!line.starts_with("\\fB") || end == line.npos || line.contains("(1)")) return {};
  const auto names = line.substr(3, end - 3), value = line.substr(end + 3);
  if (names.starts_with("CUPEL_")) return {};
  const bool named = names.starts_with('-');
  const bool text = value.starts_with(" \\fI") && !value.contains('{') &&
                    !value.starts_with(" \\fIINT") && !value.starts_with(" \\fIUINT") &&
                    !value.starts_with(" \\fIFLOAT");
  if (named && !text) return {};
  const auto last = names.rfind(' ');
  return command + " " + (last == names.npos ? names : names.substr(last + 1));
}

/// "cupel bmc power" of ".SS cupel bmc NODES power [OPTIONS] [WHAT]".
std::string command_in(std::string line) {
  line.erase(0, std::string_view{".SS "}.size());
  line.erase(std::min(line.find(" [OPTIONS]"), line.size()));
  for (const auto* cut : {" NODES", "\\"})
    for (auto at = line.find(cut); at != line.npos; at = line.find(cut))
      line.erase(at, std::string_view{cut}.size());
  return line;
}

TEST_F(PathOptions, AreAllThatTheProgramHas) {
  fs::create_directory(folder_ / "man");
  ASSERT_EQ(run_forked_cupel({"manual", "--folder", (folder_ / "man").string()}).status, 0);
  std::set<std::string> known = elsewhere(), unknown;
  for (const auto& row : rows()) known.insert(row.option);
  auto unseen = known;
  int seen = 0;
  for (const auto& entry : fs::directory_iterator{folder_ / "man"}) {
    auto command = entry.path().stem().string();
    if (const auto dash = command.find('-'); dash != command.npos) command[dash] = ' ';
    std::istringstream page{text_of(entry.path())};
    std::string before;
    for (std::string line; std::getline(page, line); before = line) {
      if (line.starts_with(".SS ")) command = command_in(line);
      if (before != ".TP") continue;
      const auto option = option_in(command, line);
      if (option.empty()) continue;
      ++seen;
      unseen.erase(option);
      const auto name = option.substr(option.rfind(' ') + 1);
      if (!known.contains(option) && !no_paths().contains(name)) unknown.insert(option);
    }
  }
  EXPECT_GT(seen, 150);
  EXPECT_THAT(unknown, IsEmpty()) << "a row for each that names a path";
  EXPECT_THAT(unseen, IsEmpty()) << "rows of options that are no more";
}

}  // namespace
}  // namespace cupel::testing
