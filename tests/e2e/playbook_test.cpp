// Playbooks by hand: check, list and schema; and a run that outlives the files that it was made of.
#include <signal.h>

#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

class PlaybookTest : public ::testing::Test {
 protected:
  void SetUp() override { CUPEL_NEEDS_SITE(); }
};

constexpr const char* kOuter = R"(playbook: outer
parameters:
  burn: {default: 10m, type: duration}
steps:
  - include: looks.yaml
  - stage: cpu-memory
    with: {duration: "${burn}", memory: 16MiB}
  - step: verdict
)";

constexpr const char* kLooks = R"(playbook: looks
steps:
  - step: ssh-wait
  - stage: node-facts
)";

TEST_F(PlaybookTest, IsResumedWithWhatItIncludedAndWhatWasSetThoughItsFilesAreGone) {
  Site site{1, Site::Slurm::none};
  site.write("outer.yaml", kOuter);
  site.write("looks.yaml", kLooks);
  Child first{site.cupel({"run", "outer.yaml", "--set", "burn=3s", "--json"})};
  ASSERT_TRUE(first.wait_for("\"step-started\""));
  first.signal(SIGKILL);
  first.wait();
  std::filesystem::remove(site.folder / "outer.yaml");
  std::filesystem::remove(site.folder / "looks.yaml");

  const auto second = site.run({"resume"});

  EXPECT_EQ(second.status, 0) << second.out << second.err;
}

constexpr const char* kConditional = R"(playbook: conditional
steps:
  - step: ssh-wait
  - stage: node-facts
  - stage: disk
    when: {measure: {memory.total: {at_least: 1000000}}}
    with: {directory: /var/tmp, size: 16MiB, runtime: 1s}
  - step: verdict
)";

TEST_F(PlaybookTest, AStepWhoseConditionIsNotMetIsLeftOutAndTheNodePasses) {
  Site site{1, Site::Slurm::none};
  site.write("conditional.yaml", kConditional);

  const auto ran = site.run({"run", "conditional.yaml"});
  const auto shown = site.run({"show", "s01-n01", "--json"});

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr(R"("outcome":"skipped")"), HasSubstr("memory.total"),
                               HasSubstr(R"("because":"condition")")));
}

TEST_F(PlaybookTest, IsCheckedAloneAndAgainstAnInventory) {
  Site site{1, Site::Slurm::none};
  site.write("outer.yaml", kOuter);
  site.write("looks.yaml", kLooks);
  site.write("bad.yaml",
             "playbook: bad\nsteps: [{stage: dsk}, {step: power-on, max_attempts: 0}]\n");

  const auto good =
      site.run({"playbook", "check", "outer.yaml", "new-rack", "-i", "inventory.yaml"});
  site.write("profiles/lab.yaml", std::string{kProfile} + "parts: {gpu: {count: 8}}\n");
  const auto with_gpus =
      site.run({"playbook", "check", "outer.yaml", "new-rack", "-i", "inventory.yaml"});
  const auto alone = site.run({"playbook", "check", "outer.yaml", "new-rack", "audit"});
  const auto bad = site.run({"playbook", "check", "bad.yaml", "outer.yaml", "--set", "burn=soon"});

  EXPECT_EQ(good.status, 0) << good.err << "the lab's profile has no GPUs: they are left out";
  EXPECT_EQ(with_gpus.status, 2);
  EXPECT_THAT(with_gpus.err,
              AllOf(HasSubstr("no criteria for stage 'gemm'"), Not(HasSubstr("outer.yaml"))));
  EXPECT_EQ(alone.status, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("outer.yaml: playbook outer, 4 steps, no error\n"));
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, AllOf(HasSubstr("bad.yaml:2:17: there is no stage 'dsk'"),
                             HasSubstr("bad.yaml:2:54: max_attempts must be"),
                             HasSubstr("--set burn: bad.yaml has no parameter 'burn'"),
                             HasSubstr("--set burn: burn must be a duration"),
                             HasSubstr("cupel: 4 errors; nothing was touched")));
}

TEST_F(PlaybookTest, IsListedAndDescribedForEditors) {
  Site site{1, Site::Slurm::none};

  const auto listed = site.run({"playbook", "list"});
  const auto shown = site.run({"playbook", "show", "new-rack"});
  site.write("mine.yaml", shown.out);
  const auto checked = site.run({"playbook", "check", "mine.yaml"});
  const auto unknown = site.run({"playbook", "show", "new-rak"});
  const auto schema = site.run({"playbook", "schema"});

  for (const auto* name : {"new-rack", "audit", "quick-check", "burn-in-host", "burn-in-72h"})
    EXPECT_THAT(listed.out, HasSubstr(name));
  EXPECT_TRUE(listed.out.ends_with('\n'));
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_THAT(shown.out, HasSubstr("playbook: new-rack\n"));
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("new-rack"));
  const auto parsed = parse_json(schema.out);
  ASSERT_TRUE(parsed) << schema.out;
  EXPECT_EQ(cupel::text_at(*parsed, "title"), "Cupel playbook");
}

}  // namespace
}  // namespace cupel::testing
