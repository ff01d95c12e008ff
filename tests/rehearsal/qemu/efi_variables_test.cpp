// The file that OVMF keeps its variables in, as Debian's package has it.
#include "tests/support/qemu/efi_variables.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "tests/support/qemu/efi_boot.h"
#include "tests/support/real_part.h"

namespace cupel::rehearsal {
namespace {
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class EfiVariablesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    constexpr const char* kFile = "/usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd";
    CUPEL_NEEDS_REAL_PART(std::filesystem::exists(kFile), "OVMF (package ovmf) is not there");
    image = *read_file(kFile, 16u << 20);
  }
  EfiVariables parsed() const { return EfiVariables::parse(image).value(); }
  EfiVariables again(const EfiVariables& variables) const {
    return EfiVariables::parse(variables.image().value()).value();
  }

  std::string image;
};

TEST(BlankVariables, AreAVolumeThatTakesSome) {
  const auto blank = blank_variables(256u << 10);
  auto variables = EfiVariables::parse(blank).value();
  EXPECT_TRUE(variables.global_names().empty());

  variables.set_global("BootNext", "\x06");

  const auto image = variables.image().value();
  EXPECT_EQ(image.size(), blank.size());
  EXPECT_EQ(EfiVariables::parse(image).value().global("BootNext"), "\x06");
}

TEST_F(EfiVariablesTest, KeepsWhatIsThereAndAddsWhatIsSet) {
  auto variables = parsed();
  ASSERT_TRUE(variables.global("PK")) << "the snakeoil variables have a platform key";

  variables.set_global("BootNext", "\x06");
  variables.set_global("BootNext", std::string{"\x07\x00", 2});

  const auto read = again(variables);
  EXPECT_EQ(read.global("BootNext"), (std::string{"\x07\x00", 2}));
  EXPECT_EQ(read.global("PK"), parsed().global("PK"));
  EXPECT_EQ(read.image()->size(), image.size());
}

TEST_F(EfiVariablesTest, WhatIsErasedIsGone) {
  auto variables = parsed();
  variables.set_global("BootNext", "12");
  variables.erase_global("BootNext");

  EXPECT_THAT(again(variables).global_names(), Not(Contains("BootNext")));
}

TEST_F(EfiVariablesTest, FilledUpItSaysSoInsteadOfCuttingAnything) {
  auto variables = parsed();
  variables.set_global("Boot0001", std::string(1u << 20, 'x'));

  ASSERT_FALSE(variables.image());
  EXPECT_THAT(variables.image().error().what, HasSubstr("do not fit"));
}

TEST_F(EfiVariablesTest, AFileThatIsDamagedIsRefused) {
  EXPECT_FALSE(EfiVariables::parse("short"));
  EXPECT_FALSE(EfiVariables::parse(std::string(image.size(), '\0')));
  EXPECT_FALSE(EfiVariables::parse(image.substr(0, 4096)));
  auto longer = image;
  longer.replace(72 + 28 + 36, 4, "\xff\xff\xff\x7f");  // the length of the first one's name
  EXPECT_FALSE(EfiVariables::parse(longer));
}

TEST_F(EfiVariablesTest, AnOverrideByUriIsAnOptionOfItsOwnAndTheNextOne) {
  auto variables = parsed();
  const std::string uri = "http://10.77.0.1:8080/ram.efi";

  choose_boot(variables, {.enabled = "Once", .target = "UefiHttp", .uri = uri});

  EXPECT_EQ(variables.global("BootNext"), (std::string{"\xf0\x00", 2}));
  EXPECT_THAT(variables.global(kOptionOfBmc).value_or(""), HasSubstr(uri));

  choose_boot(variables, {});

  EXPECT_FALSE(variables.global("BootNext"));
  EXPECT_FALSE(variables.global(kOptionOfBmc));
}

TEST_F(EfiVariablesTest, AnOverrideTakesTheOptionThatTheFirmwareHasForIt) {
  auto variables = parsed();
  const auto ipv4 = std::string{"\x03\x0c\x1b\x00", 4} + std::string(23, '\0');
  const std::string end{"\x7f\xff\x04\x00", 4};
  variables.set_global("Boot0001", load_option("UEFI PXEv4", ipv4 + end));
  variables.set_global("Boot0003", load_option("UEFI HTTPv4", ipv4 + uri_path("")));

  choose_boot(variables, {.enabled = "Once", .target = "Pxe"});
  EXPECT_EQ(variables.global("BootNext"), (std::string{"\x01\x00", 2}));
  choose_boot(variables, {.enabled = "Once", .target = "UefiHttp"});
  EXPECT_EQ(variables.global("BootNext"), (std::string{"\x03\x00", 2}));
  choose_boot(variables, {.enabled = "Once", .target = "Hdd"});
  EXPECT_FALSE(variables.global("BootNext")) << "it has no disk";
}

}  // namespace
}  // namespace cupel::rehearsal
