#include "orchestrator/firmware/learn_baseline.h"

#include <gmock/gmock.h>

#include "bmc/redfish/inventory.h"
#include "inventory/load_profile.h"
#include "orchestrator/firmware/firmware_plan.h"
#include "tests/support/captured_fetch.h"

namespace cupel::firmware {
namespace {

using inventory::Part;
using inventory::PartKind;
using namespace std::chrono_literals;

Part part(std::string id, std::string version, std::string name = "") {
  Part found{.kind = PartKind::firmware, .name = std::move(id), .model = std::move(name)};
  found.firmware = std::move(version);
  return found;
}

/// What a profile says of it that was written, and is read.
inventory::Profile profile_of(const LearnedBaseline& learned) {
  std::vector<inventory::Problem> problems;
  const auto profile =
      inventory::parse_profile("profile: learned\npower: {idle: 1, loaded: 2}\n" + to_yaml(learned),
                               "learned.yaml", inventory::ProfileSource{"/nowhere"}, problems);
  EXPECT_EQ(to_string(problems), "") << to_yaml(learned);
  return profile.value_or(inventory::Profile{});
}

TEST(LearnBaseline, FoldsNumberedIdsOfOneVersionIntoAPattern) {
  const auto learned =
      learn_baseline({part("HostBMC_0", "23.11.21"), part("HGX_FW_GPU_SXM_1", "96.00.89.00.01"),
                      part("HGX_FW_GPU_SXM_2", "96.00.89.00.01"), part("GPU_1_CPLD", "1.2"),
                      part("GPU_2_CPLD", "1.2")});

  EXPECT_EQ(to_yaml(learned),
            "firmware:\n"
            "  - {component: \"HostBMC_0\", version: \"23.11.21\"}\n"
            "  - {component: \"HGX_FW_GPU_SXM\", version: \"96.00.89.00.01\", ids: "
            "[\"HGX_FW_GPU_SXM_*\"]}\n"
            "  - {component: \"GPU_-_CPLD\", version: \"1.2\", ids: [\"GPU_*_CPLD\"]}\n");
}

TEST(LearnBaseline, NamesIdsOneByOneWhereAPatternWouldTakeInAnotherVersion) {
  const auto learned = learn_baseline({part("NIC1", "28.37"), part("NIC2", "28.37"),
                                       part("NIC3", "24.38"), part("NIC10", "28.37")});

  EXPECT_EQ(to_yaml(learned),
            "firmware:\n"
            "  - {component: \"NIC1\", version: \"28.37\", ids: [\"NIC1\", \"NIC10\", \"NIC2\"]}\n"
            "  - {component: \"NIC3\", version: \"24.38\"}\n");
}

TEST(LearnBaseline, TakesTheVersionOutOfTheId) {
  const auto learned =
      learn_baseline({part("Installed-25227-6.00.30.00__iDRAC.Embedded.1-1", "6.00.30.00")});

  ASSERT_EQ(learned.components.size(), 1);
  EXPECT_EQ(learned.components[0].ids,
            std::vector<std::string>{"Installed-25227-*__iDRAC.Embedded.1-1"});
}

TEST(LearnBaseline, GoesByTheNameWhereTheIdIsAPlaceInAList) {
  const auto learned = learn_baseline(
      {part("2", "U58 v2.44 (01/17/2025)", "System ROM"), part("5", "1.02", "Power Supply"),
       part("6", "1.02", "Power Supply"), part("7", "HPK5", "SSD"), part("8", "HPK1", "SSD")});

  EXPECT_EQ(to_yaml(learned),
            "firmware:\n"
            "  - {component: \"System-ROM\", version: \"U58 v2.44 (01/17/2025)\", ids: "
            "[\"System ROM\"]}\n"
            "  - {component: \"Power-Supply\", version: \"1.02\", ids: [\"Power Supply\"]}\n"
            "  - {component: \"7\", version: \"HPK5\"}\n"
            "  - {component: \"8\", version: \"HPK1\"}\n");
}

TEST(LearnBaseline, WritesWhatHostileBmcsReportAsPlainText) {
  const auto learned = learn_baseline({part("a\"]}, b: {", "1\\\"x"), part("e\x1b[2J", "2"),
                                       part("long", std::string(5000, '1')), part("star*", "3"),
                                       part("two", "1"), part("TWO", "2")});

  const auto profile = profile_of(learned);

  ASSERT_EQ(profile.firmware.size(), 2);
  EXPECT_EQ(profile.firmware[0].version, "1\\\"x");
  EXPECT_EQ(profile.firmware[0].ids, std::vector<std::string>{"a\"]}, b: {"});
  EXPECT_EQ(profile.firmware[1].ids, std::vector<std::string>{"star*"});
  EXPECT_EQ(learned.left_out.size(), 4);
}

class CapturedMachine : public ::testing::TestWithParam<const char*> {};

TEST_P(CapturedMachine, IsAtTheBaselineThatWasLearnedFromIt) {
  CUPEL_NEED_CAPTURE(tree, GetParam());
  test::CapturedFetch fetch{tree};
  asio::io_context io;
  const auto reported = run_to_end(io, bmc::redfish::read_versions(fetch, Deadline::in(60s)));
  ASSERT_TRUE(reported) << reported.error().what;

  const auto learned = learn_baseline(*reported);
  const auto profile = profile_of(learned);
  const auto plan = plan_firmware(profile, {}, *reported);

  std::set<std::string> covered;
  for (const auto& state : plan.components) {
    EXPECT_TRUE(state.is_at_baseline()) << state.expected->component << ": " << state.refusal;
    for (const auto& each : state.running) covered.insert(each.id);
  }
  EXPECT_FALSE(reported->empty());
  for (const auto& each : *reported) EXPECT_TRUE(covered.contains(each.name)) << each.name;
  EXPECT_TRUE(plan.is_at_baseline());
  EXPECT_TRUE(learned.left_out.empty());
}

TEST_P(CapturedMachine, IsOffTheBaselineWhereOneVersionDiffers) {
  CUPEL_NEED_CAPTURE(tree, GetParam());
  test::CapturedFetch fetch{tree};
  asio::io_context io;
  auto reported = run_to_end(io, bmc::redfish::read_versions(fetch, Deadline::in(60s)));
  ASSERT_TRUE(reported) << reported.error().what;
  const auto profile = profile_of(learn_baseline(*reported));

  for (auto& each : *reported) {
    const auto before = each.firmware;
    each.firmware = "other " + before + "9";
    EXPECT_FALSE(plan_firmware(profile, {}, *reported).is_at_baseline()) << each.name;
    each.firmware = before;
  }
}

INSTANTIATE_TEST_SUITE_P(Captures, CapturedMachine,
                         ::testing::Values("nvidia_viking", "supermicro", "dell", "hpe", "lenovo",
                                           "nvidia_gb200", "nvidia_dpu", "XL675d_A100",
                                           "OpenBMC-stock", "Gigabyte",
                                           "hpe-dl380a-gen11-ilo6-2xh100nvl",
                                           "lenovo-sr670v2-xcc-1.40",
                                           "nvidia-bluefield3-bmc-23.10"),
                         [](const auto& named) {
                           std::string name = named.param;
                           for (auto& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace cupel::firmware
