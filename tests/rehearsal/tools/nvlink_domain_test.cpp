// The NVLink domain of a virtual compute tray of an NVL72, as its stages read it, and the faults of
// it: each by the criterion of the tray's own profile, with the right GPU.
#include <fmt/format.h>

#include "burnin/criteria/judge.h"
#include "rehearsal/tools/gpu_view.h"
#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const inventory::Profile& tray() {
  static const auto profile = shipped_profile("gb200-nvl72-tray");
  return profile;
}

Fault report(std::string part, std::string field, std::string value) {
  return {.kind = FaultKind::gpu_report,
          .part = std::move(part),
          .component = std::move(field),
          .version = std::move(value)};
}

burnin::Findings read_by(Bench& bench, std::string_view stage) {
  const auto* asked = burnin::stage(stage);
  const auto job = asked->prepare(tray(), {});
  EXPECT_TRUE(job);
  const auto ran = bench.sh(job->script);
  auto found = asked->parse(tray(), {ran.out, ran.err, ran.status});
  EXPECT_TRUE(found) << found.error().what;
  return found ? *std::move(found) : burnin::Findings{};
}

std::string domain_in(const burnin::Findings& findings) {
  const auto fact = findings.facts.find("nvlink.domain");
  return fact == findings.facts.end() || fact->second.empty() ? "none" : fact->second;
}

/// "gpu2 gpu.fabric.joined", of the criteria of the fabric.
Texts not_met(const burnin::Findings& findings) {
  Texts all;
  for (const auto& each : burnin::judge(tray(), {"gpu-facts"}, {{"gpu-facts", findings}}))
    if (each.met != burnin::Met::met && each.measure.starts_with("gpu.fabric."))
      all.push_back(each.part + " " + each.measure);
  return all;
}

/// What both stages find of a tray with these faults; they must not differ.
struct Read {
  std::string domain;
  Texts not_met;
};
Read read_of(std::vector<Fault> faults, const std::string& rack = "") {
  Bench bench{std::move(faults), 10000, tray()};
  bench.machine.stand_in(rack);
  const auto by_tool = read_by(bench, "gpu-facts"), by_agent = read_by(bench, "facts");
  EXPECT_EQ(domain_in(by_tool), domain_in(by_agent));
  EXPECT_EQ(not_met(by_tool), not_met(by_agent));
  return {domain_in(by_tool), not_met(by_tool)};
}

TEST(VirtualDomain, IsOneForTheTraysOfARackAndAnotherForAnotherRack) {
  const auto one = read_of({}, "a01"), same = read_of({}, "a01"), other = read_of({}, "a02");

  EXPECT_EQ(one.domain, domain_uuid("a01") + ".32766");
  EXPECT_EQ(same.domain, one.domain);
  EXPECT_NE(other.domain, one.domain);
  EXPECT_THAT(one.not_met, IsEmpty());
}

TEST(VirtualDomain, NamesTheGpuThatHasNotJoinedByBothStages) {
  const auto clique = read_of({report("gpu2", "fabric.cliqueId", "0")});
  const auto cluster = read_of({report("gpu1", "fabric.clusterUuid", "none")});

  EXPECT_THAT(clique.not_met,
              UnorderedElementsAre("gpu2 gpu.fabric.joined", "gpu2 gpu.fabric.ready"));
  EXPECT_THAT(cluster.not_met,
              UnorderedElementsAre("gpu1 gpu.fabric.joined", "gpu1 gpu.fabric.ready"));
  EXPECT_NE(clique.domain, "none") << "the others are in it all the same";
}

TEST(VirtualDomain, NamesTheGpuThatIsInAnotherDomainOrPartition) {
  const auto cluster = read_of({report("gpu3", "fabric.clusterUuid", "another")});
  const auto clique = read_of({report("gpu0", "fabric.cliqueId", "5")});

  EXPECT_THAT(cluster.not_met, ElementsAre("gpu3 gpu.fabric.domains"));
  EXPECT_THAT(clique.not_met, ElementsAre("gpu0 gpu.fabric.domains"));
  EXPECT_EQ(cluster.domain, "none");
}

TEST(VirtualDomain, AccusesNoGpuWhereHalfOfThemAreInAnotherDomain) {
  const auto split = read_of({report("gpu2", "fabric.clusterUuid", "another"),
                              report("gpu3", "fabric.clusterUuid", "another")});

  EXPECT_THAT(split.not_met, ElementsAre(" gpu.fabric.domains"));
}

TEST(VirtualDomain, IsShownByTheToolsAsTheFaultHasIt) {
  Bench bench{{report("gpu1", "fabric.cliqueId", "0")}, 10000, tray()};
  const auto asked = [&](int gpu) {
    return bench
        .sh(fmt::format("nvidia-smi -i {} --format=csv,noheader --query-gpu=fabric.cliqueId", gpu))
        .out;
  };

  EXPECT_EQ(asked(0), "32766\n");
  EXPECT_EQ(asked(1), "0\n");
}

}  // namespace
}  // namespace cupel::rehearsal
