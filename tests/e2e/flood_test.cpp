// Many BMCs that answer late, and one that does not: who asks for news, for an end, or for the
// healthy node is not kept waiting by them.
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

class FloodTest : public ::testing::Test {
 protected:
  // Each answer of a slow BMC comes when the test is long over.
  RackSite site{{.nodes = 40,
                 .network = 82,
                 .rules = R"({nodes: "v01-n[02-40]", path: "*", do: latency, late: 1h})"}};
};

TEST_F(FloodTest, OfSlowBmcsDelaysNeitherStatusNorCancelNorAHealthyNode) {
  site.write("facts.yaml", "playbook: facts\nsteps:\n  - step: bmc-facts\n");

  Child run{site.cupel({"run", "facts.yaml", "--json", "--no-console"})};
  EXPECT_TRUE(run.wait_for("\"step-ended\"", std::chrono::minutes{2})) << "the healthy node waits";
  const auto reported = site.run({"status"}, std::chrono::minutes{2});
  const auto cancelled = site.run({"cancel", "1"}, std::chrono::minutes{2});
  const auto ran = run.wait();

  EXPECT_EQ(reported.status, 0) << reported.err;
  EXPECT_THAT(reported.out, HasSubstr("39 at bmc-facts"));
  EXPECT_EQ(cancelled.status, 0) << cancelled.err;
  EXPECT_EQ(ran.status, 3) << ran.err;
}

}  // namespace
}  // namespace cupel::testing
