// The folder of images: what is read back, what is refused, what may be removed.
#include "orchestrator/images/image_store.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "base/digest.h"
#include "base/text.h"

namespace cupel::images {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void write(const fs::path& file, std::string_view text) {
  std::ofstream{file, std::ios::binary} << text;
}

ImageManifest disk_manifest(const std::string& name) {
  ImageManifest manifest;
  manifest.name = name;
  manifest.kind = ImageKind::disk;
  manifest.arch = "x86_64";
  manifest.made = "2026-11-23T21:00:00Z";
  manifest.content_size = 1 << 20;
  manifest.compression = "zstd";
  manifest.efi = "\\EFI\\debian\\shimx64.efi";
  manifest.bios = true;
  manifest.no_seed = "its /etc/fstab mounts UUID=2 at /var";
  manifest.os_id = "debian";
  manifest.os_version = "12";
  manifest.packages = {{"base-files", "12.4+deb12u12"}};
  return manifest;
}

class ImageStores : public ::testing::Test {
 protected:
  ImageStores() {
    std::string form = (fs::temp_directory_path() / "cupel-images-XXXXXX").string();
    folder_ = ::mkdtemp(form.data());
  }
  ~ImageStores() override { fs::remove_all(folder_); }

  ImageStore store() const { return *ImageStore::open(folder_); }

  Result<Image> put(const std::string& name, std::string_view bytes = "compressed") const {
    auto made = store().begin(name);
    if (!made) return made.error();
    write(made->folder() / "disk.raw.zst", bytes);
    return store().keep(*std::move(made), disk_manifest(name), {"disk.raw.zst"});
  }

  std::string error_of(const std::string& name) const {
    const auto image = store().find(name);
    return image ? "" : image.error().what;
  }

  fs::path folder_;
};

TEST_F(ImageStores, AnImageThatOthersCanChangeIsNone) {
  ASSERT_TRUE(put("debian-12"));
  const auto folder = folder_ / "debian-12";
  for (const auto& open : {folder / "disk.raw.zst", folder / "manifest.json", folder, folder_}) {
    const auto before = fs::status(open).permissions();
    fs::permissions(open, fs::perms{0777});
    EXPECT_THAT(error_of("debian-12"), HasSubstr("can be changed by other users")) << open;
    fs::permissions(open, before);
  }
  EXPECT_EQ(error_of("debian-12"), "");
}

TEST_F(ImageStores, ReadsBackWhatWasKept) {
  const auto kept = put("debian-12", "compressed");
  ASSERT_TRUE(kept) << kept.error().what;

  const auto found = store().find("debian-12");

  ASSERT_TRUE(found) << found.error().what;
  auto expected = disk_manifest("debian-12");
  expected.files = {{"disk.raw.zst", sha256_hex("compressed"), 10}};
  EXPECT_EQ(found->manifest, expected);
  EXPECT_EQ(found->digest(), sha256_hex("compressed"));
  EXPECT_EQ(found->path_of("disk.raw.zst").value(), folder_ / "debian-12/disk.raw.zst");
  EXPECT_TRUE(store().verify("debian-12"));
}

TEST_F(ImageStores, ManifestOfARamSystemReadsBackWithItsSlot) {
  ImageManifest manifest;
  manifest.name = "ram";
  manifest.kind = ImageKind::ram;
  manifest.arch = "aarch64";
  manifest.files = {{"ram.iso", std::string(64, 'a'), 9000}};
  manifest.command_line = "console=ttyS0 quiet";
  manifest.signed_efi = true;
  manifest.https_only = true;
  manifest.boot_host = "2001:db8::1";
  manifest.iso_ticket = Slot{4096, 4096};

  const auto read = parse_manifest(manifest_text(manifest));

  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(*read, manifest);
}

TEST_F(ImageStores, OnlyTheFirstWordOfACommandLineAllowsHttp) {
  EXPECT_TRUE(allows_http("quiet cupel.http=yes panic=5"));
  EXPECT_FALSE(allows_http("quiet cupel.http=no cupel.http=yes"));
  EXPECT_FALSE(allows_http("xcupel.http=yes cupel.http=yes1"));
  EXPECT_FALSE(allows_http(""));
}

TEST_F(ImageStores, ARamSystemOfOneServerIsComparedWithItsAddressHoweverThatIsWritten) {
  const ImageManifest any{.name = "ram"}, one{.name = "ram", .boot_host = "2001:db8::1"};

  EXPECT_EQ(why_not_obeyed(any, {"10.0.0.1", true}), "");
  EXPECT_EQ(why_not_obeyed(one, {"2001:0db8:0::1", true}), "");
  EXPECT_THAT(why_not_obeyed(one, {"10.0.0.1", true}),
              HasSubstr("was built for the boot server 2001:db8::1 (--boot-host), and boot: serve "
                        "is 10.0.0.1"));
}

TEST_F(ImageStores, ManifestOfAnInstallerReadsBackAndHasAllItsFiles) {
  ImageManifest manifest;
  manifest.name = "debian-12-installer";
  manifest.kind = ImageKind::installer;
  manifest.arch = "x86_64";
  manifest.answers = "preseed";
  manifest.mirror = "http://10.0.0.1/debian";
  manifest.command_line = "console=ttyS0";
  for (const auto* name : {"ram.efi", "vmlinuz", "initrd", "cupel-node"})
    manifest.files.push_back({name, std::string(64, 'a'), 9000});

  const auto read = parse_manifest(manifest_text(manifest));

  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(*read, manifest);
  EXPECT_EQ((Image{*read, {}}).digest(), std::string(64, 'a'));
  manifest.files.pop_back();
  EXPECT_THAT(parse_manifest(manifest_text(manifest)).error().what, HasSubstr("lacks cupel-node"));
  manifest.files.push_back({"cupel-node", std::string(64, 'a'), 9000});
  manifest.mirror.clear();
  EXPECT_THAT(parse_manifest(manifest_text(manifest)).error().what,
              HasSubstr("'installer/mirror' is absent"));
}

TEST_F(ImageStores, RefusesADiscThatHasNoPlaceForItsNodesAddress) {
  ImageManifest manifest;
  manifest.name = "ram";
  manifest.kind = ImageKind::ram;
  manifest.arch = "x86_64";
  manifest.files = {{"ram.iso", std::string(64, 'a'), 9000}};

  const auto read = parse_manifest(manifest_text(manifest));

  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().what, HasSubstr("ram/iso_ticket' is absent"));
}

TEST_F(ImageStores, ListsUnusableImagesBesideTheOthers) {
  ASSERT_TRUE(put("good"));
  fs::create_directory(folder_ / "bad");
  write(folder_ / "bad/manifest.json", "{");
  write(folder_ / "a-file", "no image");

  const auto images = store().list();

  ASSERT_TRUE(images);
  ASSERT_EQ(images->size(), 2u);
  EXPECT_EQ((*images)[0].name, "bad");
  EXPECT_THAT((*images)[0].image.error().what, HasSubstr("manifest.json"));
  EXPECT_TRUE((*images)[1].image);
}

TEST_F(ImageStores, VerifyFindsAFileThatWasReplacedByOneOfTheSameSize) {
  ASSERT_TRUE(put("debian-12", "compressed"));
  write(folder_ / "debian-12/disk.raw.zst", "compresseD");

  EXPECT_TRUE(store().find("debian-12"));
  const auto verified = store().verify("debian-12");

  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().code, Code::kUntrusted);
  EXPECT_THAT(verified.error().what, HasSubstr("disk.raw.zst has SHA-256"));
}

TEST_F(ImageStores, FindRefusesAFileThatWasCutOrIsALink) {
  ASSERT_TRUE(put("cut"));
  ASSERT_TRUE(put("link"));
  fs::resize_file(folder_ / "cut/disk.raw.zst", 3);
  write(folder_ / "elsewhere", "compressed");
  fs::remove(folder_ / "link/disk.raw.zst");
  fs::create_symlink(folder_ / "elsewhere", folder_ / "link/disk.raw.zst");

  EXPECT_THAT(error_of("cut"), HasSubstr("has 3 bytes, and 10 in the manifest"));
  EXPECT_THAT(error_of("link"), HasSubstr("disk.raw.zst"));
}

TEST_F(ImageStores, NamesASimilarImage) {
  ASSERT_TRUE(put("debian-12"));

  const auto image = store().find("debain-12");

  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code, Code::kNotFound);
  EXPECT_THAT(image.error().what, HasSubstr("did you mean debian-12?"));
}

TEST_F(ImageStores, NoNameLeadsOutOfTheFolder) {
  for (const auto* name : {"..", "../x", "a/b", "", ".new-x", "-rf", "a b", "\x1b[2J"}) {
    EXPECT_EQ(store().find(name).error().code, Code::kInvalid) << name;
    EXPECT_EQ(store().begin(name).error().code, Code::kInvalid) << name;
  }
}

TEST_F(ImageStores, AnImageIsNeverReplaced) {
  ASSERT_TRUE(put("debian-12", "first"));

  EXPECT_EQ(put("debian-12", "second").error().code, Code::kConflict);

  EXPECT_EQ(store().find("debian-12")->digest(), sha256_hex("first"));
}

TEST_F(ImageStores, ABuildThatFailsLeavesNothing) {
  {
    auto made = store().begin("half");
    ASSERT_TRUE(made);
    write(made->folder() / "disk.raw.zst", "half");
  }

  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(ImageStores, WasteIsWhatIsNotKeptAndWhatDeadBuildsLeftButNoBuildUnderWay) {
  ASSERT_TRUE(put("old"));
  ASSERT_TRUE(put("new"));
  fs::create_directory(folder_ / ".new-dead-01234567");
  auto under_way = store().begin("next");
  ASSERT_TRUE(under_way);

  const auto waste = store().waste({"new"});

  ASSERT_TRUE(waste) << waste.error().what;
  EXPECT_THAT(waste->images, ElementsAre("old"));
  EXPECT_THAT(waste->left, ElementsAre(".new-dead-01234567"));
  ASSERT_TRUE(store().remove(*waste));
  EXPECT_FALSE(fs::exists(folder_ / "old"));
  EXPECT_FALSE(fs::exists(folder_ / ".new-dead-01234567"));
  EXPECT_TRUE(fs::exists(under_way->folder()));
  EXPECT_TRUE(store().find("new"));
}

TEST_F(ImageStores, AMisspeltNameToKeepRemovesNothing) {
  ASSERT_TRUE(put("debian-12"));

  const auto waste = store().waste({"debian12"});

  ASSERT_FALSE(waste);
  EXPECT_EQ(waste.error().code, Code::kNotFound);
}

TEST_F(ImageStores, OpeningNamesAFolderThatIsNotThere) {
  EXPECT_EQ(ImageStore::open(folder_ / "none").error().code, Code::kNotFound);
  EXPECT_TRUE(ImageStore::open_or_make(folder_ / "made/deep"));
}

struct WrongManifest {
  std::string from, to, error;
};

class WrongManifests : public ::testing::TestWithParam<WrongManifest> {};

TEST_P(WrongManifests, AreRefusedWithTheKey) {
  auto manifest = disk_manifest("debian-12");
  manifest.files = {{"disk.raw.zst", std::string(64, 'a'), 10}};
  auto text = manifest_text(manifest);
  const auto at = text.find(GetParam().from);
  ASSERT_NE(at, text.npos) << text;
  text.replace(at, GetParam().from.size(), GetParam().to);

  const auto read = parse_manifest(text);

  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kInvalid);
  EXPECT_THAT(read.error().what, HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Each, WrongManifests,
    ::testing::Values(
        WrongManifest{R"("cupel_image":1)", R"("cupel_image":2)", "'cupel_image' is not 1"},
        WrongManifest{R"("name":"debian-12")", R"("name":"../x")", "'name'"},
        WrongManifest{R"("name":"debian-12")", R"("name":["x"])", "'name'"},
        WrongManifest{R"("kind":"disk")", R"("kind":"tape")", "'kind'"},
        WrongManifest{R"("arch":"x86_64")", R"("arch":"vax")", "'arch'"},
        WrongManifest{R"("name":"disk.raw.zst")", R"("name":"../../etc/shadow")", "'name'"},
        WrongManifest{R"("name":"disk.raw.zst")", R"("name":"other")", "lacks disk.raw.zst"},
        WrongManifest{std::string(64, 'a'), std::string(64, 'A'), "'sha256'"},
        WrongManifest{R"("size":10)", R"("size":-10)", "'size'"},
        WrongManifest{R"("size":10)", R"("size":1e300)", "'size'"},
        WrongManifest{R"("compression":"zstd")", R"("compression":"xz")", "'compression'"},
        WrongManifest{R"("12.4+deb12u12")", R"("12\u001b[2J")", "'version'"},
        WrongManifest{R"(debian","version":"12")", R"(debian","version":{"a":1})", "'os/version'"},
        WrongManifest{"{", "", "JSON"}));

}  // namespace
}  // namespace cupel::images
