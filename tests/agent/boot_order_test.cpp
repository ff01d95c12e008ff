// The answer to a hello, as strictly as it is read.
#include <gmock/gmock.h>

#include "burnin/agent/node/boot/order.h"

namespace cupel::agent::boot {
namespace {

using ::testing::HasSubstr;

// DIGEST stands for 64 digits.
constexpr std::string_view kWhole = R"({"version":1,"node":"a01-n01","action":"deploy",
"hostname":"a01-n01","authorized_keys":["ssh-ed25519 AAAA"],
"image":{"name":"debian-12","file":"image","sha256":"DIGEST","size":10,"content_size":100,
"compression":"zstd"},
"disk":{"serial":"S1"},"wipe":"S1","erase":"nvme","grow":true,"seed":true,
"boot_entry":{"label":"Cupel OS","efi":"\\EFI\\BOOT\\BOOTX64.EFI","network_first":false}})";

/// The whole order with `by` for `what`.
std::string order_with(std::string_view what, std::string_view by) {
  std::string text{kWhole};
  const auto at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  if (at != text.npos) text.replace(at, what.size(), by);
  const auto digest = text.find("DIGEST");
  if (digest != text.npos) text.replace(digest, 6, std::string(64, 'a'));
  return text;
}

TEST(Order, IsReadWhole) {
  const auto order = parse_order(order_with("S1", "S2"));

  ASSERT_TRUE(order) << order.error().text;
  EXPECT_TRUE(order->deploy);
  EXPECT_EQ(order->disk.serial, "S2");
  EXPECT_EQ(order->wipe, "S1");
  EXPECT_EQ(order->erase, Erase::kNvme);
  EXPECT_EQ(order->image.content_size, 100u);
  EXPECT_EQ(order->boot_entry->efi, "\\EFI\\BOOT\\BOOTX64.EFI");
}

TEST(Order, IsRefusedWhereAValueIsNone) {
  struct Row {
    std::string_view what, by, named;
  };
  const std::vector<Row> rows{
      {R"("version":1)", R"("version":2)", "version"},
      {R"("version":1)", R"("version":"1")", "version"},
      {R"("deploy")", R"("install")", "action"},
      {R"("deploy")", R"("")", "action"},
      {R"("hostname":"a01-n01")", R"("hostname":"a b")", "hostname"},
      {R"("hostname":"a01-n01")", R"("hostname":"n1\nn2")", "hostname"},
      {R"(["ssh-ed25519 AAAA"])", R"("ssh-ed25519 AAAA")", "authorized_keys"},
      {R"("ssh-ed25519 AAAA")", R"("ssh-ed25519 A\nssh-ed25519 B")", "authorized_keys"},
      {R"("ssh-ed25519 AAAA")", "1", "authorized_keys"},
      {R"("image":{)", R"("image":1,"other":{)", "image"},
      {R"("file":"image")", R"("file":"../image")", "image.file"},
      {R"("file":"image")", R"("file":".image")", "image.file"},
      {R"("DIGEST")", R"("AAAA")", "image.sha256"},
      {R"("size":10,)", R"("size":0,)", "image"},
      {R"("size":10,)", R"("size":-1,)", "size"},
      {R"("content_size":100)", R"("content_size":1.5)", "content_size"},
      {R"("zstd")", R"("gzip")", "image.compression"},
      {R"("size":10,)", R"("size":10,"mirror":"file:///etc/shadow",)", "image.mirror"},
      {R"("size":10,)", R"("size":10,"mirror":1,)", "mirror"},
      {R"({"serial":"S1"})", R"("S1")", "disk"},
      {R"({"serial":"S1"})", R"({"serial":1})", "serial"},
      {R"({"serial":"S1"})", R"({"serial":"S1","seriall":"S1"})", "seriall"},
      {R"({"serial":"S1"})", R"({"model":"M","size_min":"1"})", "size_min"},
      {R"("wipe":"S1")", R"("wipe":true)", "wipe"},
      {R"("nvme")", R"("yes")", "erase"},
      {R"("grow":true)", R"("grow":"yes")", "grow"},
      {R"("seed":true)", R"("seed":1)", "seed"},
      {R"("Cupel OS")", R"("")", "boot_entry.label"},
      {R"("Cupel OS")", R"("-o")", "boot_entry.label"},
      {R"("efi":"\\EFI\\BOOT\\BOOTX64.EFI")", R"("efi":"")", "boot_entry.efi"},
      {R"("efi":"\\EFI\\BOOT\\BOOTX64.EFI")", R"("efi":"/EFI/x.efi")", "boot_entry.efi"},
      {R"("efi":"\\EFI\\BOOT\\BOOTX64.EFI")", R"("efi":"\\EFI\\..\\x.efi")", "boot_entry.efi"},
      {R"("network_first":false)", R"("network_first":"no")", "network_first"},
      {R"("network_first":false)", R"("network_drop":1)", "network_drop"},
      {R"("network_first":false)", R"("network_first":true,"network_drop":true)", "boot_entry"},
      {R"("wipe":"S1")", R"("root":{"file":"root.squashfs","sha256":"x","size":1})", "root"},
  };
  for (const auto& row : rows) {
    const auto parsed = parse_order(order_with(row.what, row.by));
    ASSERT_FALSE(parsed) << row.by;
    EXPECT_EQ(parsed.error().cause, Cause::kOrder) << row.by;
    EXPECT_THAT(parsed.error().text, HasSubstr(row.named)) << row.by;
  }
}

TEST(Order, ToStayUpNeedsNoDisk) {
  const auto order = parse_order(R"({"version":1,"action":"stay","hostname":"n1"})");

  ASSERT_TRUE(order) << order.error().text;
  EXPECT_FALSE(order->deploy);
}

TEST(Order, IsRefusedWhereItIsNoJsonOrSaysAThingTwice) {
  for (const auto* text : {"", "[]", "{", R"({"version":1,"version":1,"action":"stay"})"})
    EXPECT_FALSE(parse_order(text)) << text;
}

}  // namespace
}  // namespace cupel::agent::boot
