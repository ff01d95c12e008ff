// The warning before an update whose previous image could not be written back.
#include "orchestrator/firmware/previous_image.h"

#include <gmock/gmock.h>

#include "inventory/profile.h"

namespace cupel::firmware {
namespace {

using namespace std::chrono_literals;
using inventory::FirmwareRecovery;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const bmc::Identity kMachine{"NVIDIA", "DGXH100", "", "", "", "", ""};
constexpr std::chrono::sys_seconds kNow = std::chrono::sys_days{2026y / 3 / 1};

class PreviousImage : public ::testing::Test {
 protected:
  PreviousImage() {
    bios.ids = {"BIOS"};
    bios.image = {.file = "/images/bios", .sha256 = std::string(64, 'a')};
    bios.recovery = {FirmwareRecovery::previous_image};
    manifest.file = "images.yaml";
    manifest.unapproved.clear();
    manifest.images = {image("2.4", 'a'), image("2.0", 'b')};
  }
  static inventory::ListedImage image(std::string version, char sum) {
    return {.vendor = "NVIDIA",
            .models = {"DGX*"},
            .component = "bios",
            .version = std::move(version),
            .sha256 = std::string(64, sum),
            .bytes = 10,
            .expires = std::chrono::sys_days{2027y / 1 / 1},
            .file = "bios.bin"};
  }
  std::vector<std::string> warnings(const std::vector<std::string>& running = {"2.0"}) {
    inventory::Profile profile;
    profile.firmware = {bios};
    std::vector<inventory::Part> reported;
    for (const auto& version : running)
      reported.push_back({.kind = inventory::PartKind::firmware,
                          .name = bios.ids.front() + std::string(reported.size(), 'x'),
                          .firmware = version});
    profile.firmware.front().ids = {bios.ids.front() + "*"};
    return previous_image_warnings(plan_firmware(profile, kMachine, reported), kMachine, manifest,
                                   kNow);
  }

  inventory::ExpectedFirmware bios{.component = "bios", .version = "2.4"};
  inventory::ImageManifest manifest{};
};

TEST_F(PreviousImage, ListedAndApprovedIsNoWarning) { EXPECT_THAT(warnings(), IsEmpty()); }

TEST_F(PreviousImage, ThatTheManifestDoesNotListIsNamed) {
  manifest.images.pop_back();

  EXPECT_THAT(warnings(),
              ElementsAre("bios: previous-image could not be written back: bios 2.0: no image of "
                          "this version with its file is listed in images.yaml"));
}

TEST_F(PreviousImage, ThatExpiredOrWasNotApprovedIsNamed) {
  manifest.images[1].expires = std::chrono::sys_days{2026y / 1 / 1};
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("expired")));

  manifest.images[1].expires = std::chrono::sys_days{2027y / 1 / 1};
  manifest.unapproved = "the manifest is not approved";
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("2.0 over 2.4 is a downgrade")));
}

TEST_F(PreviousImage, OfPartsThatRunSeveralVersionsIsNone) {
  manifest.images.push_back(image("2.1", 'c'));

  EXPECT_THAT(warnings({"2.0", "2.1"}), ElementsAre(HasSubstr("not all entries of the component")));
  EXPECT_THAT(warnings({"2.0", "2.4"}), ElementsAre(HasSubstr("not all entries of the component")));
  EXPECT_THAT(warnings({"2.0", "2.0"}), IsEmpty());
}

TEST_F(PreviousImage, IsNotLookedForAtTheBaselineOrWithoutTheProfilesWord) {
  manifest.images.clear();
  EXPECT_THAT(warnings({"2.4"}), IsEmpty());

  bios.recovery = {FirmwareRecovery::bmc_restart};
  EXPECT_THAT(warnings(), IsEmpty());
}

}  // namespace
}  // namespace cupel::firmware
