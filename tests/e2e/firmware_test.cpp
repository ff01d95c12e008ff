// `cupel firmware` against virtual BMCs: learn, check, plan, and the signed list of images.
#include <sys/stat.h>

#include "base/file.h"
#include "base/signature.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

// Made by `openssl genpkey -algorithm ed25519`, for this test alone.
constexpr const char* kKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIOwSsOu0UFGhT22/NIBqUbk0pdaARxmGCQTD328LXunb\n"
    "-----END PRIVATE KEY-----\n";

class FirmwareCommands : public ::testing::Test {
 protected:
  FirmwareCommands() {
    std::filesystem::create_directory(site.file("profiles"));
    site.change_inventory("profile: dgx-h100", "profile: mine");
    write_profile("");
  }
  void write_profile(const std::string& firmware) const {
    site.write("profiles/mine.yaml", "profile: mine\nextends: dgx-h100\n" + firmware);
  }
  std::string learned() const {
    const auto ran = site.run({"firmware", "learn", "v01-n01"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.out;
  }
  /// A BMC that is off the baseline, with an image for it.
  void want_a_newer_bmc(const std::string& more = "") const {
    site.write("bmc.fwpkg", std::string(100'000, 'f'));
    const auto digest = site.ask({"firmware", "digest", "bmc.fwpkg"});
    const auto& image = digest.at(0).at("images").as_array().at(0).as_object();
    const std::string sum{image.at("sha256").as_string()};
    write_profile(
        "firmware:\n  - {component: HostBMC_0, version: 99.01, follow: [bmc-restart], image: "
        "{file: ../bmc.fwpkg, sha256: " +
        sum + "}" + more + "}\n");
    const auto entry = site.run({"firmware", "digest", "bmc.fwpkg", "--vendor", "*", "--model", "*",
                                 "--component", "HostBMC_0", "--version", "99.01"});
    site.write("images.yaml", entry.out);
  }
  void name_a_manifest() {
    site.write("site.key", kKey);
    site.write("site.pub", *public_key_of(kKey));
    site.change_inventory("nodes:\n", "firmware: {manifest: images.yaml, key: site.pub}\nnodes:\n");
  }

  RackSite site{{.nodes = 2, .network = 73}};
};

TEST_F(FirmwareCommands, CheckPassesAtTheBaselineThatWasLearned) {
  const auto yaml = learned();
  write_profile(yaml);

  const auto checked = site.run({"firmware", "check"});
  const auto planned = site.run({"firmware", "plan", "--json"});

  EXPECT_THAT(yaml, AllOf(HasSubstr("# Learned from v01-n01: "), HasSubstr("firmware:\n")));
  EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
  EXPECT_THAT(checked.out, AllOf(HasSubstr("v01-n01: at the baseline ("),
                                 HasSubstr("v01-n02: at the baseline (")));
  EXPECT_EQ(planned.status, 0) << planned.out << planned.err;
  EXPECT_THAT(planned.out, HasSubstr("\"at_baseline\":true"));
}

TEST_F(FirmwareCommands, CheckFailsOffTheBaselineAndNeedsNoImage) {
  write_profile("firmware: [{component: HostBMC_0, version: 99.01}]\n");

  const auto checked = site.run({"firmware", "check", "v01-n01"});

  EXPECT_EQ(checked.status, 1) << checked.out << checked.err;
  EXPECT_THAT(checked.out, AllOf(HasSubstr("off the baseline"), HasSubstr("99.01")));
}

TEST_F(FirmwareCommands, PlanRefusesWithoutASignedManifest) {
  want_a_newer_bmc();
  const auto unnamed = site.run({"firmware", "plan", "v01-n01"});
  name_a_manifest();
  const auto unsigned_one = site.run({"firmware", "plan", "v01-n01"});

  EXPECT_EQ(unnamed.status, 1);
  EXPECT_THAT(unnamed.out, HasSubstr("refused: the inventory names no manifest of images"));
  EXPECT_EQ(unsigned_one.status, 1);
  EXPECT_THAT(unsigned_one.out, HasSubstr("images.yaml.sig"));
}

TEST_F(FirmwareCommands, PlanShowsTheUpdateOfASignedImage) {
  want_a_newer_bmc();
  name_a_manifest();
  const auto signing = site.run({"firmware", "sign", "images.yaml", "--key", "site.key"});

  const auto planned = site.ask({"firmware", "plan", "v01-n01"});
  const auto text = site.run({"firmware", "plan", "v01-n01"});

  EXPECT_EQ(signing.status, 0) << signing.err;
  ASSERT_EQ(planned.size(), 1);
  const auto& update = planned[0].at("updates").as_array().at(0).as_object();
  EXPECT_EQ(update.at("component"), "HostBMC_0");
  EXPECT_EQ(update.at("version"), "99.01");
  EXPECT_FALSE(update.contains("refusal"));
  EXPECT_THAT(text.out, HasSubstr("1 update, about"));
}

TEST_F(FirmwareCommands, PlanRefusesAnImageWhoseFileIsNotWhatIsListed) {
  want_a_newer_bmc();
  name_a_manifest();
  ASSERT_EQ(site.run({"firmware", "sign", "images.yaml", "--key", "site.key"}).status, 0);
  const auto reported = [this] {
    const auto ran = site.run({"firmware", "plan", "v01-n01"});
    EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
    return ran.out;
  };

  site.write("bmc.fwpkg", std::string(100'000, 'g'));
  EXPECT_THAT(reported(), HasSubstr("has SHA-256"));
  site.write("bmc.fwpkg", std::string(99'999, 'f'));
  EXPECT_THAT(reported(), HasSubstr("has 99999 bytes, and the manifest says 100000"));
  std::filesystem::remove(site.file("bmc.fwpkg"));
  EXPECT_THAT(reported(), HasSubstr("bmc.fwpkg: No such file"));
  std::filesystem::create_directory(site.file("bmc.fwpkg"));
  EXPECT_THAT(reported(), HasSubstr("bmc.fwpkg"));
  std::filesystem::remove(site.file("bmc.fwpkg"));
  ASSERT_EQ(::mkfifo(site.file("bmc.fwpkg").c_str(), 0600), 0);
  EXPECT_THAT(reported(), HasSubstr("bmc.fwpkg"));
}

TEST_F(FirmwareCommands, WarnsWhereThePreviousImageIsNotListedAndExitsAsWithoutIt) {
  want_a_newer_bmc(", recovery: [previous-image]");
  name_a_manifest();
  const auto signing = site.run({"firmware", "sign", "images.yaml", "--key", "site.key"});

  const auto planned = site.ask({"firmware", "plan", "v01-n01"});
  const auto text = site.run({"firmware", "plan", "v01-n01"});
  const auto checked = site.run({"firmware", "check", "v01-n01"});

  const auto warning = HasSubstr("HostBMC_0: previous-image could not be written back: ");
  EXPECT_EQ(signing.status, 0) << signing.err;
  ASSERT_EQ(planned.size(), 1);
  ASSERT_TRUE(planned[0].contains("warnings"));
  EXPECT_THAT(std::string{planned[0].at("warnings").as_array().at(0).as_string()}, warning);
  EXPECT_EQ(text.status, 0) << text.out << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("\nwarning: "), warning,
                              HasSubstr("no image of this version with its file is listed in")));
  EXPECT_EQ(checked.status, 1);
  EXPECT_THAT(checked.out, warning);
}

TEST_F(FirmwareCommands, UpdateServiceNamesTheWaysAndThatTheBmcIsIdle) {
  const auto reported = site.ask({"bmc", "v01-n01", "update-service"});
  const auto text = site.run({"bmc", "v01-n01", "update-service"});

  ASSERT_EQ(reported.size(), 1);
  EXPECT_EQ(reported[0].at("enabled"), true);
  EXPECT_FALSE(reported[0].at("ways").as_array().empty());
  EXPECT_TRUE(reported[0].at("busy").as_array().empty());
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("; idle"));
}

TEST_F(FirmwareCommands, SignRefusesAnOpenKeyAndAManifestWithMistakes) {
  want_a_newer_bmc();
  site.write("open.key", kKey, 0644);
  site.write("site.key", kKey);
  site.write("wrong.yaml", "images: [{vendor: NVIDIA}]\n");

  const auto open = site.run({"firmware", "sign", "images.yaml", "--key", "open.key"});
  const auto wrong = site.run({"firmware", "sign", "wrong.yaml", "--key", "site.key"});

  EXPECT_EQ(open.status, 2);
  EXPECT_THAT(open.err, HasSubstr("chmod 600"));
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("wrong.yaml:1:10: image needs model; wrong.yaml:1:10: "));
  EXPECT_FALSE(std::filesystem::exists(site.file("wrong.yaml.sig")));
}

}  // namespace
}  // namespace cupel::testing
