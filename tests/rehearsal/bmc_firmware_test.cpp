// What an image for virtual machines looks like, and the form that it comes in.
#include "rehearsal/bmc/firmware.h"
#include "rehearsal/bmc/multipart.h"
#include "tests/rehearsal/bench.h"

namespace cupel::rehearsal {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;

TEST(ImageTest, IsKnownByWhatItSaysOrByItsName) {
  const auto all = components_of(make_hardware(dgx(), "n", 1, {}), "");
  const auto& names = update_behavior_of("supermicro").names;
  const std::vector<std::string> bios{"HostBIOS_0"};

  EXPECT_THAT(read_image("virtual firmware\nBIOS 2.0\nnonsense\n", "", {}, all, names),
              ElementsAre(Flash{"HostBIOS_0", "2.0"}));
  EXPECT_THAT(read_image("", "https://x/a/CPLD_Motherboard_F1.2.bin?key=1", {}, all, names),
              ElementsAre(Flash{"CPLDMB_0", "F1.2"}));
  EXPECT_THAT(read_image("", "anything_3.4", bios, all, names),
              ElementsAre(Flash{"HostBIOS_0", "3.4"}));
  EXPECT_THAT(read_image("virtual firmware\nBMC 2\n", "", bios, all, names), IsEmpty());
  EXPECT_THAT(read_image("MZ\x90", "setup.exe", {}, all, names), IsEmpty());
}

TEST(ImageTest, VersionsAreOlderNumberByNumber) {
  EXPECT_TRUE(is_older("1.9", "1.10"));
  EXPECT_FALSE(is_older("1.10", "1.9"));
  EXPECT_FALSE(is_older("2.0", "2.0"));
}

TEST(FormTest, IsReadPartByPartAndNotPastItsEnd) {
  const std::string good =
      "--b\r\nContent-Disposition: form-data; name=\"a; b\"; "
      "filename=f.bin\r\n\r\n1\r\n2\r\n--b\r\n"
      "Content-Disposition: form-data; name=c\r\n\r\n\r\n--b--";

  const auto parts = read_form("multipart/form-data; charset=x; boundary=\"b\"", good);

  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 2);
  EXPECT_EQ(parts->at(0).name, "a; b");
  EXPECT_EQ(parts->at(0).file_name, "f.bin");
  EXPECT_EQ(parts->at(0).body, "1\r\n2");
  EXPECT_EQ(part_named(*parts, "c")->body, "");
  EXPECT_FALSE(read_form("multipart/form-data", good));
  for (std::size_t cut = 0; cut + 1 < good.size(); ++cut)
    EXPECT_FALSE(read_form("multipart/form-data; boundary=b", good.substr(0, cut))) << cut;
}

}  // namespace
}  // namespace cupel::rehearsal
