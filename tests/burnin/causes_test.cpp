// The knowledge base: what is shipped, what it says of findings, and what it refuses.
#include "burnin/criteria/causes.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "base/text.h"
#include "burnin/criteria/fleet_measures.h"
#include "burnin/measures/measure.h"
#include "burnin/xids.h"
#include "inventory/load_profile.h"
#include "inventory/shipped.h"
#include "tests/support/samples.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Cause failure(const std::string& criterion, const std::string& part,
              std::optional<double> value = std::nullopt) {
  Cause cause;
  cause.criterion = criterion;
  cause.part = part;
  cause.quantity.value = value;
  return cause;
}

std::string name_of(const Cause& cause, std::vector<Cause> others = {}) {
  others.push_back(cause);
  const auto diagnosis = causes().diagnose(cause, others, {});
  return diagnosis ? diagnosis->name : "nothing";
}

TEST(Causes, HaveAnEntryForEveryCriterionOfEveryShippedProfile) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& file : inventory::shipped_files()) {
    if (!file.path.starts_with("inventory/profiles/")) continue;
    std::vector<inventory::Problem> problems;
    const auto name = std::filesystem::path{file.path}.stem().string();
    const auto profile = inventory::ProfileSource{"/nowhere"}.load(name, problems);
    ASSERT_TRUE(profile) << to_string(problems);
    for (const auto& criterion : profile->criteria)
      for (const auto& part : criterion.parts)
        if (seen.emplace(criterion.measure, part).second)
          EXPECT_NE(name_of(failure(criterion.measure, part)), "nothing")
              << criterion.measure << " of " << part;
  }
  EXPECT_GT(seen.size(), 300);
}

TEST(Causes, HaveAnEntryForWhateverTheAuditFinds) {
  for (const auto* finding :
       {"audit: missing", "audit: extra", "audit: wrong model", "audit: wrong size",
        "audit: wrong firmware", "audit: wrong serial", "audit: wrong setting", "audit: unhealthy",
        "audit: below the security floor"})
    for (const auto* part :
         {"gpu3", "dimm A7", "psu2", "fan1", "nvme0", "mlx5_5", "cpu1", "system"})
      EXPECT_NE(name_of(failure(finding, part)), "nothing") << finding << " of " << part;
}

TEST(Causes, HaveAnEntryForEveryRateThatIsComparedBetweenMachinesAndRuns) {
  int compared = 0;
  for (const auto& group : measure_rows())
    for (const auto& row : group) {
      std::string measure{row.name};
      if (const auto star = measure.find('*'); star != measure.npos)
        measure.replace(star, 1, "bf16");
      if (!is_fleet_measure(measure)) continue;
      ++compared;
      for (const auto* against : {"fleet: ", "history: ", "trend: "})
        for (const auto* part : {"", "gpu3", "gpu0-gpu1", "nvme0", "numa1", "mlx5_0"})
          EXPECT_NE(name_of(failure(against + measure, part)), "nothing") << measure << " " << part;
    }
  EXPECT_GT(compared, 20);
}

TEST(Causes, ExplainAComparedNumberAsTheNumberItself) {
  EXPECT_EQ(name_of(failure("fleet: hbm.copy", "gpu3")), "gpu-slow");
  EXPECT_EQ(name_of(failure("trend: pcie.h2d", "gpu3")), "gpu-pcie");
  EXPECT_EQ(name_of(failure("history: hbm.copy", "")), "gpus-slow");
  EXPECT_EQ(name_of(failure("fleet: nothing.such", "gpu3")), "nothing");
  auto doubtful = failure("fleet: hbm.copy", "gpu3");
  doubtful.decision = Decision::inconclusive;
  EXPECT_EQ(name_of(doubtful), "nothing") << "which of two groups is right is not known";
}

TEST(Causes, HaveAnEntryForWhatIsUnlikeInTheRun) {
  EXPECT_EQ(name_of(failure("same version in the run", "gpu3")), "machine-settings");
  EXPECT_EQ(name_of(failure("same value in the run", "bios.SMT")), "machine-settings");
  EXPECT_EQ(name_of(failure("same PCIe address in the run", "mlx5_1")), "slot-unlike");
  EXPECT_EQ(name_of(failure("serial number of its own", "")), "machine-mixed-up");
}

TEST(Causes, TheCatalogueOfXidsIsTheOneThatJudges) {
  std::set<int> advised, judged;
  for (const auto& each : causes().xids()) advised.insert(each.code);
  for (const auto& each : kXids) judged.insert(each.code);
  EXPECT_EQ(advised, judged);
  // What calls for a reset, a restart or a person is serious, and nothing else advises one.
  for (const auto& each : causes().xids()) {
    const bool at_once = each.now == "RESET_GPU" || each.now == "RESTART_BM";
    if (at_once) EXPECT_TRUE(xid_of(each.code)->serious) << each.code;
  }
}

TEST(Causes, SayWhatTheCatalogueRecommends) {
  EXPECT_EQ(causes().advice_for_xid(79),
            "RESTART_BM: restart the machine; then CONTACT_SUPPORT: open a case with the vendor "
            "where it comes back");
  EXPECT_EQ(causes().advice_for_xid(48),
            "WORKFLOW_XID_48: reset the GPU; replace it where rows cannot be remapped, or where it "
            "comes back");
  EXPECT_EQ(causes().advice_for_xid(13).substr(0, 31), "RESTART_APP: restart the progra");
  EXPECT_EQ(causes().advice_for_xid(9999), "");
}

/// Held against the mirror of NVIDIA's catalogue, where it is at hand.
TEST(Causes, ListWhatTheMirroredCatalogueLists) {
  CUPEL_NEEDS_SAMPLE(table, "xid-catalog.tsv");
  std::map<int, std::pair<std::string, std::string>> expected;
  std::istringstream text{table};
  std::string line;
  std::getline(text, line);
  while (std::getline(text, line)) {
    std::vector<std::string> cells;
    std::istringstream row{line};
    for (std::string cell; std::getline(row, cell, '\t');) cells.push_back(cell);
    cells.resize(5);
    expected[std::stoi(cells[0])] = {cells[3], cells[4]};
  }
  ASSERT_EQ(expected.size(), causes().xids().size());
  for (const auto& each : causes().xids()) {
    // Words that stand there with a remark behind them are kept without it.
    EXPECT_EQ(each.now.empty(), expected.at(each.code).first.empty()) << each.code;
    if (each.now != "FOLLOW_OTHER_XID")
      EXPECT_TRUE(expected.at(each.code).first.starts_with(each.now)) << each.code;
    if (each.then != "FOLLOW_OTHER_XID")
      EXPECT_TRUE(expected.at(each.code).second.starts_with(each.then)) << each.code;
  }
}

TEST(Causes, NameBothPartsThatExplainAFindingEquallyAndTheTestThatDecides) {
  const auto lost = failure("gpu.xid", "gpu3", 79);

  const auto diagnosis = causes().diagnose(lost, std::vector{lost}, {});

  ASSERT_TRUE(diagnosis);
  EXPECT_TRUE(diagnosis->is_open());
  EXPECT_EQ(suspects_text(*diagnosis),
            "gpu3, or the slot of gpu3: baseboard, retimer or riser, and its power (equally "
            "likely)");
  EXPECT_THAT(diagnosis->apart, HasSubstr("swap gpu3 with a neighbour, then: cupel requalify NODE "
                                          "--after-swap"));
  EXPECT_THAT(diagnosis->vendor, ::testing::Contains("nvidia-bug-report"));
  EXPECT_THAT(diagnosis->xid_action, HasSubstr("RESTART_BM"));
}

/// GPUs of a baseboard are the vendor's to move.
TEST(Causes, AskForASwapOfAGpuOnlyWhereItIsACardOfItsOwn) {
  int swaps = 0;
  for (const auto& entry : causes().entries()) {
    if (!entry.part.starts_with("gpu") && !entry.name.starts_with("gpu")) continue;
    for (const auto& text : {entry.apart, entry.remedy}) {
      if (!text.contains("swap")) continue;
      ++swaps;
      EXPECT_THAT(text, HasSubstr("PCIe card")) << entry.name;
      EXPECT_THAT(text, HasSubstr("baseboard (SXM)")) << entry.name;
    }
  }
  EXPECT_GE(swaps, 15);
}

TEST(Causes, NameOnePartFirstWhereItIsLikelierByFar) {
  const auto worn = failure("gpu.remap.failed", "gpu6", 1);

  const auto diagnosis = causes().diagnose(worn, std::vector{worn}, {});

  ASSERT_TRUE(diagnosis);
  EXPECT_FALSE(diagnosis->is_open());
  EXPECT_EQ(suspects_text(*diagnosis), "gpu6 (98 %), its driver (2 %)");
  EXPECT_EQ(diagnosis->remedy, "replace gpu6");
  EXPECT_EQ(diagnosis->xid_action, "");
}

TEST(Causes, PreferWhatExplainsTheFindingsTogether) {
  const auto lost = failure("gpu.xid", "gpu3", 79);

  EXPECT_EQ(name_of(lost), "gpu-off-bus");
  EXPECT_EQ(name_of(lost, {failure("psu.lost", "psu2", 1)}), "gpu-off-bus-and-power");
  EXPECT_EQ(name_of(failure("nvlink.active", "gpu3")), "nvlink-of-a-gpu");
  EXPECT_EQ(name_of(failure("nvlink.active", "gpu3"), {failure("kernel.sxid", "nvswitch1")}),
            "nvlink-of-a-switch");
  auto unknown = failure("psu.lost", "psu2", 1);
  unknown.decision = Decision::inconclusive;
  EXPECT_EQ(name_of(lost, {unknown}), "gpu-off-bus");
}

/// What a stage has of events: "kernel.xid.79" of gpu3 at 12 s.
struct Event {
  std::string what, part;
  double seconds = 0;
};

Findings seen(const std::vector<Event>& events) {
  Findings findings;
  for (const auto& each : events)
    findings.measurements.push_back({"first." + each.what, each.part, each.seconds, "s"});
  return findings;
}

std::string name_of(const Cause& cause, const FindingsByStage& findings) {
  const auto diagnosis = causes().diagnose(cause, std::vector{cause}, findings);
  return diagnosis ? diagnosis->name : "nothing";
}

TEST(Causes, ExplainAFindingByWhatCameBeforeIt) {
  const auto lost = failure("kernel.xid", "gpu3", 79);
  const auto after = [&](const std::string& what, const std::string& part) {
    return name_of(lost, {{"watch", seen({{what, part, 10}, {"kernel.xid.79", "gpu3", 12}})}});
  };

  EXPECT_EQ(after("kernel.aer.corrected", "gpu3"), "gpu-off-bus-after-link-errors");
  EXPECT_EQ(after("kernel.pcie", "gpu3"), "gpu-off-bus-after-link-errors");
  EXPECT_EQ(after("gpu.throttle.thermal", "gpu3"), "gpu-off-bus-after-heat");
  EXPECT_EQ(after("gpu.throttle.power_brake", "gpu3"), "gpu-off-bus-after-power-brake");
  EXPECT_EQ(after("kernel.aer.corrected", "gpu4"), "gpu-off-bus") << "of another GPU";
  EXPECT_EQ(after("kernel.nvme", "gpu3"), "gpu-off-bus");
}

TEST(Causes, ExplainAFindingByWhatCameAfterIt) {
  const auto failed = failure("kernel.xid", "gpu3", 48);
  const auto before = [&](const std::string& what) {
    return name_of(failed, {{"watch", seen({{"kernel.xid.48", "gpu3", 10}, {what, "gpu3", 12}})}});
  };

  EXPECT_EQ(before("kernel.xid.64"), "gpu-memory-not-remapped");
  EXPECT_EQ(before("kernel.xid.63"), "gpu-memory-remapped");
  EXPECT_EQ(before("kernel.xid.45"), "gpu-xid-memory");
}

TEST(Causes, SayWhichEndOfALinkReportedFirst) {
  const auto events = [](double gpu, double nvswitch) {
    return FindingsByStage{{"watch", seen({{"kernel.xid.79", "gpu1", gpu},
                                           {"kernel.xid.74", "gpu3", 20},
                                           {"kernel.sxid.20034", "nvswitch2", nvswitch}})}};
  };
  const auto link = failure("gpu.xid", "gpu3", 74),
             of_switch = failure("kernel.sxid", "nvswitch2", 20034);

  EXPECT_EQ(name_of(link, events(5, 15)), "nvlink-after-a-lost-gpu");
  EXPECT_EQ(name_of(of_switch, events(5, 15)), "nvswitch-after-a-gpu");
  EXPECT_EQ(name_of(link, events(30, 15)), "nvlink-after-a-switch");
  EXPECT_EQ(name_of(of_switch, events(30, 15)), "nvswitch-fault");
  EXPECT_EQ(name_of(link, events(30, 25)), "gpu-xid-nvlink");
}

TEST(Causes, KnowNoOrderWithoutTimesOfOneClock) {
  const auto lost = failure("kernel.xid", "gpu3", 79);
  const Event aer{"kernel.aer.corrected", "gpu3", 10}, xid{"kernel.xid.79", "gpu3", 12};
  const auto at_once = Event{"kernel.aer.corrected", "gpu3", 12};

  EXPECT_EQ(name_of(lost, FindingsByStage{}), "gpu-off-bus");
  EXPECT_EQ(name_of(lost, {{"watch", seen({aer})}}), "gpu-off-bus") << "no time of its own";
  EXPECT_EQ(name_of(lost, {{"watch", seen({xid})}}), "gpu-off-bus") << "no time of the other";
  EXPECT_EQ(name_of(lost, {{"watch", seen({at_once, xid})}}), "gpu-off-bus") << "at once";
  EXPECT_EQ(name_of(lost, {{"a", seen({aer})}, {"b", seen({xid})}}), "gpu-off-bus")
      << "two stages, two clocks";
  EXPECT_EQ(name_of(lost, {{"a", seen({})}, {"b", seen({aer, xid})}}),
            "gpu-off-bus-after-link-errors");
}

/// Without findings each other cause is explained as with them.
TEST(Causes, SayWhetherTheOrderOfEventsMatters) {
  const auto lost = failure("kernel.xid", "gpu3", 79),
             worn = failure("gpu.remap.failed", "gpu3", 1);

  EXPECT_TRUE(causes().asks_for_order(std::vector{worn, lost}));
  EXPECT_TRUE(causes().asks_for_order(std::vector{failure("kernel.sxid", "nvswitch2", 20034)}));
  EXPECT_FALSE(causes().asks_for_order(std::vector{worn}));
  EXPECT_FALSE(causes().asks_for_order(std::vector{failure("kernel.xid", "gpu3", 31)}));
  EXPECT_FALSE(causes().asks_for_order({}));
}

/// No entry may ask for an order that no event can have.
TEST(Causes, EachThatAsksForAnOrderIsReached) {
  int ordered = 0;
  for (const auto& entry : causes().entries()) {
    if (entry.after.empty() && entry.before.empty()) continue;
    ++ordered;
    const auto part = entry.part.substr(0, entry.part.find('*')) + "1";
    const auto other = entry.of.empty() ? part : entry.of.substr(0, entry.of.find('*')) + "2";
    const double code = entry.values.empty() ? 20034 : entry.values.front();
    const auto cause = failure(entry.criteria.front(), part, code);
    const bool of_gpu = part.starts_with("gpu");
    const auto own = std::string{of_gpu ? "kernel.xid." : "kernel.sxid."} + plain(code, 0);
    const auto event = [](const std::vector<std::string>& events) {
      auto name = events.empty() ? std::string{} : events.front();
      if (name.ends_with('*')) name.replace(name.size() - 1, 1, "corrected");
      return name;
    };
    const FindingsByStage findings{
        {"watch",
         seen({{event(entry.after), other, 1}, {own, part, 2}, {event(entry.before), other, 3}})}};
    EXPECT_EQ(name_of(cause, findings), entry.name);
  }
  EXPECT_GE(ordered, 5);
}

TEST(Causes, RefuseAnOrderOfWhatHasNoTime) {
  std::vector<inventory::Problem> problems;

  EXPECT_FALSE(
      Causes::parse("causes:\n"
                    "  - {name: a, criteria: [gpu.xid], after: [hbm.copy, kernel.xidd, "
                    "kernel.xid.x, kernel.xid, kernel.sxid], before: [],\n"
                    "     likely: [{part: PART, share: 1}], apart: x, remedy: y, vendor: z}\n"
                    "  - {name: b, criteria: [gpu.xid], of: \"gpu*\",\n"
                    "     likely: [{part: PART, share: 1}], apart: x, remedy: y, vendor: z}\n"
                    "  - {name: c, criteria: [gpu.xid], after: [\"kernel.aer.*\", "
                    "kernel.sxid.20034], of: \"gpu*\",\n"
                    "     likely: [{part: PART, share: 1}], apart: x, remedy: y, vendor: z}\n",
                    "causes.yaml", problems));

  const auto text = to_string(problems);
  for (const auto* fault : {"causes.yaml:2:43: no event with a time is called 'hbm.copy'",
                            "'kernel.xidd'", "'kernel.xid.x'", "'kernel.xid'", "'kernel.sxid'",
                            "'before' names no event", "causes.yaml:4:", "name it by 'after'"})
    EXPECT_THAT(text, HasSubstr(fault));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("causes.yaml:6:")));
}

TEST(Causes, TellXidsApartByTheirCode) {
  EXPECT_EQ(name_of(failure("kernel.xid", "gpu1", 64)), "gpu-xid-memory");
  EXPECT_EQ(name_of(failure("kernel.xid", "gpu1", 145)), "gpu-xid-nvlink");
  EXPECT_EQ(name_of(failure("kernel.xid", "nvlink domain", 145)), "nvlink-domain");
  EXPECT_EQ(name_of(failure("p2p.bandwidth", "links of all gpus", 300)), "links-of-all-gpus");
  EXPECT_EQ(name_of(failure("kernel.xid", "gpu1", 119)), "gpu-firmware-halted");
  EXPECT_EQ(name_of(failure("kernel.xid", "gpu1", 31)), "gpu-program");
}

TEST(Causes, AreRefusedWithAllTheirFaults) {
  std::vector<inventory::Problem> problems;

  EXPECT_FALSE(
      Causes::parse("actions: {RESET_GPU: reset it}\n"
                    "xids:\n  - {code: 79, now: RESTART}\n  - {code: 79}\n"
                    "causes:\n"
                    "  - {name: a, criteria: [gpu.xidd], likely: [{part: PART, share: 0.7}],"
                    " apart: x, remedy: y, vendor: z}\n"
                    "  - {name: a, likely: [{part: PART, share: 1}], apart: x, vendor: z}\n",
                    "causes.yaml", problems));

  const auto text = to_string(problems);
  for (const auto* fault : {"causes.yaml:3:21: there is no action 'RESTART'", "Xid 79 twice",
                            "no measure is called 'gpu.xidd'", "the shares add up to 0.7, not to 1",
                            "'a' twice", "remedy"})
    EXPECT_THAT(text, HasSubstr(fault));
}

}  // namespace
}  // namespace cupel::burnin
