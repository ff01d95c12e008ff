// Files that somebody's editor, disk or malice has damaged: every one is read, or refused
// with an error.
#include "tests/support/damage.h"

#include <gtest/gtest.h>

#include <random>

#include "inventory/load.h"
#include "inventory/node_range.h"

namespace cupel::inventory {
namespace {

using cupel::test::damaged;

constexpr std::string_view kSite = R"(site: lab
slurm: {partition: gpu, features: [qualified]}
rooms: [{name: hall, watts: 100000}]
racks:
  - name: a01
    room: hall
    watts: 90000
    units: 64
    pdus: [{name: p1, watts: 90000, breakers: [{name: "b[1-4]", watts: 22000}]}]
defaults:
  profile: dgx-h100
  bmc: {user: admin, password: "env:BMC_PASSWORD", tls: {trust: first-use}}
  ssh: {user: root, key: agent}
nodes:
  - name: a01-n[01-08]
    rack: a01
    unit: "[1-57/8]"
    breaker: p1/b[1-4]
    bmc: {address: "10.0.1.[11-18]"}
    ssh: {address: "10.0.2.[11-18]"}
)";

TEST(DamagedInventory, IsReadWholeOrRefusedWithAPlace) {
  std::mt19937 random{20261121};
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto text = damaged(std::string{kSite}, random);

    const auto result = parse_inventory(text, "site.yaml", "/nowhere");

    EXPECT_NE(result.inventory.has_value(), !result.problems.empty()) << text;
    for (const auto& problem : result.problems) EXPECT_FALSE(problem.what.empty()) << text;
    if (!result.inventory) ++refused;
  }
  EXPECT_GT(refused, 1000) << "the damage does not reach what matters";
}

TEST(DamagedRange, NeverGrowsBeyondItsLimit) {
  std::mt19937 random{20261121};
  for (int round = 0; round < 20'000; ++round) {
    const auto text = damaged("a[01-08,12]-n[1-57/8]", random);

    const auto names = expand(text);

    if (names) {
      EXPECT_LE(names->size(), 100'000) << text;
    }
  }
}

}  // namespace
}  // namespace cupel::inventory
