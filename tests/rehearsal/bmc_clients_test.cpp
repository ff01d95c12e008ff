// Clients that others wrote, against each vendor's BMC over HTTPS: sushy (OpenStack Ironic's),
// DMTF's redfishtool, fwupd, and curl.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/file.h"
#include "rehearsal/bmc/vendor_behavior.h"
#include "tests/support/captures.h"
#include "tests/support/child.h"
#include "tests/support/virtual_bmc.h"

namespace cupel::rehearsal {
namespace {
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* kPython = "/usr/bin/python3";

/// Python's requests takes a bundle of the environment's before what it is given.
const std::vector<std::string> kOwnBundle{"REQUESTS_CA_BUNDLE=", "CURL_CA_BUNDLE="};

bool has_sushy() {
  static const bool there =
      std::filesystem::exists(kPython) && testing::run({kPython, "-c", "import sushy"}).status == 0;
  return there;
}

class ClientsOf : public ::testing::TestWithParam<std::string> {
 protected:
  std::string address() const { return "127.0.0.1:" + std::to_string(bmc.endpoint().port); }
  std::string system() {
    return bmc.on([](Machine&, BmcService& service) { return service.view().system(); });
  }
  test::VirtualBmc bmc{GetParam()};
};

std::vector<std::string> vendors() {
  std::vector<std::string> names;
  for (const auto& row : all_vendor_behaviors()) names.emplace_back(row.vendor);
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  auto name = info.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Vendor, ClientsOf, ::testing::ValuesIn(vendors()), test_name);

TEST_P(ClientsOf, SushyReadsItBootsItFromTheNetworkOnceAndTurnsItOnAndOff) {
  CUPEL_NEEDS_REAL_PART(has_sushy(), "python3-sushy is not there");
  auto environment = kOwnBundle;
  environment.push_back("SUSHY_PASSWORD=" + bmc.password());

  const auto ran = testing::run({kPython, SOURCE_DIR "/tests/rehearsal/drive_with_sushy.py",
                                 "https://" + address(), system()},
                                environment);

  const auto reported = parse_json(ran.out);
  ASSERT_TRUE(reported) << ran.err;
  const auto& seen = *reported;
  EXPECT_EQ(text_at(seen, "power"), "Off");
  EXPECT_EQ(number_at(seen, "memory"), 2048);
  EXPECT_EQ(seen.at("boot"), (json::array{"Once", "Pxe"})) << ran.out;
  EXPECT_EQ(text_at(seen, "on"), "On");
  EXPECT_EQ(text_at(seen, "off"), "Off");
  // It takes every System for a machine with a button; a baseboard and a form have none, as
  // captured. A GB200's update service has no SimpleUpdate, without which it reads none.
  const auto vendor = GetParam();
  const bool lists = vendor != "dgx" && vendor != "ami" && vendor != "openbmc";
  if (lists) EXPECT_EQ(number_at(seen, "systems"), 1) << ran.out;
  if (vendor != "openbmc") EXPECT_GE(number_at(seen, "firmware"), 17) << ran.out;
}

/// A second of Python for each: three of them are different enough.
class RedfishtoolOf : public ClientsOf {};
INSTANTIATE_TEST_SUITE_P(Vendor, RedfishtoolOf, ::testing::Values("dgx", "hpe-ilo5", "openbmc"),
                         test_name);

TEST_P(RedfishtoolOf, TurnsItOn) {
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists("/usr/bin/redfishtool"), "no redfishtool");
  const test::TemporaryFolder folder;
  const auto file = (folder.path() / "redfishtool.json").string();
  const json::object account{{"user", "admin"}, {"password", bmc.password()}};
  ASSERT_TRUE(write_file(file, json::serialize(account), 0600));
  const auto id = system().substr(system().rfind('/') + 1);
  const auto redfishtool = [&](std::vector<std::string> words) {
    std::vector<std::string> line{kPython,   "/usr/bin/redfishtool",
                                  "-c",      file,
                                  "-r",      address(),
                                  "-A",      "Session",
                                  "-S",      "Always",
                                  "Systems", "-I",
                                  id};
    line.insert(line.end(), words.begin(), words.end());
    return testing::run(line, kOwnBundle);
  };

  const auto pressed = redfishtool({"reset", "On"});

  EXPECT_EQ(pressed.status, 0) << pressed.err << pressed.out;
  EXPECT_TRUE(bmc.wait_until([](Machine& machine) { return machine.power() == Power::on; }));
}

/// What BMCs of that vendor call PSU_0, and who made it.
struct PsuOf {
  std::string vendor, maker, id;
};

/// fwupd drops what has no GUID, so it is given one where Debian's 2.0.20 makes none of a
/// SoftwareId. An iLO answers 401 to a good password now and then, for which this fwupd has no
/// second try; a DGX's and MegaRAC's inventory tell no maker, without which it knows no component;
/// an iDRAC's Ids have the version in them.
class FwupdtoolOf : public ::testing::TestWithParam<PsuOf> {};
INSTANTIATE_TEST_SUITE_P(Vendor, FwupdtoolOf,
                         ::testing::Values(PsuOf{"lenovo", "DETA", "PSU1"},
                                           PsuOf{"supermicro", "Supermicro", "PowerSupply1"},
                                           PsuOf{"openbmc", "NVIDIA", "PDB_0"}),
                         [](const auto& each) { return each.param.vendor; });

TEST_P(FwupdtoolOf, UploadsAnImageAndFollowsItsTaskToTheEnd) {
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists("/usr/bin/fwupdtool"), "fwupd is not there");
  test::VirtualBmc bmc{GetParam().vendor};
  const auto installed = [](Machine& machine) { return machine.hardware().psus.at(0).firmware; };
  const test::TemporaryFolder folder;
  const auto file = [&](const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file(folder.path() / name, text, 0600));
    return (folder.path() / name).string();
  };
  for (const auto* made : {"fwupd", "quirks"})
    std::filesystem::create_directory(folder.path() / made);
  constexpr const char* kGuid = "5ba0d1c5-6ed5-5d8a-9a3b-0d7ae4c4d2f1";
  file("fwupd/fwupd.conf",
       "[redfish]\nUri=https://127.0.0.1:" + std::to_string(bmc.endpoint().port) +
           "\nUsername=admin\nPassword=" + bmc.password() +
           "\nCACheck=false\nIpmiDisableCreateUser=true\n");
  file("quirks/cupel.quirk", fmt::format("[REDFISH\\VENDOR_{}&ID_{}]\nGuid = {}\n",
                                         GetParam().maker, GetParam().id, kGuid));
  const auto image = file("image.bin", "virtual firmware\nPSU_0 99.1\n");
  const auto root = folder.path().string();

  const auto ran =
      testing::run({"/usr/bin/fwupdtool", "install-blob", image, kGuid, "--plugins", "redfish",
                    "--force", "--no-safety-check", "--no-reboot-check"},
                   {"FWUPD_SYSCONFDIR=" + root, "FWUPD_LOCALSTATEDIR=" + root + "/state",
                    "FWUPD_CACHEDIR=" + root + "/cache",
                    "FWUPD_LOCALSTATEDIR_QUIRKS=" + root + "/quirks", "FWUPD_LOCKDIR=" + root},
                   std::chrono::seconds{60});

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_TRUE(bmc.wait_until([&](Machine& machine) { return installed(machine) == "99.1"; }));
}

TEST_P(ClientsOf, CurlPushesAnImageAndSeesItRun) {
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists("/usr/bin/curl"), "curl is not there");
  const auto& behavior = update_behavior_of(GetParam());
  const test::TemporaryFolder folder;
  const auto image = (folder.path() / "image.bin").string();
  const auto secret = (folder.path() / "curlrc").string();
  ASSERT_TRUE(write_file(image, "virtual firmware\nPSU_1 9.9\n"));
  ASSERT_TRUE(write_file(secret, "user = \"admin:" + bmc.password() + "\"\n", 0600));
  const auto target = behavior.multipart.empty() ? behavior.push : behavior.multipart;
  std::vector<std::string> line{"/usr/bin/curl", "-q", "-sS", "-k", "-K",
                                secret,          "-o", "-",   "-w", "\n%{http_code}"};
  const bool by_form = !behavior.multipart.empty();
  if (by_form) {
    for (const auto* part :
         {"UpdateParameters={\"@Redfish.OperationApplyTime\":\"Immediate\"};type=application/json",
          "OemParameters={\"ImageType\":\"HPM\"};type=application/json"})
      line.insert(line.end(), {"-F", part});
    line.insert(line.end(), {"-F", "UpdateFile=@" + image + ";type=application/octet-stream"});
  } else {
    line.insert(line.end(), {"-F", "file=@" + image});
  }
  line.push_back("https://" + address() + std::string{target});

  const auto ran = testing::run(line);

  EXPECT_THAT(ran.out, AnyOf(HasSubstr("\n202"), HasSubstr("\n200"))) << ran.err;
  EXPECT_TRUE(bmc.wait_until([](Machine& machine) {
    return std::ranges::any_of(machine.hardware().psus,
                               [](const Psu& psu) { return psu.firmware == "9.9"; });
  }));
}

}  // namespace
}  // namespace cupel::rehearsal
