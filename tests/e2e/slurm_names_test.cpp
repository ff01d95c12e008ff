// A name that means several nodes to Slurm changes none of them, wherever it comes from: with a
// real slurmctld.
#include <fstream>

#include "base/digest.h"
#include "base/task.h"
#include "orchestrator/handoff/slurm.h"
#include "orchestrator/store/store.h"
#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

constexpr const char* kJudgeAndHandOver =
    "playbook: judge\nsteps:\n  - step: verdict\n  - step: hand-off\n";

class SlurmNamesTest : public ::testing::Test {
 protected:
  void SetUp() override { CUPEL_NEEDS_SITE(); }

  static void expect_all_idle(const Site& site) {
    for (int node = 1; node <= site.count; ++node)
      EXPECT_EQ(site.slurm->state(Site::name(node)), "idle") << node;
  }
};

/// One node, which Slurm is to know by this name.
void name_in_slurm(const Site& site, const std::string& name) {
  const auto text = site.read("inventory.yaml");
  const auto second = text.find("  - name: s01-n02");
  site.write("inventory.yaml", text.substr(0, second) + "    slurm_name: \"" + name + "\"\n");
}

TEST_F(SlurmNamesTest, AnInventoryWithThemIsRefusedAndDrainsNothing) {
  const Site site{2};
  site.write("judge.yaml", kJudgeAndHandOver);
  for (const auto* name : {"ALL", "all", "s01-n[01-02]", "s01-n01,s01-n02", "DEFAULT"}) {
    site.write_inventory();
    name_in_slurm(site, name);

    const auto ran = site.run({"run", "judge.yaml"});

    EXPECT_EQ(ran.status, 2) << name << ran.out << ran.err;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("inventory.yaml:"), HasSubstr("nothing was touched")));
  }
  expect_all_idle(site);
}

TEST_F(SlurmNamesTest, ARunThatBeganBeforeTheyWereRefusedGoesOnWithoutThem) {
  const Site site{2};
  name_in_slurm(site, "ALL");
  store::Run run;
  run.playbook = "judge";
  run.playbook_file = "judge.yaml";
  run.playbook_text = kJudgeAndHandOver;
  run.inventory_file = (site.folder / "inventory.yaml").string();
  run.inventory_digest = sha256_hex(site.read("inventory.yaml") + kProfile);
  run.nodes = {"s01-n01"};
  {
    const auto store = store::Store::open(site.folder / "state");
    ASSERT_TRUE(store);
    ASSERT_TRUE((*store)->begin_run(run));
  }

  const auto resumed = site.run({"resume", "1"});

  EXPECT_EQ(resumed.status, 2) << resumed.out << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("Slurm name 'ALL'"));
  expect_all_idle(site);
}

TEST_F(SlurmNamesTest, TheLastDoorToSlurmTakesTheNameOfOneKnownNodeOnly) {
  const Site site{2};
  inventory::SlurmSite slurm_site;
  slurm_site.configuration = site.slurm->configuration();
  handoff::Slurm slurm{slurm_site};
  asio::io_context io{1};
  const auto drained = [&](const std::string& name) {
    return run_to_end(io, slurm.drain(name, "cupel: test", Deadline::in(std::chrono::seconds{60})));
  };

  for (const auto* name : {"ALL", "all", "DEFAULT", "s01-n[01-02]", "s01-n01,s01-n02", "", "-v"})
    EXPECT_EQ(drained(name).error().code, Code::kInvalid) << name;
  EXPECT_EQ(drained("s01-n03").error().code, Code::kNotFound);

  expect_all_idle(site);
  EXPECT_TRUE(drained("s01-n02"));
  EXPECT_EQ(site.slurm->state("s01-n01"), "idle");
  EXPECT_EQ(site.slurm->state("s01-n02"), "drain");
  const auto all = run_to_end(io, slurm.nodes(Deadline::in(std::chrono::seconds{60})));
  ASSERT_TRUE(all) << all.error().what;
  ASSERT_EQ(all->size(), 2u);
  EXPECT_TRUE((*all)[0].idle()) << (*all)[0].name;
  EXPECT_FALSE((*all)[1].idle()) << (*all)[1].name;
}

}  // namespace
}  // namespace cupel::testing
