// The NVLink domains of a rack's trays in one run, held against each other.
#include "orchestrator/steps/rack_domains.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "burnin/criteria/causes.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps {
namespace {

using burnin::Decision;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kOne = "0a1b2c3d-0000-4000-8000-000000000001.32766";
constexpr auto kOther = "0a1b2c3d-0000-4000-8000-000000000002.32766";

class RackDomains : public ::testing::Test {
 protected:
  void add(const std::string& rack, int trays, const char* domain) {
    for (int i = 0; i < trays; ++i) {
      auto& node = inventory_.nodes.emplace_back();
      node.name = fmt::format("{}-n{}", rack, inventory_.nodes.size());
      node.rack = rack;
      node.profile = "tray";
      run_.nodes[node.name].facts["nvlink.domain"] = domain;
    }
  }
  std::vector<burnin::Cause> causes_of(const std::string& node) const {
    return domain_differences(inventory_, *inventory_.node(node), run_);
  }
  std::vector<std::string> named() const {
    return nodes_in_other_domains(inventory_, "tray", run_);
  }

  inventory::Inventory inventory_{};
  engine::RunState run_{};
};

TEST_F(RackDomains, FailTheTrayThatIsInAnotherDomainThanItsRack) {
  add("a01", 3, kOne);
  add("a01", 1, kOther);

  const auto causes = causes_of("a01-n4");

  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].decision, Decision::fail);
  EXPECT_EQ(causes[0].criterion, "same NVLink domain in the rack");
  EXPECT_THAT(causes[0].measured, HasSubstr("3 of the 4 trays of rack a01 are in"));
  EXPECT_THAT(causes_of("a01-n1"), IsEmpty());
  EXPECT_THAT(named(), ElementsAre("a01-n4"));
}

TEST_F(RackDomains, LeaveAllOpenWhereNoDomainHasMostOfTheRack) {
  add("a01", 2, kOne);
  add("a01", 2, kOther);

  for (const auto& node : inventory_.nodes) {
    const auto causes = causes_of(node.name);
    ASSERT_EQ(causes.size(), 1u) << node.name;
    EXPECT_EQ(causes[0].decision, Decision::inconclusive) << node.name;
  }
  EXPECT_THAT(named(), ElementsAre("a01-n1", "a01-n2", "a01-n3", "a01-n4"));
}

/// Two trays of another rack beside a healthy one, and fifteen that are not in the run.
TEST_F(RackDomains, AccuseNoTrayByMostOfAFew) {
  add("a01", 2, kOther);
  add("a01", 1, kOne);
  for (int i = 0; i < 15; ++i) {
    add("a01", 1, kOne);
    run_.nodes.erase(inventory_.nodes.back().name);
  }

  const auto causes = causes_of("a01-n3");

  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].decision, Decision::inconclusive);
  EXPECT_THAT(causes[0].measured, HasSubstr("; of the 18 trays of its rack only 3 reported one"));
}

TEST_F(RackDomains, DecideNothingWhileATrayMayStillReport) {
  add("a01", 3, kOne);
  add("a01", 1, kOther);
  playbooks::PlannedStep verdict;
  verdict.kind = playbooks::StepKind::verdict;
  auto& late = run_.nodes["a01-n2"];
  late.planned = std::make_shared<const std::vector<playbooks::PlannedStep>>(1, verdict);
  late.steps.resize(1);

  EXPECT_THAT(causes_of("a01-n4"), IsEmpty());

  late.steps[0].attempt = 1;
  EXPECT_EQ(causes_of("a01-n4").size(), 1u);
}

TEST_F(RackDomains, SayNothingOfTraysThatReportNoDomainOrNonsense) {
  add("a01", 2, kOne);
  add("a01", 1, "N/A");
  add("a01", 1, "");
  run_.nodes["a01-n4"].facts.clear();

  EXPECT_THAT(named(), IsEmpty());
}

TEST_F(RackDomains, HaveAnEntryInTheTableOfCauses) {
  add("a01", 3, kOne);
  add("a01", 1, kOther);
  const auto causes = causes_of("a01-n4");

  const auto diagnosis = burnin::causes().diagnose(causes.at(0), causes, {});

  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(diagnosis->name, "nvlink-domain-of-a-tray");
}

}  // namespace
}  // namespace cupel::steps
