// What an image for virtual machines looks like, and the form that it comes in.
#include "base/digest.h"
#include "rehearsal/bmc/image.h"
#include "rehearsal/bmc/multipart.h"
#include "tests/rehearsal/bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

std::optional<std::vector<FormPart>> read_form(const std::string& body) {
  FormReader reader{"b"};
  reader.take(body);
  return reader.finish();
}

TEST(FormTest, IsReadPartByPartAndNotPastItsEnd) {
  const std::string good =
      "--b\r\nContent-Disposition: form-data; name=\"a; b\"; "
      "filename=f.bin\r\n\r\n1\r\n2\r\n--b\r\n"
      "Content-Disposition: form-data; name=c\r\n\r\n\r\n--b--";

  const auto parts = read_form(good);

  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 2);
  EXPECT_EQ(parts->at(0).name, "a; b");
  EXPECT_EQ(parts->at(0).file_name, "f.bin");
  EXPECT_EQ(parts->at(0).text(), "1\r\n2");
  EXPECT_EQ(part_named(*parts, "c")->text(), "");
  EXPECT_EQ(boundary_in("multipart/form-data; charset=x; boundary=\"b\""), "b");
  EXPECT_FALSE(boundary_in("multipart/form-data"));
  for (std::size_t cut = 0; cut + 1 < good.size(); ++cut)
    EXPECT_FALSE(read_form(good.substr(0, cut))) << cut;
}

TEST(FormTest, IsReadAlikeHoweverItIsCut) {
  std::string file(300'000, 'x');
  for (std::size_t i = 0; i < file.size(); i += 7) file[i] = "\r\n-"[i % 3];
  const auto body = "--b\r\nContent-Disposition: form-data; name=f\r\n\r\n" + file +
                    "\r\n--b\r\nContent-Disposition: form-data; name=g\r\n\r\n7\r\n--b--\r\n";

  for (const std::size_t step : {1u, 3u, 4096u, 65536u, 400'000u}) {
    FormReader reader{"b"};
    for (std::size_t at = 0; at < body.size(); at += step)
      reader.take(std::string_view{body}.substr(at, step));
    const auto parts = reader.finish();
    ASSERT_TRUE(parts) << step;
    const auto& content = part_named(*parts, "f")->content;
    EXPECT_EQ(content.size, file.size());
    EXPECT_EQ(content.sha256, sha256_hex(file));
    EXPECT_EQ(content.head, file.substr(0, ImageReader::kMostKept));
    EXPECT_EQ(part_named(*parts, "g")->text(), "7");
  }
}

TEST(FormTest, HasNoMoreThanSixteenParts) {
  std::string body;
  for (int i = 0; i < 17; ++i) body += "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n";

  EXPECT_FALSE(read_form(body + "--b--"));
}

std::string made(const ImagePlan& plan) {
  std::string bytes;
  EXPECT_TRUE(write_image(plan, [&](std::string_view piece) { bytes += piece; }));
  return bytes;
}

ReceivedImage received(std::string_view bytes) {
  ImageReader reader;
  for (std::size_t at = 0; at < bytes.size(); at += 1000) reader.take(bytes.substr(at, 1000));
  return reader.finish();
}

TEST(ImageTest, ThatWasMadeIsReadAgainAndIsWhole) {
  const auto bytes = made({{{"HostBIOS_0", "2.0"}, {"PSU_1", "3.1"}}, "DGXH100", 200'000});

  const auto image = received(bytes);
  const auto all = components_of(make_hardware(dgx(), "n", 1, {}), "");
  const auto contents = read_image(image.head, "", {}, all, update_behavior_of("dell").names);

  EXPECT_EQ(bytes.size(), 200'000);
  EXPECT_EQ(image.sha256, sha256_hex(bytes));
  EXPECT_EQ(model_in(image.head), "DGXH100");
  EXPECT_EQ(damage_of(image), "");
  EXPECT_THAT(contents, ElementsAre(Flash{"HostBIOS_0", "2.0"}, Flash{"PSU_1", "3.1"}));
}

TEST(ImageTest, ThatWasCutOrChangedIsFoundOut) {
  const auto bytes = made({{{"HostBIOS_0", "2.0"}}, "", 100'000});
  auto changed = bytes;
  changed[50'000] = static_cast<char>(changed[50'000] ^ 1);

  EXPECT_THAT(damage_of(received(bytes.substr(0, 99'999))), HasSubstr("99999 bytes came"));
  EXPECT_THAT(damage_of(received(changed)), HasSubstr("damaged"));
  EXPECT_EQ(damage_of(received(bytes)), "");
}

TEST(ImageTest, IsNotMadeOfWhatItCouldNotSay) {
  const auto ignore = [](std::string_view) {};

  EXPECT_FALSE(write_image({{{"Host BIOS", "2.0"}}, "", 0}, ignore));
  EXPECT_FALSE(write_image({{{"HostBIOS_0", "2.0"}}, "", 70}, ignore));
}

}  // namespace
}  // namespace cupel::rehearsal
