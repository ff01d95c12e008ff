#include "base/paths.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace cupel {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

const std::string kTooLong(300, 'a');  // NAME_MAX is 255

class Paths : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "cupel-paths-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_{};
};

TEST_F(Paths, WhatCannotBeLookedAtIsNotCalledMissing) {
  const auto long_name = folder_ / kTooLong;

  EXPECT_FALSE(is_there(long_name));
  EXPECT_FALSE(is_folder(long_name));
  EXPECT_THAT(absence(long_name).value(), HasSubstr("cannot be looked at: File name too long"));
  EXPECT_EQ(absence(folder_ / "none").value(), "there is no file " + (folder_ / "none").string());
  EXPECT_EQ(absence(folder_), std::nullopt);
}

TEST_F(Paths, AFolderThatWasRemovedWhileWeWorkInItThrowsNothing) {
  const auto before = fs::current_path();
  fs::create_directory(folder_ / "gone");
  fs::current_path(folder_ / "gone");
  fs::remove(folder_ / "gone");

  const auto whole = absolute_path("inventory.yaml");
  const auto here = working_folder();
  fs::current_path(before);

  EXPECT_EQ(whole, "inventory.yaml");
  EXPECT_EQ(here, ".");
  EXPECT_EQ(absolute_path("x"), before / "x");
}

TEST_F(Paths, AFileNamesOthersFromItsOwnFolder) {
  EXPECT_EQ(path_from("/etc/cupel", "../keys/./site.pub"), "/etc/keys/site.pub");
  EXPECT_EQ(path_from("/etc/cupel", "/keys/site.pub"), "/keys/site.pub");
  EXPECT_EQ(path_from("", "site.pub"), fs::current_path() / "site.pub");
}

TEST_F(Paths, VisitsEachEntryAndSaysWhyItEndedEarly) {
  fs::create_directory(folder_ / "in");
  std::ofstream{folder_ / "a"} << "1";
  std::ofstream{folder_ / "in" / "b"} << "2";
  std::vector<std::string> shallow, deep;

  const auto here = each_entry(
      folder_, [&](const auto& entry) { shallow.push_back(entry.path().filename().string()); });
  const auto below = each_entry_below(
      folder_, [&](const auto& entry) { deep.push_back(entry.path().filename().string()); });
  const auto none = each_entry(folder_ / kTooLong, [](const auto&) { FAIL(); });

  EXPECT_FALSE(here);
  EXPECT_FALSE(below);
  EXPECT_EQ(none, std::errc::filename_too_long);
  EXPECT_THAT(shallow, UnorderedElementsAre("a", "in"));
  EXPECT_THAT(deep, UnorderedElementsAre("a", "in", "b"));
}

}  // namespace
}  // namespace cupel
