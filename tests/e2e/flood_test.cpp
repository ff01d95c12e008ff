// Many BMCs that answer late, and one that does not: who asks for news, for an end, or for the
// healthy node is not kept waiting by them.
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kLate{60};  // each answer of a slow BMC

class FloodTest : public ::testing::Test {
 protected:
  template <class Act>
  static milliseconds time_of(Act act) {
    const auto begun = std::chrono::steady_clock::now();
    act();
    return std::chrono::ceil<milliseconds>(std::chrono::steady_clock::now() - begun);
  }

  RackSite site{{.nodes = 40,
                 .network = 82,
                 .rules = R"({nodes: "v01-n[02-40]", path: "*", do: latency, late: 60s})"}};
};

TEST_F(FloodTest, OfSlowBmcsDelaysNeitherStatusNorCancelNorAHealthyNode) {
  site.write("facts.yaml", "playbook: facts\nsteps:\n  - step: bmc-facts\n");

  Child run{site.cupel({"run", "facts.yaml", "--json", "--no-console"})};
  const auto healthy = time_of([&] { EXPECT_TRUE(run.wait_for("\"step-ended\"", kLate)); });
  Ran told;
  const auto status = time_of([&] { told = site.run({"status"}); });
  Ran cancelled;
  const auto cancel = time_of([&] { cancelled = site.run({"cancel", "1"}); });
  const auto ran = run.wait();

  // Each far under what one answer of one slow BMC takes.
  EXPECT_LT(healthy, kLate / 2);
  EXPECT_LT(status, kLate / 4);
  EXPECT_LT(cancel, kLate / 2);
  EXPECT_THAT(told.out, HasSubstr("39 at bmc-facts"));
  EXPECT_EQ(cancelled.status, 0) << cancelled.err;
  EXPECT_EQ(ran.status, 3) << ran.err;
}

}  // namespace
}  // namespace cupel::testing
