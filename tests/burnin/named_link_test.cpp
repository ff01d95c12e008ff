#include "burnin/fabric/named_link.h"

#include <gmock/gmock.h>

namespace cupel::burnin {
namespace {

using ::testing::HasSubstr;

const PortId kHca{"n05", "mlx5_3", 1};
const PortId kLeaf{"leaf1-r3", "", 13};

inventory::Fabric plan() {
  inventory::Fabric fabric;
  fabric.switches.push_back({.name = "leaf1-r3", .ports = 64, .ports_per_cage = 2});
  fabric.nodes.push_back({.name = "n05", .hcas = {"mlx5_3"}});
  fabric.nodes.push_back({.name = "n06", .hcas = {"mlx5_3"}, .host = "gpu-6"});
  fabric.cables.push_back({.from = {"n05", "mlx5_3", 1}, .to = {"leaf1-r3", "", 13}});
  fabric.cables.push_back({.from = {"n06", "mlx5_3", 1}, .to = {"leaf1-r3", "", 14}});
  return fabric;
}

TEST(NamedLink, WithoutAPlanAPortIsReadByItsForm) {
  for (const auto* name : {"n05 mlx5_3", "n05/mlx5_3", " n05  mlx5_3 "})
    EXPECT_EQ(named_link(name, nullptr).value(), (NamedLink{.here = kHca})) << name;
  for (const auto* name : {"leaf1-r3 port 13", "leaf1-r3/13", "port:leaf1-r3/13"})
    EXPECT_EQ(named_link(name, nullptr).value(), (NamedLink{.here = kLeaf})) << name;
  EXPECT_EQ(named_link("core-A/L16/U2/7", nullptr).value().here, (PortId{"core-A/L16/U2", "", 7}));
  EXPECT_EQ(named_link("n05 mlx5_3 port 2", nullptr).value().here, (PortId{"n05", "mlx5_3", 2}));
  EXPECT_EQ(named_link("n05 mlx5_3 - leaf1-r3 port 13", nullptr).value(), (NamedLink{kHca, kLeaf}));
}

TEST(NamedLink, WhatIsNoPortIsRefused) {
  for (const auto* name : {"", "n05", "/7", "leaf1/", "leaf1 port x", "leaf1/0", "leaf1/-3",
                           "leaf1/99999999", "a b c"})
    EXPECT_FALSE(named_link(name, nullptr)) << name;
  EXPECT_FALSE(named_link(std::string(100'000, 'n') + "/7", nullptr));
}

TEST(NamedLink, APlanSaysTheOtherEndAndTheCagesOfASwitch) {
  const auto fabric = plan();

  EXPECT_EQ(named_link("n05/mlx5_3", &fabric).value(), (NamedLink{kHca, kLeaf}));
  for (const auto* name : {"leaf1-r3/13", "leaf1-r3 port 7/1", "leaf1-r3/7/1"})
    EXPECT_EQ(named_link(name, &fabric).value(), (NamedLink{kLeaf, kHca})) << name;
}

TEST(NamedLink, ANodeIsCalledAsItCallsItself) {
  const auto fabric = plan();

  for (const auto* name : {"n06/mlx5_3", "gpu-6 mlx5_3"})
    EXPECT_EQ(named_link(name, &fabric).value().here, (PortId{"gpu-6", "mlx5_3", 1})) << name;
}

TEST(NamedLink, APortThatThePlanDoesNotHaveIsRefusedWithTheNearest) {
  const auto fabric = plan();

  const auto refused = named_link("n05 mlx5_4", &fabric);
  const auto crossed = named_link("n05 mlx5_3 - leaf1-r3 port 14", &fabric);

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("no port 'n05 mlx5_4'; the nearest is 'n05 mlx5_3'"));
  ASSERT_FALSE(crossed);
  EXPECT_THAT(crossed.error().what,
              HasSubstr("the cable of n05 mlx5_3 leads to leaf1-r3 port 13, not to"));
}

}  // namespace
}  // namespace cupel::burnin
