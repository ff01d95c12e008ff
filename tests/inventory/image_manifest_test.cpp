#include "inventory/image_manifest.h"

#include <gmock/gmock.h>

#include "inventory/load.h"

namespace cupel::inventory {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

const std::string kOne(64, 'a'), kOther(64, 'b');
const std::chrono::sys_seconds kNow = std::chrono::sys_days{2026y / 11 / 23};

std::string entry(const std::string& version, const std::string& digest,
                  const std::string& more = "") {
  return "  - {vendor: NVIDIA, model: [\"DGXH100*\"], component: bmc, version: " + version +
         ", sha256: " + digest + ", size: 1000, expires: 2027-11-01" + more + "}\n";
}

ImageManifest manifest_of(const std::string& entries) {
  auto manifest = parse_image_manifest("images:\n" + entries, "images.yaml");
  EXPECT_TRUE(manifest) << manifest.error().what;
  return manifest ? *manifest : ImageManifest{};
}

const RequestedImage kRequestedImage{"NVIDIA", "DGXH100", "bmc", "24.09.17", kOne};

std::string refusal(const ImageManifest& manifest,
                    const RequestedImage& requested = kRequestedImage,
                    std::chrono::sys_seconds now = kNow) {
  const auto allowed = allowed_image(manifest, requested, now);
  if (allowed) return "";
  EXPECT_EQ(allowed.error().code, Code::kUntrusted);
  return allowed.error().what;
}

TEST(ImageManifest, ReadsYamlAndJson) {
  const auto yaml = manifest_of(entry("24.09.17", kOne, ", floor: 23.11.21, file: bmc.fwpkg"));
  const auto json = parse_image_manifest(
      R"({"images": [{"vendor": "NVIDIA", "model": ["DGXH100*"], "component": "bmc", )"
      R"("version": "24.09.17", "sha256": ")" +
          kOne +
          R"(", "size": 1000, "expires": "2027-11-01", "floor": "23.11.21", "file": "bmc.fwpkg"}]})",
      "images.yaml");

  ASSERT_TRUE(json) << json.error().what;
  ASSERT_EQ(yaml.images.size(), 1);
  ASSERT_EQ(json->images.size(), 1);
  auto same = json->images[0];
  same.where = yaml.images[0].where;
  EXPECT_EQ(same, yaml.images[0]);
  EXPECT_EQ(same.bytes, 1000);
  EXPECT_EQ(same.floor, "23.11.21");
  EXPECT_EQ(same.file, "bmc.fwpkg");
  EXPECT_EQ(same.expires, (std::chrono::sys_days{2027y / 11 / 1}));
}

TEST(ImageManifest, ReportsAllMistakesWithTheirPlaces) {
  const auto manifest = parse_image_manifest(
      "images:\n"
      "  - {vendor: NVIDIA, component: bmc, version: 1, sha256: abc, size: 0, expires: soon}\n"
      "  - {vendor: \"\", model: X, componnet: bmc, version: 1, sha256: " +
          kOne + ", size: 1, expires: 2027-02-30}\n",
      "images.yaml");

  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().what,
            "images.yaml:2:5: image needs model\n"
            "images.yaml:2:58: sha256 must be 64 hexadecimal digits\n"
            "images.yaml:2:69: size must be a whole number from 1 to 8589934592, not '0'\n"
            "images.yaml:2:81: expires must be a date such as 2027-11-01\n"
            "images.yaml:3:5: image needs component\n"
            "images.yaml:3:14: vendor must be a text of 1 to 256 characters\n"
            "images.yaml:3:28: unknown key 'componnet' in image (did you mean 'component'?)\n"
            "images.yaml:3:148: expires must be a date such as 2027-11-01");
}

TEST(ImageManifest, RefusesWhatIsNoManifest) {
  EXPECT_FALSE(parse_image_manifest("", "images.yaml"));
  EXPECT_FALSE(parse_image_manifest("images: 3", "images.yaml"));
  EXPECT_FALSE(parse_image_manifest("[]", "images.yaml"));
  EXPECT_FALSE(
      parse_image_manifest("\x7f"
                           "ELF",
                           "images.yaml"));
}

TEST(AllowedImage, IsListedForTheMachineInItsVersion) {
  const auto manifest = manifest_of(entry("24.09.16", kOther) + entry("24.9.17", kOne));

  const auto allowed = allowed_image(manifest, kRequestedImage, kNow);

  ASSERT_TRUE(allowed) << allowed.error().what;
  EXPECT_EQ(allowed->where.line, 3);
}

TEST(AllowedImage, IsRefusedWhereItIsNotListed) {
  EXPECT_EQ(refusal(manifest_of(entry("24.09.17", kOther))),
            "bmc 24.09.17: no image of SHA-256 " + kOne + " is listed in images.yaml");
  EXPECT_THAT(refusal(manifest_of("  []\n")), HasSubstr("is listed in images.yaml"));
}

TEST(AllowedImage, IsRefusedForAnotherMachineComponentOrVersion) {
  const auto manifest = manifest_of(entry("24.09.17", kOne));
  auto model = kRequestedImage, vendor = kRequestedImage, unknown = kRequestedImage,
       component = kRequestedImage, version = kRequestedImage;
  model.model = "DGXH200";
  vendor.vendor = "Supermicro";
  unknown.model.clear();
  component.component = "bios";
  version.version = "24.09.18";

  EXPECT_EQ(refusal(manifest), "");
  EXPECT_THAT(refusal(manifest, model),
              HasSubstr("is for NVIDIA DGXH100*, and this machine is NVIDIA DGXH200"));
  EXPECT_THAT(refusal(manifest, vendor), HasSubstr("this machine is Supermicro DGXH100"));
  EXPECT_THAT(refusal(manifest, unknown), HasSubstr("of no reported model"));
  EXPECT_THAT(refusal(manifest, component), HasSubstr("is for the component 'bmc'"));
  EXPECT_THAT(refusal(manifest, version), HasSubstr("is of version 24.09.17"));
}

TEST(AllowedImage, IsRefusedFromTheDayOnWhichItExpires) {
  const auto manifest = manifest_of(entry("24.09.17", kOne));
  const std::chrono::sys_seconds day = std::chrono::sys_days{2027y / 11 / 1};

  EXPECT_EQ(refusal(manifest, kRequestedImage, day - 1s), "");
  EXPECT_THAT(refusal(manifest, kRequestedImage, day), HasSubstr("expired on 2027-11-01"));
}

TEST(AllowedImage, IsRefusedBelowTheFloorOfAnyEntryOfItsComponent) {
  const auto own = manifest_of(entry("24.09.17", kOne, ", floor: 24.10"));
  const auto later =
      manifest_of(entry("24.09.17", kOne) + entry("25.01", kOther, ", floor: 24.10"));

  EXPECT_THAT(refusal(own), HasSubstr("the manifest allows no version before 24.10"));
  EXPECT_THAT(refusal(later), HasSubstr("allows no version before 24.10 (images.yaml:3:5)"));
  EXPECT_EQ(refusal(manifest_of(entry("24.09.17", kOne, ", floor: 24.09.17"))), "");
  EXPECT_THAT(refusal(manifest_of(entry("24.09.17", kOne, ", floor: abc"))),
              HasSubstr("before abc"))
      << "what cannot be ordered is not above a floor";
}

/// A site's inventory with that in it.
auto site_with(const std::string& firmware) {
  return parse_inventory("site: lab\n" + firmware +
                             "\nnodes:\n  - {name: n1, profile: dgx-h100, bmc: {address: "
                             "10.0.1.1, user: u, password: \"env:P\", tls: {trust: first-use}}, "
                             "ssh: {address: 10.0.2.1, user: root, key: agent}}\n",
                         "site.yaml", "/site");
}

TEST(ListedImage, IsFoundByItsVersionAloneAndNamesItsFile) {
  const auto manifest = manifest_of(entry("24.9.17", kOne, ", file: old.fwpkg") +
                                    entry("24.10.01", kOther, ", file: new.fwpkg"));
  auto requested = kRequestedImage;
  requested.sha256.clear();

  const auto listed = listed_image(manifest, requested, kNow);

  ASSERT_TRUE(listed) << listed.error().what;
  EXPECT_EQ(listed->file, "old.fwpkg");
  EXPECT_EQ(listed->sha256, kOne);
}

TEST(ListedImage, IsRefusedWhereItIsNotOneExpiredForAnotherMachineOrBelowTheFloor) {
  const auto refusal_of = [](const std::string& entries, std::chrono::sys_seconds now = kNow,
                             std::string model = "DGXH100") {
    auto requested = kRequestedImage;
    requested.sha256.clear();
    requested.model = std::move(model);
    const auto listed = listed_image(manifest_of(entries), requested, now);
    if (!listed) EXPECT_EQ(listed.error().code, Code::kUntrusted);
    return listed ? std::string{} : listed.error().what;
  };
  const auto good = entry("24.09.17", kOne, ", file: a");

  EXPECT_EQ(refusal_of(good), "");
  EXPECT_THAT(refusal_of(entry("24.09.17", kOne)), HasSubstr("no image of this version"));
  EXPECT_THAT(refusal_of(good + entry("24.09.17", kOther, ", file: b")),
              HasSubstr("lists two images of it (images.yaml:2:5, images.yaml:3:5)"));
  EXPECT_THAT(refusal_of(good, std::chrono::sys_days{2027y / 11 / 1}), HasSubstr("expired"));
  EXPECT_THAT(refusal_of(good, kNow, "Toaster"), HasSubstr("no image of this version"));
  EXPECT_THAT(refusal_of(good + entry("24.10.01", kOther, ", floor: 24.10")),
              HasSubstr("allows no version before 24.10"));
}

TEST(LoadInventory, FindsTheManifestAndItsKeyFromItsOwnFolder) {
  const auto good = site_with("firmware: {manifest: fw/images.yaml, key: /etc/cupel/site.pub}");
  const auto wrong = site_with("firmware: {manifest: images.yaml, keey: site.pub}");

  ASSERT_TRUE(good.inventory) << to_string(good.problems);
  ASSERT_TRUE(good.inventory->images);
  EXPECT_EQ(good.inventory->images->manifest, "/site/fw/images.yaml");
  EXPECT_EQ(good.inventory->images->key, "/etc/cupel/site.pub");
  EXPECT_EQ(signature_file_of(good.inventory->images->manifest), "/site/fw/images.yaml.sig");
  EXPECT_EQ(to_string(wrong.problems),
            "site.yaml:2:11: firmware needs key\n"
            "site.yaml:2:35: unknown key 'keey' in firmware (did you mean 'key'?)\n");
}

TEST(LoadInventory, ServesImagesAtAnAddressWithAPort) {
  const std::string files = "firmware: {manifest: images.yaml, key: site.pub, serve: ";
  const auto good = site_with(files + "\"http://10.0.0.1:8080\"}");
  const auto wrong = site_with(files + "10.0.0.1}");
  const auto other = site_with(files + "\"ftp://10.0.0.1:8080\"}");

  ASSERT_TRUE(good.inventory) << to_string(good.problems);
  EXPECT_EQ(good.inventory->images->serve, (Endpoint{"10.0.0.1", 8080}));
  EXPECT_TRUE(good.inventory->images->only_http);
  EXPECT_THAT(to_string(wrong.problems), HasSubstr("with a port: 10.0.0.1:8080"));
  EXPECT_THAT(to_string(other.problems), HasSubstr("with a port: 10.0.0.1:8080"));
}

TEST(LoadInventory, ServesImagesOverHttpsWithTheCertificateOfFirmwareOrOfBoot) {
  const std::string files = "firmware: {manifest: images.yaml, key: site.pub, serve: ";
  const std::string address = "\"10.0.0.1:8080\"", page{SOURCE_DIR "/README.md"};
  const std::string license{SOURCE_DIR "/LICENSE"};
  const auto tls = [](const std::string& certificate, const std::string& more = "") {
    return "tls: {certificate: " + certificate + ", key: " + certificate + more + "}";
  };
  const auto boot = "boot: {serve: \"10.0.0.1:8081\", " + tls(page, ", ca: " + page) + "}\n";

  const auto none = site_with(files + address + "}");
  const auto own = site_with(boot + files + address + ", " + tls(license) + "}");
  const auto of_boot = site_with(boot + files + address + "}");
  const auto plain = site_with(boot + files + "\"http://10.0.0.1:8080\"}");
  const auto half = site_with(files + address + ", tls: {certificate: " + page + "}}");
  const auto absent = site_with(files + address + ", " + tls("none.pem") + "}");

  EXPECT_THAT(to_string(none.problems), HasSubstr("serve needs a certificate"));
  EXPECT_THAT(to_string(none.problems), HasSubstr("serve: http://10.0.0.1:8080"));
  ASSERT_TRUE(own.inventory) << to_string(own.problems);
  ASSERT_TRUE(of_boot.inventory) << to_string(of_boot.problems);
  ASSERT_TRUE(plain.inventory) << to_string(plain.problems);
  EXPECT_EQ(own.inventory->images->certificate, license);
  EXPECT_EQ(own.inventory->images->certificate_key, license);
  EXPECT_EQ(of_boot.inventory->images->certificate, page);
  EXPECT_EQ(of_boot.inventory->images->certificate_key, page);
  EXPECT_EQ(plain.inventory->images->certificate, "");
  EXPECT_EQ(to_string(half.problems).find("serve needs a certificate"), std::string::npos);
  EXPECT_THAT(to_string(half.problems), HasSubstr("tls needs key"));
  EXPECT_THAT(to_string(absent.problems), HasSubstr("there is no file"));
}

}  // namespace
}  // namespace cupel::inventory
