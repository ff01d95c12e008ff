#include "orchestrator/firmware/image_check.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <future>

#include "base/digest.h"
#include "base/file.h"
#include "base/signature.h"
#include "tests/support/captures.h"

namespace cupel::firmware {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

// Made by `openssl genpkey -algorithm ed25519`, for these tests alone.
constexpr std::string_view kKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEICeOjp0m7gV4L/SulfZSXry24GTfI4CND75w8G138a9a\n"
    "-----END PRIVATE KEY-----\n";
constexpr std::string_view kOtherKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIKxr83VINXXwTjHlBhcsWEoor7d8mn4w5QjrK89SWlsJ\n"
    "-----END PRIVATE KEY-----\n";
const std::chrono::sys_seconds kNow = std::chrono::sys_days{2026y / 11 / 23};
const std::string kBytes(3'000'000, 'f');

/// A site with one image, its manifest and its key, all of it good.
struct Site {
  Site() {
    EXPECT_TRUE(write_file(image(), kBytes));
    write_key(kKey);
    write_manifest(kBytes.size(), sha256_hex(kBytes));
    expected.component = "bmc";
    expected.version = "24.09.17";
    expected.force = true;
    update = {.expected = &expected, .version = "24.09.17"};
    update.image = {.file = image(), .sha256 = sha256_hex(kBytes)};
    update.targets = {"/redfish/v1/Managers/BMC"};
  }

  std::string image() const { return (folder.path() / "bmc.fwpkg").string(); }
  inventory::ImageTrust trust() const {
    return {(folder.path() / "images.yaml").string(), (folder.path() / "site.pub").string(), {}};
  }
  void write_key(std::string_view own) const {
    EXPECT_TRUE(write_file(trust().key, *public_key_of(own)));
  }
  void write_manifest(std::size_t bytes, const std::string& digest,
                      const std::string& more = "") const {
    const auto text =
        "images:\n  - {vendor: NVIDIA, model: DGXH100, component: bmc, version: 24.09.17, "
        "sha256: " +
        digest + ", size: " + std::to_string(bytes) + ", expires: 2027-11-01" + more + "}\n";
    EXPECT_TRUE(write_file(trust().manifest, text));
    EXPECT_TRUE(write_file(trust().manifest + ".sig", *sign(text, kKey)));
  }
  Result<bmc::UpdateOrder> check(std::optional<inventory::ImageTrust> by,
                                 Deadline deadline = Deadline::in(60s)) const {
    asio::io_context io;
    ImageChecker checker{std::move(by)};
    return run_to_end(
        io, checker.check(update, {"NVIDIA", "DGXH100", "", "", "", "", ""}, kNow, deadline));
  }
  /// What is refused and why.
  std::string refusal() const {
    const auto checked = check(trust());
    if (checked) return "";
    EXPECT_EQ(checked.error().code, Code::kUntrusted) << checked.error().what;
    return checked.error().what;
  }

  test::TemporaryFolder folder;
  inventory::ExpectedFirmware expected;
  FirmwareUpdate update;
};

TEST(ImageChecker, TellsWhatIsToBeSentOfAnImageThatIsAsListed) {
  const Site site;

  const auto order = site.check(site.trust());

  ASSERT_TRUE(order) << order.error().what;
  EXPECT_EQ(order->file, site.image());
  EXPECT_EQ(order->name, "bmc.fwpkg");
  EXPECT_EQ(order->bytes, kBytes.size());
  EXPECT_EQ(order->sha256, sha256_hex(kBytes));
  EXPECT_EQ(order->component, "bmc");
  EXPECT_EQ(order->targets, std::vector<std::string>{"/redfish/v1/Managers/BMC"});
  EXPECT_TRUE(order->force);
}

TEST(ImageChecker, RefusesWhereThereIsNoManifestNoSignatureOrNoKey) {
  const Site site;

  const auto unnamed = site.check(std::nullopt);
  ASSERT_FALSE(unnamed);
  EXPECT_EQ(unnamed.error().code, Code::kUntrusted);
  EXPECT_THAT(unnamed.error().what, HasSubstr("the inventory names no manifest of images"));

  std::filesystem::remove(site.trust().manifest + ".sig");
  EXPECT_THAT(site.refusal(), HasSubstr("images.yaml.sig"));

  site.write_manifest(kBytes.size(), sha256_hex(kBytes));
  std::filesystem::remove(site.trust().key);
  EXPECT_THAT(site.refusal(), HasSubstr("site.pub"));

  site.write_key(kKey);
  std::filesystem::remove(site.trust().manifest);
  EXPECT_THAT(site.refusal(), HasSubstr("images.yaml"));
}

TEST(ImageChecker, RefusesASignatureThatIsNone) {
  const Site site;
  const auto signature = site.trust().manifest + ".sig";
  const auto good = *read_file(signature, 1000);

  ASSERT_TRUE(write_file(signature, ""));
  EXPECT_THAT(site.refusal(), HasSubstr("the signature is empty"));
  ASSERT_TRUE(write_file(signature, good.substr(0, 63)));
  EXPECT_THAT(site.refusal(), HasSubstr("the signature has 63 bytes"));
  ASSERT_TRUE(write_file(signature, std::string(256, 's')));
  EXPECT_THAT(site.refusal(), HasSubstr("the signature has 256 bytes"));
  ASSERT_TRUE(write_file(signature, std::string(64, '\0')));
  EXPECT_THAT(site.refusal(), HasSubstr("the signature is not by this key"));
}

TEST(ImageChecker, RefusesAManifestThatTheSiteDidNotSign) {
  const Site site;
  site.write_key(kOtherKey);
  EXPECT_THAT(site.refusal(), HasSubstr("the signature is not by this key"));

  site.write_key(kKey);
  const auto text = *read_file(site.trust().manifest, 10'000);
  ASSERT_TRUE(write_file(site.trust().manifest, text + "#\n"));
  EXPECT_THAT(site.refusal(), HasSubstr("the signature is not by this key"));
}

TEST(ImageChecker, RefusesTrustThatOtherUsersCanChange) {
  const Site site;

  ASSERT_EQ(::chmod(site.trust().key.c_str(), 0666), 0);
  EXPECT_THAT(site.refusal(), HasSubstr("site.pub can be changed by other users"));
  ASSERT_EQ(::chmod(site.trust().key.c_str(), 0644), 0);
  ASSERT_EQ(::chmod(site.trust().manifest.c_str(), 0666), 0);
  EXPECT_THAT(site.refusal(), HasSubstr("images.yaml can be changed by other users"));
}

TEST(ImageChecker, RefusesAFileOfOtherBytesThanListed) {
  const Site site;
  auto other = kBytes;
  other.back() = 'g';

  ASSERT_TRUE(write_file(site.image(), kBytes + "f"));
  EXPECT_THAT(site.refusal(), HasSubstr("has 3000001 bytes, and the manifest says 3000000"));
  ASSERT_TRUE(write_file(site.image(), kBytes.substr(1)));
  EXPECT_THAT(site.refusal(), HasSubstr("has 2999999 bytes"));
  ASSERT_TRUE(write_file(site.image(), other));
  EXPECT_THAT(site.refusal(), AllOf(HasSubstr("has SHA-256 " + sha256_hex(other)),
                                    HasSubstr("and the manifest says " + sha256_hex(kBytes))));
}

TEST(ImageChecker, SeesAFileThatChangedSinceItWasRead) {
  const Site site;
  asio::io_context io;
  ImageChecker checker{site.trust()};
  const auto check = [&] {
    return run_to_end(io, checker.check(site.update, {"NVIDIA", "DGXH100", "", "", "", "", ""},
                                        kNow, Deadline::in(60s)));
  };
  ASSERT_TRUE(check());
  ASSERT_TRUE(check()) << "from what it keeps";
  auto other = kBytes;
  other[5] = 'g';
  ASSERT_TRUE(write_file(site.image(), other));

  const auto checked = check();

  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().what, HasSubstr("has SHA-256"));
}

TEST(ImageChecker, EndsWhereTheDiskHangsAndReadsTheFileOnceItIsBack) {
  const Site site;
  asio::io_context io;
  std::promise<void> back;
  const auto disk = back.get_future().share();
  ImageChecker checker{
      site.trust(), {.patience = 2s}, [disk](const auto& file, auto offset, auto size) {
        disk.wait();
        return file.read(offset, size);
      }};
  const auto check = [&] {
    return run_to_end(io, checker.check(site.update, {"NVIDIA", "DGXH100", "", "", "", "", ""},
                                        kNow, Deadline::in(60s)));
  };

  const auto hung = check();
  back.set_value();
  const auto read = check();

  ASSERT_FALSE(hung);
  EXPECT_EQ(hung.error().code, Code::kTimeout);
  EXPECT_THAT(hung.error().what, HasSubstr(site.image() + ": the disk returned nothing for"));
  EXPECT_TRUE(read) << read.error().what;
}

TEST(ImageChecker, ReadsAnImageWholeOnceForAllWhoHoldIt) {
  Site site;
  int reads = 0;
  const auto counted = [&reads](const images::OpenFile& file, std::uint64_t offset,
                                std::size_t size) {
    if (offset == 0) ++reads;
    return file.read(offset, size);
  };
  asio::io_context io;
  ImageChecker checker{std::nullopt, {}, counted};
  const auto whole = [&](const std::string& sha256) {
    io.restart();
    return run_to_end(io, checker.whole(site.image(), sha256, Deadline::in(60s)));
  };

  auto first = whole(sha256_hex(kBytes));
  auto second = whole(sha256_hex(kBytes));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(**first, kBytes);
  EXPECT_EQ(first->get(), second->get());
  EXPECT_EQ(reads, 1);
  first->reset(), second->reset();
  const auto again = whole(sha256_hex(kBytes));
  const auto other = whole(sha256_hex("other bytes"));

  EXPECT_TRUE(again);
  EXPECT_EQ(reads, 3) << "it is not kept for those to come";
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::kUntrusted);
}

TEST(ImageChecker, RefusesAnImageThatAnotherUserCanChange) {
  Site site;
  std::filesystem::permissions(site.image(), std::filesystem::perms{0666});
  asio::io_context io;
  ImageChecker checker{site.trust()};

  const auto whole =
      run_to_end(io, checker.whole(site.image(), sha256_hex(kBytes), Deadline::in(60s)));
  io.restart();
  const auto copy = run_to_end(io, checker.copy(site.image(), sha256_hex(kBytes),
                                                site.folder.path() / "served", Deadline::in(60s)));

  EXPECT_THAT(site.refusal(), HasSubstr("can be changed by other users"));
  EXPECT_EQ(whole.error().code, Code::kUntrusted);
  EXPECT_EQ(copy.error().code, Code::kUntrusted);
}

TEST(ImageChecker, RefusesAnImageThatIsNotListedExpiredOrBelowTheFloor) {
  Site site;

  site.write_manifest(kBytes.size(), std::string(64, 'e'));
  EXPECT_THAT(site.refusal(), HasSubstr("no image of SHA-256"));
  site.write_manifest(kBytes.size(), sha256_hex(kBytes), ", floor: 24.10");
  EXPECT_THAT(site.refusal(), HasSubstr("allows no version before 24.10"));
  site.write_manifest(kBytes.size(), sha256_hex(kBytes));
  site.update.version = "24.09.18";
  EXPECT_THAT(site.refusal(), HasSubstr("is of version 24.09.17"));
}

TEST(ImageChecker, ADowngradeNeedsTheApprovalOfASecondPerson) {
  Site site;
  const auto manifest = site.trust().manifest;
  const auto approve = [&](std::string_view by) {
    ASSERT_TRUE(write_file(manifest + ".approval", *sign(*read_file(manifest, 10'000), by)));
  };
  site.update.replaces = {{.id = "HostBMC_0", .version = "24.09.01"}};
  EXPECT_EQ(site.refusal(), "") << "an upgrade needs none";

  site.update.replaces[0].version = "24.10.01";
  EXPECT_THAT(site.refusal(), AllOf(HasSubstr("24.09.17 over 24.10.01 is a downgrade"),
                                    HasSubstr("site.pub has no second key"),
                                    HasSubstr("images.yaml --approve --key KEY")));
  ASSERT_TRUE(write_file(site.trust().key, *public_key_of(kKey) + *public_key_of(kOtherKey)));
  EXPECT_THAT(site.refusal(), HasSubstr("images.yaml.approval"));
  approve(kKey);
  EXPECT_THAT(site.refusal(), HasSubstr("its approval is by the key that signed it"));
  approve(kOtherKey);
  EXPECT_EQ(site.refusal(), "");
  ASSERT_TRUE(write_file(manifest + ".approval", ""));
  EXPECT_THAT(site.refusal(), HasSubstr("the signature is empty"));
  site.update.replaces[0].version = "U54";
  EXPECT_THAT(site.refusal(), HasSubstr("is a downgrade")) << "it is not known to be an upgrade";
}

/// As recovery writes it back: no profile names its file.
TEST(ImageChecker, FindsAPreviousImageInTheManifestByItsVersion) {
  Site site;
  const auto digest = sha256_hex(kBytes);
  site.update.image = {};
  site.update.replaces = {{.id = "HostBMC_0", .version = "24.10.01"}};
  const auto approve = [&] {
    const auto manifest = site.trust().manifest;
    ASSERT_TRUE(write_file(manifest + ".approval", *sign(*read_file(manifest, 10'000), kOtherKey)));
  };
  ASSERT_TRUE(write_file(site.trust().key, *public_key_of(kKey) + *public_key_of(kOtherKey)));

  EXPECT_THAT(site.refusal(), HasSubstr("no image of this version with its file is listed"));
  site.write_manifest(kBytes.size(), digest, ", file: bmc.fwpkg");
  EXPECT_THAT(site.refusal(), HasSubstr("24.09.17 over 24.10.01 is a downgrade"));
  approve();

  const auto order = site.check(site.trust());

  ASSERT_TRUE(order) << order.error().what;
  EXPECT_EQ(order->file, site.image());
  EXPECT_EQ(order->sha256, digest);
  EXPECT_EQ(order->name, "bmc.fwpkg");
  site.write_manifest(kBytes.size(), digest, ", file: bmc.fwpkg, floor: 24.10");
  approve();
  EXPECT_THAT(site.refusal(), HasSubstr("allows no version before 24.10"));
  site.write_manifest(kBytes.size(), std::string(64, 'e'), ", file: bmc.fwpkg");
  approve();
  EXPECT_THAT(site.refusal(), HasSubstr("has SHA-256 " + digest));
  site.update.version = "24.09.16";
  EXPECT_THAT(site.refusal(), HasSubstr("no image of this version"));
}

TEST(ImageChecker, SaysWhyAFileCannotBeRead) {
  Site site;

  site.update.image.file = (site.folder.path() / "none").string();
  EXPECT_EQ(site.check(site.trust()).error().code, Code::kNotFound);
  site.update.image.file = site.folder.path().string();
  EXPECT_THAT(site.check(site.trust()).error().what, HasSubstr("is not a regular file"));
  site.update.image.file = site.image();
  EXPECT_EQ(site.check(site.trust(), Deadline::in(0s)).error().code, Code::kTimeout);
}

}  // namespace
}  // namespace cupel::firmware
