#include "orchestrator/handoff/batch_script.h"

#include <gmock/gmock.h>

#include "tests/support/damage.h"

namespace cupel::handoff {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::string fault_in(const std::string& text) {
  const auto script = parse_batch_script(text, "/etc/a.sbatch");
  return script ? "" : script.error().what;
}

TEST(BatchScript, KeepsTheOptionsThatTheStepDoesNotSayItself) {
  const std::string text =
      "#!/bin/bash -l\n"
      "# NCCL over all rails\n"
      "#SBATCH --nodes=4 --partition=gpu -t 10 -Jnccl --output=x --no-requeue\n"
      "\n"
      "#SBATCH\t--ntasks-per-node=4 --exclusive   # whole nodes\n"
      "#SBATCH -A bringup --gres gpu:h100:8 -c14\n"
      "#SBATCH --ntasks-per-node=8\n"
      "#SBATCHED --is-a-comment\n"
      "srun all_reduce_perf\n"
      "#SBATCH --behind=a-command\n";

  const auto script = parse_batch_script(text, "/etc/a.sbatch");

  ASSERT_TRUE(script) << script.error().what;
  EXPECT_EQ(script->text, text);
  EXPECT_THAT(script->options,
              UnorderedElementsAre(Pair("ntasks-per-node", "8"), Pair("exclusive", ""),
                                   Pair("account", "bringup"), Pair("gres", "gpu:h100:8"),
                                   Pair("cpus-per-task", "14")));
}

TEST(BatchScript, NamesEachLineThatSlurmrestdCannotBeGiven) {
  EXPECT_THAT(
      fault_in("#!/bin/sh\n#SBATCH --array=1-4\n#SBATCH --exclusive=user\n#SBATCH -n 0\n"
               "#SBATCH --comment='a b'\n#SBATCH word\n#SBATCH --account\n#SBATCH -v\n"),
      AllOf(HasSubstr("/etc/a.sbatch:2: #SBATCH has --array=1-4: slurmrestd reads no #SBATCH "
                      "lines, and Cupel passes on only --account, --constraint, --cpus-per-task, "
                      "--error, --exclusive, --gpus-per-node, --gres, --mem, --ntasks, "
                      "--ntasks-per-node, --qos, --reservation: take it out, or leave rest out of "
                      "the slurm section; /etc/a.sbatch:3: #SBATCH has --exclusive, which with a "
                      "value has no form for slurmrestd; "),
            HasSubstr("/etc/a.sbatch:4: #SBATCH has --ntasks, which needs a number from 1 to "),
            HasSubstr("/etc/a.sbatch:5: #SBATCH has quotes"),
            HasSubstr("/etc/a.sbatch:6: #SBATCH has word: "),
            HasSubstr("/etc/a.sbatch:7: #SBATCH has --account, which needs a value"),
            HasSubstr("/etc/a.sbatch:8: #SBATCH has -v: ")));
}

TEST(BatchScript, IsBoundedTextInUtf8) {
  const std::string start = "#!/bin/sh\n";
  EXPECT_EQ(fault_in(start + std::string(kMostOfScript - start.size(), ' ')), "");
  for (const auto& text : {std::string{}, start + std::string(kMostOfScript, ' '),
                           start + std::string(1, '\0'), start + "\xff"})
    EXPECT_EQ(fault_in(text),
              "/etc/a.sbatch: a batch script is text in UTF-8, of 1 to 1048576 bytes");
  std::string many = start;
  for (int i = 0; i < 100; ++i) many += "#SBATCH --qos=high\n";
  EXPECT_THAT(fault_in(many), AllOf(HasSubstr(":66: #SBATCH is behind 64 others"),
                                    HasSubstr(":73: "), Not(HasSubstr(":74: "))));
}

TEST(BatchScript, IsReadOrRefusedHoweverItWasDamaged) {
  std::mt19937 random{20261201};
  const std::string text =
      "#!/bin/sh\n#SBATCH -n 8 --exclusive --gres=gpu:8 # all\n#SBATCH -A a -q=b --mem 0\nsrun x\n";
  for (int round = 0; round < 20'000; ++round) {
    const auto script = parse_batch_script(cupel::test::damaged(text, random), "x");
    if (!script) continue;
    for (const auto& [option, value] : script->options) EXPECT_LE(value.size(), 255u) << option;
  }
}

}  // namespace
}  // namespace cupel::handoff
