// A rack whose air is too warm, beside the run's other racks.
#include "orchestrator/steps/rack_inlets.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "burnin/verdict_text.h"
#include "inventory/model.h"

namespace cupel::steps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RackInlets : public ::testing::Test {
 protected:
  /// Four nodes whose inlets are half a kelvin apart.
  void add_rack(const std::string& rack, double celsius) {
    for (int i = 0; i < 4; ++i) add_node(rack, fmt::format("{}", celsius + 0.5 * i));
  }

  void add_node(const std::string& rack, const std::string& celsius) {
    auto& node = inventory_.nodes.emplace_back();
    node.name = fmt::format("{}-n{}", rack, inventory_.nodes.size());
    node.rack = rack;
    node.profile = rack;
    run_.nodes[node.name].facts["thermal.inlet"] = celsius;
  }

  std::vector<std::string> causes_of(std::size_t node) const {
    std::vector<std::string> words;
    for (const auto& each : warm_rack(inventory_, inventory_.nodes.at(node), run_)) {
      EXPECT_EQ(each.decision, burnin::Decision::inconclusive);
      words.push_back(burnin::to_string(each));
    }
    return words;
  }

  inventory::Inventory inventory_{};
  engine::RunState run_{};
};

TEST_F(RackInlets, NamesEachNodeOfARackElevenKelvinTooWarm) {
  add_rack("a", 23);
  add_rack("b", 24);
  add_rack("c", 34.5);

  for (std::size_t node = 8; node < 12; ++node)
    EXPECT_THAT(causes_of(node),
                ElementsAre(HasSubstr("35.2 C, the median of 4 nodes of rack c, expected at most "
                                      "33.2 C, 9 K above the 24.2 C of 2 other racks")));
  EXPECT_THAT(causes_of(0), IsEmpty()) << "cooler than another rack is no finding";
}

TEST_F(RackInlets, SaysNothingOfRacksThatDifferAsRacksDo) {
  add_rack("a", 20);
  add_rack("b", 28);

  for (std::size_t node = 0; node < 8; ++node) EXPECT_THAT(causes_of(node), IsEmpty());
}

TEST_F(RackInlets, ComparesNothingWithOneInletOrOneRackOrWhatIsNoNumber) {
  add_rack("a", 40);
  EXPECT_THAT(causes_of(0), IsEmpty()) << "one rack";
  add_node("b", "20");
  EXPECT_THAT(causes_of(0), IsEmpty()) << "one inlet in the other";
  add_node("b", "N/A");
  EXPECT_THAT(causes_of(0), IsEmpty()) << "and no number";
  add_node("", "20");
  add_node("", "20");
  EXPECT_THAT(causes_of(0), IsEmpty()) << "of no rack";
  add_node("b", "20");
  EXPECT_THAT(causes_of(0), ElementsAre(HasSubstr("1 other rack")));
}

TEST_F(RackInlets, IsNotMovedByOneSensorThatIsBroken) {
  add_rack("a", 23);
  add_rack("b", 23);
  run_.nodes[inventory_.nodes[0].name].facts["thermal.inlet"] = "120";

  EXPECT_THAT(causes_of(0), IsEmpty()) << "that is the node's own finding";
}

}  // namespace
}  // namespace cupel::steps
