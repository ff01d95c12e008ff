// Which run a certificate is of where a node or a rack is named.
#include "orchestrator/certificate/meant_run.h"

#include <gmock/gmock.h>

#include "tests/orchestrator/report_fixture.h"

namespace cupel::certificate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MeantRunTest : public report::Report {
 protected:
  MeantRunTest() {
    for (const auto* node : {"a01-n01", "a01-n02"}) end(node, "verdict", record::to_json(good()));
    first_ = id;
    end_run();
  }
  void end_run() { add({engine::EventKind::run_ended}); }
  void begin(const std::string& node) {
    store::Run run;
    run.playbook = "quick-check";
    run.nodes = {node};
    id = *store->begin_run(run);
    add({engine::EventKind::run_started,
         "",
         "",
         {{"site", "lab"},
          {"nodes", {{{"name", node}, {"profile", "p"}, {"rack", "a01"}, {"unit", 1}}}},
          {"steps", {"verdict"}}}});
  }

  engine::RunId first_ = 0;
};

TEST_F(MeantRunTest, IsTheNewestThatHasAVerdictOfTheNode) {
  begin("a01-n01");
  end("a01-n01", "verdict", record::to_json(bad()));
  const auto second = id;
  end_run();
  begin("a01-n01");  // an audit, without a verdict
  end_run();
  begin("a01-n01");  // goes on
  end("a01-n01", "verdict", record::to_json(good()));

  const auto meant = meant_run(*store, "a01-n01");
  const auto other = meant_run(*store, "a01-n02");

  ASSERT_TRUE(meant) << meant.error().what;
  EXPECT_EQ(meant->run, second);
  EXPECT_THAT(meant->nodes, ElementsAre("a01-n01"));
  EXPECT_EQ(other->run, first_);
}

TEST_F(MeantRunTest, IsTheNewestOfTheNodesThatStandInTheRack) {
  const auto whole = meant_run(*store, "a01");
  begin("a01-n02");
  end("a01-n02", "verdict", record::to_json(good()));
  end_run();
  const auto part = meant_run(*store, "a01");

  ASSERT_TRUE(whole) << whole.error().what;
  EXPECT_EQ(whole->run, first_);
  EXPECT_THAT(whole->nodes, ElementsAre("a01-n01", "a01-n02"));
  EXPECT_EQ(part->run, id);
  EXPECT_THAT(part->nodes, ElementsAre("a01-n02"));
}

TEST_F(MeantRunTest, IsNoneWhereTheNameIsOfNeither) {
  const auto none = meant_run(*store, "b07");

  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kNotFound);
  EXPECT_THAT(none.error().what, HasSubstr("b07 is no number of a run, and no node or rack"));
}

}  // namespace
}  // namespace cupel::certificate
