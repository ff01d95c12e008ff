#include "burnin/fabric/discovery/lldp.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "tests/support/fabric_files.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(Lldpctl, ReadsOneNeighbourSeveralAndArraysOfOne) {
  const LldpNeighbour expected{"eth0", "sw1", "3a:49:05:72:bd:15", "swp1"};
  constexpr std::string_view kInside =
      R"({"chassis": {"sw1": {"id": {"type": "mac", "value": "3a:49:05:72:bd:15"}}},
          "port": {"id": {"type": "mac", "value": "3a:49:05:72:bd:16"}, "descr": "swp1 "}})";
  const auto object = R"({"lldp": {"interface": {"eth0": )" + std::string{kInside} + "}}}";
  const auto array = R"({"lldp": {"interface": [{"eth0": )" + std::string{kInside} + "}]}}";
  constexpr std::string_view kZero = R"({"lldp": [{"interface": [{"name": "eth0",
      "chassis": [{"id": [{"type": "mac", "value": "3a:49:05:72:bd:15"}], "name": [{"value": "sw1"}]}],
      "port": [{"id": [{"type": "ifname", "value": "swp1"}], "descr": [{"value": "to n1"}]}]}]}]})";

  for (const auto& text : {object, array, std::string{kZero}}) {
    const auto found = parse_lldpctl(text);

    ASSERT_TRUE(found) << found.error().what;
    EXPECT_THAT(*found, ElementsAre(expected)) << text;
  }
}

TEST(Lldpctl, TakesNoNeighbourForAFailureToLook) {
  for (const auto* text : {"", "\n", R"({"lldp": {}})", R"({"lldp": [{}]})",
                           R"({"lldp": {"interface": [{"eth0": {"port": 7}}, 5, null]}})"}) {
    const auto found = parse_lldpctl(text);

    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().code, Code::kNoMeasurement) << text;
  }
}

TEST(Lldpctl, RefusesTheJsonOfOtherTools) {
  for (const auto* text :
       {R"({"lldpNeighbors": [{"port": "Ethernet1"}]})", R"({"swp1": {}})", "[]",
        R"({"TABLE_nbor_detail": {"ROW_nbor_detail": [{"port_id": "mlx5_0"}]}})"}) {
    const auto found = parse_lldpctl(text);

    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().code, Code::kMalformed) << text;
    EXPECT_THAT(found.error().what, ::testing::HasSubstr("not the output of lldpctl -f json0"))
        << text;
  }
}

TEST(Lldpctl, ReadsTheCapturesOfAllItsFormatsAlike) {
  CUPEL_NEEDS_FABRIC_FILE(zero, "generated/lldp_sw1.json0");
  CUPEL_NEEDS_FABRIC_FILE(plain, "generated/lldp_sw1.json");
  CUPEL_NEEDS_FABRIC_FILE(node, "generated/lldp_n1.json");

  const auto of_zero = parse_lldpctl(zero), of_plain = parse_lldpctl(plain);
  const auto of_node = parse_lldpctl(node);

  ASSERT_TRUE(of_zero && of_plain && of_node);
  EXPECT_EQ(*of_zero, *of_plain);
  ASSERT_THAT(*of_zero, SizeIs(4));
  EXPECT_EQ((*of_zero)[2].port, "swp3");
  EXPECT_EQ((*of_zero)[2].device, "n3");
  EXPECT_EQ((*of_zero)[2].remote, "eth0");
  ASSERT_THAT(*of_node, SizeIs(2));
  EXPECT_EQ((*of_node)[1].device, "sw2");
}

TEST(Lldpctl, RefusesEveryCut) {
  CUPEL_NEEDS_FABRIC_FILE(whole, "generated/lldp_sw1.json0");
  const auto text = trimmed(whole);

  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(parse_lldpctl(text.substr(0, size))) << size;
  const auto found = parse_lldpctl(text);
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(*found, SizeIs(4));
}

TEST(Lldpctl, InventsNoNeighbourFromAChangedByte) {
  CUPEL_NEEDS_FABRIC_FILE(whole, "generated/lldp_sw1.json0");
  std::size_t read = 0;

  for (std::size_t at = 0; at < whole.size(); at += 5)
    for (const char changed : {'\0', '\x7f', '"', '{', '7'}) {
      auto text = whole;
      text[at] = changed;
      const auto found = parse_lldpctl(text);
      if (!found) continue;
      ++read;
      EXPECT_LE(found->size(), 4u) << at;
      for (const auto& each : *found)
        for (const auto* name : {&each.port, &each.device, &each.chassis, &each.remote})
          EXPECT_EQ(printable(*name), *name) << at;
    }

  EXPECT_GT(read, 0u);
}

}  // namespace
}  // namespace cupel::burnin
