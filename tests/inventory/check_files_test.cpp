#include "inventory/check_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "inventory/model.h"

namespace cupel::inventory {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

TEST(CheckFiles, OfTheFabricAreTheSitesAlone) {
  std::string folder = (std::filesystem::temp_directory_path() / "cupel-files-XXXXXX").string();
  const auto open = std::string{::mkdtemp(folder.data())} + "/open";
  std::ofstream{open} << "x";
  ::chmod(open.c_str(), 0666);
  Inventory inventory;
  auto& fabric = inventory.fabric.emplace();
  auto& ufm = fabric.ufm.emplace();

  for (auto* named : {&fabric.file, &fabric.forwarding_file, &ufm.ca}) {
    *named = open;
    EXPECT_THAT(
        check_named_files(inventory),
        ElementsAre(Field("what", &Problem::what, HasSubstr("can be changed by other users"))));
    named->clear();
  }
  ufm.secret = {SecretRef::Kind::file, open};
  EXPECT_THAT(check_secret_files(inventory),
              ElementsAre(Field("what", &Problem::what, HasSubstr("may be read by others"))));
  std::filesystem::remove_all(folder);
}

TEST(CheckFiles, OfSlurmsJobsAreTheSitesAlone) {
  std::string folder = (std::filesystem::temp_directory_path() / "cupel-files-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const auto script = folder + "/accept.sh", results = folder + "/results";
  std::ofstream{script} << "x";
  std::filesystem::create_directory(results);
  Inventory inventory;
  inventory.slurm.emplace().jobs = {{.name = "nccl", .script = script, .results = results}};
  EXPECT_TRUE(check_named_files(inventory).empty());

  for (const auto& file : {script, results}) {
    ::chmod(file.c_str(), 0777);
    EXPECT_THAT(check_named_files(inventory),
                ElementsAre(Field("what", &Problem::what,
                                  HasSubstr(file + " can be changed by other users"))));
    ::chmod(file.c_str(), 0700);
  }
  std::filesystem::remove_all(folder);
}

TEST(CheckFiles, NameAManifestAndAKeyOfImagesThatAreNotThere) {
  std::string folder = (std::filesystem::temp_directory_path() / "cupel-files-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  Inventory inventory;
  EXPECT_TRUE(check_image_trust_files(inventory).empty());
  auto& images = inventory.images.emplace();
  images.manifest = folder + "/images.yaml";
  images.key = folder + "/site.pub";

  EXPECT_THAT(check_image_trust_files(inventory),
              ElementsAre(Field("what", &Problem::what, HasSubstr("no file " + images.manifest)),
                          Field("what", &Problem::what, HasSubstr("no file " + images.key))));

  for (const auto& file : {images.manifest, images.key}) std::ofstream{file} << "x";
  EXPECT_TRUE(check_image_trust_files(inventory).empty());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cupel::inventory
