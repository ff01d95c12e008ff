// CPUs, memory and GPUs of a virtual node at once: a healthy one meets every criterion, and what
// fails is found in the part that has it.
#include "burnin/companions.h"

#include "burnin/criteria/judge.h"
#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {

using enum FaultKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kStep = "train@day";

struct Found {
  burnin::FindingsByStage findings{};
  Texts unmet{};  // "cpu@train@day cpu0 core 17: cpu.failures"
};

/// What cupel-node reported of tools that did not end well.
std::string failed_tools(const std::string& text) {
  std::string failed;
  for (const auto line : lines(text))
    if (line.starts_with(R"({"kind":"evidence")") && !line.contains(R"("status":0)"))
      failed.append(line.substr(0, 2000)).append("\n");
  return failed;
}

Found trained(Bench& bench) {
  const auto* train = burnin::stage(kStep);
  const auto job = train->prepare(dgx(), {{"duration", "30m"}, {"beside", "cpu,memory"}});
  const auto ran = bench.sh(job->script);
  burnin::Output output{ran.out, ran.err, ran.status};
  Found found;
  std::set<std::string, std::less<>> steps{std::string{kStep}};
  for (auto& each : burnin::take_companions(dgx(), output)) {
    const auto name = burnin::companion_name(each.name, kStep);
    EXPECT_FALSE(each.findings.measurements.empty())
        << name << ": " << each.findings.unknown.front().why << "\n"
        << failed_tools(ran.out);
    steps.insert(name);
    found.findings[name] = std::move(each.findings);
  }
  const auto own = train->parse(dgx(), output);
  EXPECT_TRUE(own) << own.error().what;
  if (own) found.findings[std::string{kStep}] = *own;
  for (const auto& each : burnin::judge(dgx(), steps, found.findings))
    if (each.met != burnin::Met::met)
      found.unmet.push_back(each.stage + " " + each.part + ": " + each.measure);
  return found;
}

TEST(Together, AHealthyNodeMeetsEveryCriterionOfAllThreeAndKeepsWithinItsPower) {
  Bench bench;
  double most = 0;
  bench.machine.physics().on_draw = [&] {
    most = std::max(most, bench.machine.physics().settled_watts());
  };

  const auto found = trained(bench);

  EXPECT_THAT(found.findings, SizeIs(3));
  EXPECT_THAT(found.unmet, IsEmpty());
  EXPECT_GT(most, 0.8 * dgx().draw.loaded_watts) << "all of it worked";
  EXPECT_LE(most, dgx().draw.loaded_watts) << "admission plans with a loaded machine";
}

TEST(Together, LeavesCpusToTheGpusAndTestsEveryCore) {
  Bench bench;

  const auto found = trained(bench);

  const auto& cpu = found.findings.at("cpu@train@day");
  EXPECT_EQ(value_of(cpu, "cpu.cores", "cpu0"), 56);
  EXPECT_EQ(value_of(cpu, "cpu.failures", "cpu0 core 0"), 0) << "by its other thread";
  const auto& memory = found.findings.at("memory@train@day");
  EXPECT_NEAR(value_of(memory, "memory.tested", "numa1").value_or(0), 705, 10);
}

TEST(Together, FindsTheCoreAndTheMemoryThatFail) {
  Bench core{{{.kind = cpu_core_wrong, .part = "cpu1", .number = 17}}};
  Bench bits{{{.kind = memory_errors, .errors = 2}}};

  EXPECT_THAT(trained(core).unmet, ElementsAre("cpu@train@day cpu1 core 17: cpu.failures"));
  EXPECT_THAT(trained(bits).unmet, ElementsAre("memory@train@day numa1: memory.failures"));
}

}  // namespace
}  // namespace cupel::rehearsal
