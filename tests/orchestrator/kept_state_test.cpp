// State folders that earlier versions wrote, opened by this one. kept_state/schema-N.tar.xz has a
// folder of schema N, a certificate of its run 1 and the key that verifies it. A version that adds
// a migration adds a folder that the version before it wrote, and never replaces one:
//   cupel --state state rehearse quick-check --rack h100-8 --nodes 'v01-n[03-04]' --on-halt end
//   cupel --state state token add alice --role viewer
//   cupel --state state certificate 1 --nodes v01-n04 --key site.key -o run-1.certificate
//   tar -cJf schema-N.tar.xz state run-1.certificate site.pub
#include <fmt/format.h>

#include "base/file.h"
#include "orchestrator/certificate/envelope.h"
#include "orchestrator/certificate/statement.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/store/check.h"
#include "tests/orchestrator/store_fixture.h"
#include "tests/support/child.h"

namespace cupel::store {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KeptState : public StoreTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    const auto archive =
        fmt::format("{}/tests/orchestrator/kept_state/schema-{}.tar.xz", SOURCE_DIR, GetParam());
    const auto unpacked =
        testing::run({"tar", "--no-same-owner", "-xf", archive, "-C", folder_.string()});
    ASSERT_EQ(unpacked.status, 0) << unpacked.err;
  }

  fs::path state() const { return folder_ / "state"; }

  std::unique_ptr<Store> open_state() {
    auto store = Store::open(state());
    EXPECT_TRUE(store) << (store ? "" : store.error().what);
    return store ? *std::move(store) : nullptr;
  }

  std::string text_of(const char* name) const {
    return read_file(folder_ / name, 1U << 20U).value_or("");
  }
};

TEST_P(KeptState, IsReadWithItsRunAndItsVerdicts) {
  const auto store = open_state();
  ASSERT_NE(store, nullptr);

  const auto run = store->run(1);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->playbook, "quick-check");
  EXPECT_EQ(run->phase, RunPhase::ended);
  EXPECT_THAT(run->nodes, ElementsAre("v01-n03", "v01-n04"));
  const auto summary = report::summarize(*store, 1);
  ASSERT_TRUE(summary) << summary.error().what;
  ASSERT_EQ(summary->nodes.size(), 2);
  EXPECT_EQ(summary->nodes[0].decision, burnin::Decision::fail);
  EXPECT_EQ(summary->nodes[1].decision, burnin::Decision::pass);
}

TEST_P(KeptState, IsWholeOnceItWasMigrated) {
  ASSERT_NE(open_state(), nullptr);

  const auto checked = check_store(state());

  ASSERT_TRUE(checked) << checked.error().what;
  EXPECT_THAT(checked->faults, IsEmpty());
  EXPECT_EQ(checked->runs, 1);
  EXPECT_GT(checked->evidence, 10);
  EXPECT_EQ(checked->audit.sequence, 1);
}

TEST_P(KeptState, TakesAnotherRun) {
  const auto store = open_state();
  ASSERT_NE(store, nullptr);

  const auto run = store->begin_run(run_on({"v01-n04"}));

  ASSERT_TRUE(run) << run.error().what;
  EXPECT_EQ(*run, 2);
  auto started = event(engine::EventKind::run_started);
  EXPECT_TRUE(store->append(*run, started));
}

TEST_P(KeptState, HasACertificateThatStillHolds) {
  const auto opened =
      certificate::open(text_of("run-1.certificate"), std::vector{text_of("site.pub")});

  ASSERT_TRUE(opened) << opened.error().what;
  const auto certified = certificate::read_statement(opened->payload);
  ASSERT_TRUE(certified) << certified.error().what;
  ASSERT_EQ(certified->nodes.size(), 1);
  EXPECT_EQ(certified->nodes[0].node, "v01-n04");
  EXPECT_EQ(certified->nodes[0].decision, "pass");
  const auto checked = check_store(state());
  ASSERT_TRUE(checked) << checked.error().what;
  EXPECT_THAT(checked->journals, ElementsAre(JournalHead{1, certified->events, certified->head}));
}

INSTANTIATE_TEST_SUITE_P(Schemas, KeptState, ::testing::Values(10));

}  // namespace
}  // namespace cupel::store
