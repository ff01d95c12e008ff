#include "orchestrator/steps/verdict.h"

#include <gmock/gmock.h>

#include "burnin/verdict_text.h"
#include "inventory/criterion.h"
#include "inventory/profile.h"
#include "orchestrator/record/codec.h"

namespace cupel::steps {
namespace {
using burnin::Cause;
using burnin::Decision;
using burnin::Measurement;
using inventory::AuditFinding;
using inventory::Criterion;
using inventory::Finding;
using inventory::Profile;
using record::NodeRecord;
using record::StepRecord;
using ::testing::HasSubstr;
using ::testing::Not;

/// Wants two GPUs without errors, and a disk without.
Profile profile() {
  Profile profile;
  profile.name = "two";
  Criterion gpus;
  gpus.stage = "gpu-facts";
  gpus.measure = "gpu.ecc.uncorrected";
  gpus.parts = {"gpu0", "gpu1"};
  gpus.at_most = 0;
  gpus.unit = "errors";
  gpus.remedy = "replace the GPU";
  gpus.source = "the catalogue";
  profile.criteria.push_back(gpus);
  auto disk = gpus;
  disk.stage = "disk";
  disk.measure = "disk.errors";
  disk.parts = {""};
  profile.criteria.push_back(disk);
  return profile;
}

StepRecord step(std::string name, std::string outcome = "done", std::string detail = "") {
  StepRecord record;
  record.name = std::move(name);
  record.outcome = std::move(outcome);
  record.detail = std::move(detail);
  return record;
}

Measurement errors(std::string part, double count) {
  return {"gpu.ecc.uncorrected", std::move(part), count, "errors"};
}

/// A node with nothing wrong.
NodeRecord healthy() {
  NodeRecord record;
  record.node = "n1";
  record.steps = {step("power-on"), step("gpu-facts"), step("disk"), step("audit"),
                  step("verdict", "")};
  record.findings["gpu-facts"].measurements = {errors("gpu0", 0), errors("gpu1", 0)};
  record.findings["disk"].measurements = {{"disk.errors", "", 0, "errors"}};
  record.evidence = {{"gpu-facts", "a1"}, {"disk", "d1"}, {"bmc-facts", "b1"}};
  record.bmc_reported = true;
  record.audit.emplace();
  return record;
}

/// And with a stage that measures only where nobody else is on the GPU.
Profile idle_profile() {
  auto all = profile();
  auto idle = all.criteria.front();
  idle.stage = "gemm";
  idle.measure = "gpu.idle";
  idle.unit.clear();
  idle.at_most.reset();
  idle.at_least = 1;
  all.criteria.push_back(idle);
  auto wrong = all.criteria.front();
  wrong.stage = "gemm";
  wrong.measure = "gemm.errors";
  all.criteria.push_back(wrong);
  return all;
}

std::vector<Cause> causes(const NodeRecord& record) { return decide(profile(), record).causes; }
Decision decision(const NodeRecord& record) { return decide(profile(), record).decision; }

TEST(Verdict, PassesANodeThatMetEverything) {
  const auto verdict = decide(profile(), healthy());

  EXPECT_EQ(verdict.decision, Decision::pass);
  EXPECT_TRUE(verdict.causes.empty());
  ASSERT_EQ(verdict.checked.size(), 3);
  EXPECT_EQ(verdict.checked[1], (burnin::Checked{"gpu-facts",
                                                 "gpu1",
                                                 "gpu.ecc.uncorrected",
                                                 {0, std::nullopt, 0, "errors"},
                                                 burnin::Met::met,
                                                 "the catalogue",
                                                 "gpu-facts/gpu.ecc.uncorrected"}));
}

TEST(Verdict, FailsThePartWhoseNumberIsBadWithItsEvidence) {
  auto record = healthy();
  record.findings["gpu-facts"].measurements[1].value = 2;

  EXPECT_EQ(decision(record), Decision::fail);
  EXPECT_EQ(causes(record), (std::vector<Cause>{{Decision::fail,
                                                 "gpu1",
                                                 "gpu.ecc.uncorrected",
                                                 "",
                                                 "",
                                                 "a1",
                                                 "replace the GPU",
                                                 {"gpu-facts"},
                                                 {2, std::nullopt, 0, "errors"},
                                                 "",
                                                 "gpu-facts/gpu.ecc.uncorrected"}}));
  EXPECT_EQ(to_string(causes(record)[0]),
            "gpu1: gpu.ecc.uncorrected 2 errors, expected at most 0 errors");
}

TEST(Verdict, NamesALinkByBothEndsAndAPowerFeedByItsPdu) {
  const std::string link = "link:n1/mlx5_0/1<->leaf3/swp7", feed = "feed:pdu2/B";
  auto all = profile();
  all.criteria[0].parts = {"link:*", "feed:*"};
  auto record = healthy();
  record.findings["gpu-facts"].measurements = {errors(link, 2), errors(feed, 3)};

  const auto found = decide(all, record).causes;

  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(to_string(found[0]),
            link + ": gpu.ecc.uncorrected 2 errors, expected at most 0 errors");
  EXPECT_EQ(to_string(found[1]),
            feed + ": gpu.ecc.uncorrected 3 errors, expected at most 0 errors");
}

TEST(Verdict, FailsAPartThatDidNotProveItselfInAStageThatRan) {
  auto record = healthy();
  record.findings["gpu-facts"].measurements.pop_back();

  EXPECT_EQ(decision(record), Decision::fail);
  EXPECT_EQ(causes(record)[0].part, "gpu1");
  EXPECT_TRUE(is_missing(causes(record)[0].quantity));
}

// No EDAC driver, no mlx5_core: nothing was read, and no DIMM and no cable has failed.
TEST(Verdict, IsInconclusiveWithoutAPartOrItsRemedyWhereNothingWasRead) {
  auto record = healthy();
  auto& facts = record.findings["gpu-facts"];
  facts.measurements = {};
  facts.unknown = {{"memory errors", "/sys/devices/system/edac/mc", "no EDAC driver"}};

  EXPECT_EQ(decision(record), Decision::inconclusive);
  ASSERT_EQ(causes(record).size(), 1u);
  const auto cause = causes(record)[0];
  EXPECT_EQ(cause.part, "");
  EXPECT_EQ(to_string(cause),
            "stage gpu-facts did not read gpu.ecc.uncorrected of gpu[0-1]: the node lists no gpu; "
            "memory errors: no EDAC driver");
  EXPECT_EQ(cause.remedy,
            "look whether the driver nvidia is loaded (lsmod, dmesg); then: cupel retry RUN NODE "
            "--from gpu-facts (a new run where this one has ended)");
  EXPECT_EQ(cause.evidence, "a1");
}

/// One measure of the stage, asked of two parts of each kind, reported for all of them but those of
/// `unread`.
NodeRecord without_kind(const std::string& unread, const std::vector<std::string>& parts) {
  auto record = healthy();
  auto& reported = record.findings["gpu-facts"].measurements;
  reported.clear();
  for (const auto& part : parts)
    if (!part.starts_with(unread)) reported.push_back(errors(part, 0));
  return record;
}

// Links of HCAs and drives were read, and the GPUs' driver was not loaded: that is no word on GPUs.
TEST(Verdict, TakesWhatWasReadOfOneKindOfPartForNoReadingOfAnother) {
  auto all = profile();
  all.criteria[0].parts = {"gpu0",      "gpu1", "mlx5_0",         "mlx5_1",  "nvme0",
                           "nvme1",     "cpu0", "cpu1",           "dimm A1", "dimm B1",
                           "mc0",       "mc1",  "psu1",           "psu2",    "nvswitch0",
                           "nvswitch1", "",     "link:a/1<->b/1", "link:c"};
  const auto& parts = all.criteria[0].parts;
  for (const std::string kind :
       {"gpu", "mlx5_", "nvme", "cpu", "dimm", "mc", "psu", "nvswitch", "link:"}) {
    const auto verdict = decide(all, without_kind(kind, parts));

    EXPECT_EQ(verdict.decision, Decision::inconclusive) << kind;
    ASSERT_EQ(verdict.causes.size(), 1u) << kind;
    EXPECT_EQ(verdict.causes[0].criterion, "stage gpu-facts") << kind;
    EXPECT_EQ(verdict.causes[0].part, "") << kind;
    EXPECT_THAT(verdict.causes[0].measured, HasSubstr(kind)) << kind;
    EXPECT_THAT(verdict.causes[0].remedy, Not(HasSubstr("replace"))) << kind;
  }
}

TEST(Verdict, NamesNoGpuForWhatTheLinksOfMostOfThemReportAtOnce) {
  auto all = profile();
  auto& xids = all.criteria[0];
  xids.measure = "gpu.xid";
  xids.unit.clear();
  xids.parts = {"gpu0", "gpu1", "gpu2", "gpu3"};
  auto record = healthy();
  auto& reported = record.findings["gpu-facts"].measurements;
  reported.clear();
  for (const auto& part : xids.parts) reported.push_back({"gpu.xid", part, 145, ""});

  const auto verdict = decide(all, record);

  EXPECT_EQ(verdict.decision, Decision::fail);
  ASSERT_EQ(verdict.causes.size(), 1u);
  EXPECT_EQ(burnin::to_string(verdict.causes[0]),
            "nvlink domain: gpu.xid Xid 145 of gpu[0-3], expected none");
  EXPECT_EQ(verdict.checked.size(), 5u) << "what was measured stands as it was";
}

TEST(Verdict, FailsTheOnePartOfItsKindThatIsSilentWhereverItsLikeWereRead) {
  auto all = profile();
  all.criteria[0].parts = {"gpu0", "gpu1", "mlx5_0", "mlx5_1", "nvme0", "nvme1"};
  for (const std::string part : {"gpu1", "mlx5_1", "nvme1"}) {
    const auto verdict = decide(all, without_kind(part, all.criteria[0].parts));

    EXPECT_EQ(verdict.decision, Decision::fail) << part;
    ASSERT_EQ(verdict.causes.size(), 1u) << part;
    EXPECT_EQ(verdict.causes[0].part, part);
  }
}

TEST(Verdict, AsksNothingOfAsManySilentPartsAsAreMissingWithoutAName) {
  auto record = healthy();
  record.findings["gpu-facts"].measurements.pop_back();
  record.audit->push_back(
      {Finding::missing, "gpu", "2 gpus", "1", "redfish", "reseat it", inventory::PartCount{1, 2}});

  ASSERT_EQ(causes(record).size(), 1u);
  EXPECT_EQ(causes(record)[0].part, "gpu");
  record.audit->back().count = inventory::PartCount{2, 2};
  EXPECT_EQ(causes(record).size(), 2u) << "more are silent than are missing";
}

TEST(Verdict, TellsWhatFollowsFromAMissingPartBehindItAndCountsItAllTheSame) {
  auto all = profile();
  auto pairs = all.criteria.front();
  pairs.stage = "disk";
  pairs.measure = "p2p.pairs";
  pairs.unit = "count";
  pairs.parts = {"gpu0"};
  pairs.at_most.reset();
  pairs.at_least = 2;
  all.criteria.insert(all.criteria.begin(), pairs);
  auto record = healthy();
  record.findings["gpu-facts"].measurements.pop_back();
  record.findings["disk"].measurements.push_back({"p2p.pairs", "gpu0", 0, "count"});
  record.audit->push_back({Finding::missing, "gpu1", "2 gpus", "1", "redfish", "reseat it"});

  const auto verdict = decide(all, record);

  EXPECT_EQ(verdict.decision, Decision::fail);
  ASSERT_EQ(verdict.causes.size(), 2u);
  EXPECT_EQ(verdict.causes[0].part, "gpu1");
  EXPECT_EQ(verdict.causes[1].decision, Decision::fail);
  EXPECT_EQ(verdict.causes[1].consequence_of, "gpu1: audit: missing");
}

TEST(Verdict, SaysOnceWhatSeveralStagesSawOfAPart) {
  auto record = healthy();
  record.findings["gpu-facts"].measurements[1].value = 2;
  record.steps.insert(record.steps.begin() + 2, step("gpu-facts@after"));
  record.findings["gpu-facts@after"] = record.findings["gpu-facts"];
  record.evidence["gpu-facts@after"] = "a2";

  ASSERT_EQ(causes(record).size(), 1u);
  EXPECT_EQ(causes(record)[0].stages, (std::vector<std::string>{"gpu-facts", "gpu-facts@after"}));
  EXPECT_EQ(causes(record)[0].evidence, "a1");
  record.findings["gpu-facts@after"].measurements[1].value = 3;
  EXPECT_EQ(causes(record).size(), 2u) << "it grew: that is another thing";
}

TEST(Verdict, AsksNothingOfAPartThatTheAuditMisses) {
  auto record = healthy();
  record.findings["gpu-facts"].measurements.pop_back();
  record.audit->push_back({Finding::missing, "gpu1", "2 gpus", "1", "redfish", "reseat it"});

  ASSERT_EQ(causes(record).size(), 1u);
  EXPECT_EQ(causes(record)[0].criterion, "audit: missing");
  EXPECT_EQ(decision(record), Decision::fail);
  record.findings["gpu-facts"].measurements.push_back(errors("gpu1", 2));
  EXPECT_EQ(causes(record).size(), 2u) << "a number that came is judged whatever the audit says";
}

TEST(Verdict, IsInconclusiveAboutAStageThatProvedNothing) {
  auto record = healthy();
  record.steps[2] = step("disk", "failed", "fio is not installed on the node");
  record.findings.erase("disk");

  EXPECT_EQ(decision(record), Decision::inconclusive);
  ASSERT_EQ(causes(record).size(), 1);
  EXPECT_EQ(to_string(causes(record)[0]), "stage disk fio is not installed on the node");
  EXPECT_EQ(causes(record)[0].evidence, "d1");
}

TEST(Verdict, IsInconclusiveAboutAStageThatAConditionOfItsOwnKeptFromMeasuring) {
  auto record = healthy();
  record.steps.insert(record.steps.begin() + 2, step("gemm"));
  auto& gemm = record.findings["gemm"].measurements;
  gemm = {{"gpu.idle", "gpu0", 1, ""}, {"gpu.idle", "gpu1", 0, "", "python3, process 4217"}};

  const auto found = decide(idle_profile(), record);

  EXPECT_EQ(found.decision, Decision::inconclusive);
  ASSERT_EQ(found.causes.size(), 1u);
  EXPECT_EQ(found.causes[0].part, "gpu1");
  EXPECT_EQ(measured_text(found.causes[0]), "0 (python3, process 4217)");
  gemm.push_back({"gemm.errors", "gpu0", 2, "errors"});
  EXPECT_EQ(decide(idle_profile(), record).decision, Decision::fail) << "what is bad stays bad";
}

TEST(Verdict, SaysOfAGpuThatIsMissingThatItIsMissingAndNotThatItIsInUse) {
  auto record = healthy();
  record.steps.insert(record.steps.begin() + 2, step("gemm"));
  auto& gemm = record.findings["gemm"].measurements;
  gemm = {{"gpu.idle", "gpu0", 1, ""}, {"gemm.errors", "gpu0", 0, "errors"}};

  const auto missing = decide(idle_profile(), record);
  gemm[0].value = 0;
  const auto beside = decide(idle_profile(), record);
  gemm.erase(gemm.begin());
  const auto unasked = decide(idle_profile(), record);

  ASSERT_EQ(missing.causes.size(), 1u);
  EXPECT_EQ(missing.decision, Decision::fail);
  EXPECT_EQ(missing.causes[0].part, "gpu1");
  EXPECT_THAT(missing.causes[0].remedy, HasSubstr("it is missing, or it is broken"));
  EXPECT_EQ(beside.decision, Decision::fail) << "another one that is in use does not bring it back";
  EXPECT_EQ(unasked.decision, Decision::inconclusive) << "nobody told whether any was idle";
}

// Drives reported whether they are idle and GPUs did not: nobody looked at the GPUs, and none is
// gone.
TEST(Verdict, TakesAConditionThatWasToldOfAnotherKindForNoWordOnAPart) {
  auto all = idle_profile();
  all.criteria[2].parts = {"gpu0", "gpu1", "nvme0", "nvme1"};
  auto record = healthy();
  record.steps.insert(record.steps.begin() + 2, step("gemm"));
  auto& gemm = record.findings["gemm"].measurements;
  gemm = {{"gpu.idle", "nvme0", 1, ""}, {"gpu.idle", "nvme1", 1, ""}};

  const auto unread = decide(all, record);
  gemm.push_back({"gpu.idle", "gpu0", 1, ""});
  gemm.push_back({"gemm.errors", "gpu0", 0, "errors"});
  const auto gone = decide(all, record);

  EXPECT_EQ(unread.decision, Decision::inconclusive);
  EXPECT_EQ(gone.decision, Decision::fail);
  ASSERT_EQ(gone.causes.size(), 1u);
  EXPECT_EQ(gone.causes[0].part, "gpu1");
}

/// Beside the GPUs the stage measures HCAs.
Profile idle_profile_with_hcas() {
  auto all = idle_profile();
  all.criteria.back().parts = {"gpu0", "gpu1", "mlx5_0", "mlx5_1"};
  return all;
}

NodeRecord record_of_gemm(std::vector<Measurement> gemm) {
  auto record = healthy();
  record.steps.insert(record.steps.begin() + 2, step("gemm"));
  record.findings["gemm"].measurements = std::move(gemm);
  return record;
}

TEST(Verdict, TakesABusyGpuForNoReasonOfAnHcasSilence) {
  const Measurement busy{"gpu.idle", "gpu0", 0, ""}, idle{"gpu.idle", "gpu1", 1, ""};
  const auto silent = decide(idle_profile_with_hcas(),
                             record_of_gemm({busy, idle, {"gemm.errors", "mlx5_0", 0, "errors"}}));
  const auto unread = decide(idle_profile_with_hcas(), record_of_gemm({busy, idle}));

  EXPECT_EQ(silent.decision, Decision::fail);
  ASSERT_EQ(silent.causes.size(), 2u);
  EXPECT_EQ(silent.causes[0].part, "mlx5_1");
  EXPECT_EQ(silent.causes[1].criterion, "gpu.idle") << "and no GPU fails by what it did not tell";
  EXPECT_EQ(unread.decision, Decision::inconclusive);
  ASSERT_EQ(unread.causes.size(), 2u);
  EXPECT_THAT(unread.causes[1].measured, HasSubstr("did not read gemm.errors of mlx5_[0-1]"));
}

TEST(Verdict, TakesAnUndecidedHcaForNoReasonOfAGpusSilence) {
  auto all = idle_profile_with_hcas();
  all.criteria[2].measure = "fabric.undecided";
  all.criteria[2].at_least.reset();
  all.criteria[2].at_most = 0;
  all.criteria[2].parts = {"*"};
  const auto with = [&](const std::string& undecided) {
    return decide(all, record_of_gemm({{"fabric.undecided", undecided, 1, ""},
                                       {"gemm.errors", "gpu0", 0, "errors"},
                                       {"gemm.errors", "mlx5_0", 0, "errors"}}));
  };

  const auto of_hca = with("mlx5_0"), of_all = with("flows");

  EXPECT_EQ(of_hca.decision, Decision::fail);
  ASSERT_EQ(of_hca.causes.size(), 2u);
  EXPECT_EQ(of_hca.causes[0].part, "gpu1") << "mlx5_1 is of the kind that was not decided";
  EXPECT_EQ(of_all.decision, Decision::inconclusive) << "what is of no part reaches all of them";
  EXPECT_EQ(of_all.causes.size(), 1u);
}

TEST(Verdict, NamesTheConditionThatWasNotMetAndNoneThatNobodyCameTo) {
  auto record = healthy();
  record.steps.insert(record.steps.begin() + 2, step("gemm"));
  record.findings["gemm"].measurements = {{"gpu.idle", "gpu0", 0, "", "python3, process 4217"},
                                          {"gpu.idle", "gpu1", 1, ""}};
  auto with_log = idle_profile();
  with_log.criteria.push_back(with_log.criteria.back());
  with_log.criteria.back().measure = "kernel_log.readable";
  with_log.criteria.back().parts = {""};

  const auto found = decide(with_log, record);

  EXPECT_EQ(found.decision, Decision::inconclusive);
  ASSERT_EQ(found.causes.size(), 1u);
  EXPECT_EQ(found.causes[0].part, "gpu0");
}

/// Beside the disk.
NodeRecord with_companion(burnin::Findings findings) {
  auto record = healthy();
  record.findings["gpu-facts@disk"] = std::move(findings);
  record.companions.insert("gpu-facts@disk");
  return record;
}

TEST(Verdict, JudgesWhatWorkedBesideAStageByTheCriteriaOfItsOwnStage) {
  const auto good = with_companion({.measurements = {errors("gpu0", 0), errors("gpu1", 0)}});
  const auto bad = with_companion({.measurements = {errors("gpu0", 0), errors("gpu1", 3)}});

  EXPECT_EQ(decision(good), Decision::pass);
  EXPECT_EQ(decision(bad), Decision::fail);
  ASSERT_EQ(causes(bad).size(), 1u);
  EXPECT_EQ(causes(bad)[0].part, "gpu1");
  EXPECT_EQ(causes(bad)[0].stages, std::vector<std::string>{"gpu-facts@disk"});
}

TEST(Verdict, IsInconclusiveWhereWhatShouldHaveWorkedBesideAStageProvedNothing) {
  burnin::Findings nothing;
  nothing.unknown.push_back({"gpu-facts", "stress-ng", "it did not come to its end"});
  const auto record = with_companion(nothing);

  EXPECT_EQ(decision(record), Decision::inconclusive);
  ASSERT_EQ(causes(record).size(), 1u);
  EXPECT_EQ(causes(record)[0].measured, "it did not come to its end");
}

TEST(Verdict, FailsANodeOnWhichAStageHung) {
  auto record = healthy();
  record.steps[2] = step("disk", "failed", "hung: it was ended after its limit of 120 s");
  record.steps[2].hung = true;
  record.findings.erase("disk");

  EXPECT_EQ(decision(record), Decision::fail);
}

TEST(Verdict, FailsABadPartAndIsInconclusiveAboutOneThatNobodyTold) {
  auto bad = healthy(), unseen = healthy();
  bad.audit = {AuditFinding{Finding::missing, "dimm A7", "32 dimms", "31", "", "reseat it"}};
  unseen.audit = {AuditFinding{Finding::not_observed, "psu", "6 psus", "nobody told", "", ""}};

  EXPECT_EQ(decision(bad), Decision::fail);
  EXPECT_EQ(causes(bad), (std::vector<Cause>{{Decision::fail, "dimm A7", "audit: missing", "31",
                                              "32 dimms", "b1", "reseat it"}}));
  EXPECT_EQ(decision(unseen), Decision::inconclusive);
}

TEST(Verdict, FailsAVersionBelowTheSecurityFloorWhereTheSiteSaysSo) {
  auto warned = healthy();
  warned.floor = {.policy = "warn",
                  .read = {},
                  .below = {{"connectx", "mlx5_0", "28.39.1", "28.39.8002", "A 1", "2026-06-30"}}};
  auto failed = warned;
  failed.floor->policy = "fail";

  EXPECT_EQ(decision(warned), Decision::pass);
  EXPECT_EQ(decision(failed), Decision::fail);
  EXPECT_EQ(causes(failed),
            (std::vector<Cause>{{Decision::fail, "mlx5_0", "audit: below the security floor",
                                 "28.39.1", "at least 28.39.8002 (A 1, 2026-06-30)", "",
                                 "update connectx to a version at or above the floor"}}));
}

TEST(Verdict, ShowsTheNewestReadingOfTheBmcForABadPart) {
  auto record = healthy();
  record.steps.push_back(step("bmc-facts@after"));
  record.evidence["bmc-facts@after"] = "b2";
  record.audit = {AuditFinding{Finding::missing, "fan3", "8 fans", "7", "", "replace it"}};

  const auto found = causes(record);

  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].evidence, "b2");
}

TEST(Verdict, ShowsTheOutputInWhichABadPartWasSeen) {
  auto record = healthy();
  inventory::Part gpu;
  gpu.source = "nvidia-smi -q -x";
  record.findings["gpu-facts"].parts = {gpu};
  record.audit = {AuditFinding{Finding::wrong_model, "gpu1", "H100", "A10", gpu.source, ""}};

  EXPECT_EQ(causes(record)[0].evidence, "a1");
}

TEST(Verdict, IsInconclusiveWhereAStepFailedWhateverElseWasMet) {
  auto record = healthy();
  record.steps[0] = step("power-on", "failed", "HTTP 403");

  EXPECT_EQ(decision(record), Decision::inconclusive);
  EXPECT_THAT(to_string(causes(record)[0]), HasSubstr("step power-on HTTP 403"));
}

TEST(Verdict, BlamesTheFailedStepAndNotThoseItKeptFromRunning) {
  auto record = healthy();
  record.steps = {step("power-on", "failed", "HTTP 403"), step("gpu-facts", "skipped"),
                  step("disk", "skipped"), step("verdict", "")};
  record.findings.clear();

  EXPECT_EQ(causes(record).size(), 1);
  EXPECT_EQ(decision(record), Decision::inconclusive);
}

TEST(Verdict, DoesNotPassOverAStepThatNobodyRan) {
  auto record = healthy();
  record.steps[2] = step("disk", "skipped");
  record.findings.erase("disk");

  EXPECT_EQ(decision(record), Decision::inconclusive);
}

/// As `record`, with the step left out for this reason.
NodeRecord without(NodeRecord record, const std::string& name, record::Skipped because,
                   const std::string& detail = "") {
  for (auto& each : record.steps)
    if (each.name == name) {
      each = step(name, "skipped", detail);
      each.skipped = because;
    }
  record.findings.erase(name);
  return record;
}

TEST(Verdict, PassesOverWhatThePlaybookItselfLeftOut) {
  for (const auto because : {record::Skipped::condition, record::Skipped::partner})
    EXPECT_EQ(decision(without(healthy(), "disk", because)), Decision::pass);
}

TEST(Verdict, IsInconclusiveWhereEverythingWasLeftOut) {
  NodeRecord record;
  record.steps = {step("gpu-facts"), step("disk"), step("verdict", "")};
  record = without(without(record, "disk", record::Skipped::condition), "gpu-facts",
                   record::Skipped::condition);

  EXPECT_EQ(decision(record), Decision::inconclusive);
}

TEST(Verdict, IsInconclusiveWhereAPersonSkippedWhatWouldHaveBeenJudged) {
  const auto why = "skipped by kim: the scratch disk is on order";
  const auto person = record::Skipped::person;

  EXPECT_EQ(decision(without(healthy(), "audit", person, why)), Decision::inconclusive);
  const auto disk = without(healthy(), "disk", person, why);
  EXPECT_EQ(decision(disk), Decision::inconclusive);
  EXPECT_EQ(to_string(causes(disk)[0]), "stage disk skipped by kim: the scratch disk is on order");
  auto other_failed = disk;
  other_failed.steps[0] = step("power-on", "failed", "HTTP 403");
  EXPECT_EQ(causes(other_failed).size(), 2) << "a failure does not hide what a person left out";
}

TEST(Verdict, IsInconclusiveWhereNobodyToldWhetherAStageBelongedToTheNode) {
  const auto why = "bmc.vendor is not reported, expected NVIDIA";
  const auto unreported = record::Skipped::unreported;
  const auto record = without(healthy(), "disk", unreported, why);

  EXPECT_EQ(decision(record), Decision::inconclusive);
  EXPECT_EQ(to_string(causes(record)[0]), "stage disk bmc.vendor is not reported, expected NVIDIA");
  EXPECT_EQ(decision(without(healthy(), "power-on", unreported, why)), Decision::pass);
}

TEST(Verdict, PassesWhereAPersonSkippedWhatTheProfileHasNoOpinionAbout) {
  auto record = healthy();
  record.steps.push_back(step("cpu-memory"));

  EXPECT_EQ(decision(without(record, "cpu-memory", record::Skipped::person)), Decision::pass);
  EXPECT_EQ(decision(without(record, "power-on", record::Skipped::person)), Decision::pass);
}

TEST(Verdict, PutsFailuresFirst) {
  auto record = healthy();
  record.audit = {AuditFinding{Finding::not_observed, "psu", "6 psus", "nobody told", "", ""}};
  record.findings["disk"].measurements[0].value = 1;
  record.steps[0] = step("power-on", "failed", "HTTP 403");

  const auto reported = causes(record);

  ASSERT_EQ(reported.size(), 3);
  EXPECT_EQ(reported[0].criterion, "disk.errors");
  EXPECT_EQ(reported[1].part, "psu");
  EXPECT_EQ(decision(record), Decision::fail);
}

TEST(Verdict, NamesThePartThatANumberOfTheNodeWasTracedToAlsoAfterTheJournal) {
  auto record = healthy();
  burnin::Findings found;
  found.measurements = {{"disk.errors", "", 1, "errors", "nvme0"}};
  record.findings["disk"] = record::findings_from(record::to_json(found));

  const auto reported = causes(record);

  ASSERT_EQ(reported.size(), 1u);
  EXPECT_EQ(reported[0].part, "nvme0");
  EXPECT_EQ(decision(record), Decision::fail);
}

TEST(Verdict, IsInconclusiveAboutANodeOfWhichNothingIsKnown) {
  NodeRecord record;
  record.node = "n1";
  record.steps = {step("ssh-wait"), step("verdict", "")};

  EXPECT_EQ(decision(record), Decision::inconclusive);
  EXPECT_EQ(to_string(causes(record)[0]), "measurements nothing, expected at least one");
}

TEST(Verdict, PassesAnAuditAloneOnlyWhereTheBmcTold) {
  auto reported = healthy();
  reported.steps = {step("bmc-facts"), step("audit"), step("verdict", "")};
  reported.findings.clear();
  auto silent = reported;
  silent.bmc_reported = false;

  EXPECT_EQ(decision(reported), Decision::pass);
  EXPECT_EQ(decision(silent), Decision::inconclusive);
}

}  // namespace
}  // namespace cupel::steps
