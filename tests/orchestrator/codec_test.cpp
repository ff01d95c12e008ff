// What stands in journals: as this Cupel writes it, and as former ones did.
#include "orchestrator/record/codec.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "base/json.h"
#include "burnin/verdict_text.h"
#include "inventory/subject.h"

namespace cupel::record {
namespace {

using ::testing::IsEmpty;

/// Parts of the journal of a rehearsal, as a Cupel before verdict format 2 wrote them.
json::object former() {
  const auto text = read_file(SOURCE_DIR "/tests/orchestrator/former_journal.json", 1u << 20);
  return parse_json(text.value()).value().as_object();
}

burnin::Verdict verdict() {
  burnin::Verdict verdict;
  verdict.decision = burnin::Decision::fail;
  burnin::Cause slow{burnin::Decision::fail, "gpu3", "gemm.rate"};
  slow.quantity = {612.5, 640, std::nullopt, "TFLOP/s"};
  slow.stages = {"gemm", "gemm@again"};
  slow.criterion_id = "gemm/gemm.rate";
  slow.place = "SM 17";
  burnin::Cause silent{burnin::Decision::inconclusive, "", "stage disk", "fio is not installed"};
  silent.consequence_of = "gpu3: gemm.rate";
  verdict.causes = {slow, silent};
  verdict.checked = {{"gemm", "gpu3", "gemm.rate", slow.quantity, burnin::Met::failed, "data sheet",
                      "gemm/gemm.rate", "SM 17", "replace it"},
                     {"gemm", "gpu4", "gemm.rate", {{}, 640, {}, "TFLOP/s"}},
                     {"gemm", "gpu5", "gemm.rate", {81, 640, {}, "s", "TFLOP/s"}}};
  return verdict;
}

TEST(Codec, ReadsAVerdictAsItWasWritten) {
  const auto read = verdict_from(to_json(verdict()));

  EXPECT_EQ(read.decision, verdict().decision);
  EXPECT_EQ(read.causes, verdict().causes);
  EXPECT_EQ(read.checked, verdict().checked);
}

TEST(Codec, KeepsALinkAndAPowerFeedAsTheSubjectOfACause) {
  using inventory::Subject;
  for (const Subject& subject :
       {Subject{Subject::Kind::link, "n1", "mlx5_0/1", "leaf3", "swp7"},
        Subject{Subject::Kind::power_feed, "pdu2", "B"}, Subject::part_of("n1", "gpu3")}) {
    burnin::Verdict verdict;
    verdict.causes = {{burnin::Decision::fail, part_text(subject), "link.rate"}};
    verdict.checked = {{"links", part_text(subject), "link.rate"}};

    const auto read = verdict_from(to_json(verdict));

    EXPECT_EQ(Subject::part_of("n1", read.causes[0].part), subject);
    EXPECT_EQ(Subject::part_of("n1", read.checked[0].part), subject);
  }
}

TEST(Codec, WritesNumbersAndLimitsOfAVerdictAsNumbers) {
  const auto written = to_json(verdict());

  const auto& cause = written.at("causes").as_array()[0].as_object();
  const auto& checked = written.at("checked").as_array()[0].as_object();
  for (const auto* each : {&cause, &checked}) {
    EXPECT_EQ(each->at("value"), 612.5);
    EXPECT_EQ(each->at("at_least"), 640.0);
    EXPECT_EQ(each->at("unit"), "TFLOP/s");
    EXPECT_FALSE(each->contains("measured"));
  }
  EXPECT_FALSE(written.at("checked").as_array()[1].as_object().contains("value"));
}

TEST(Codec, WritesPartsAndMeasurementsAsFormerCupelsDid) {
  const auto journal = former();

  EXPECT_EQ(to_json(findings_from(journal.at("findings").as_object())), journal.at("findings"));
  EXPECT_EQ(to_json(needed_from(&journal.at("hands"))), journal.at("hands"));
}

TEST(Codec, ReadsTheWordsOfAFormerVerdictAsNumbers) {
  const auto journal = former();
  const auto& written = journal.at("verdict").as_object();

  const auto read = verdict_from(written);

  const auto& checked = written.at("checked").as_array();
  ASSERT_EQ(read.checked.size(), checked.size());
  for (std::size_t i = 0; i < checked.size(); ++i) {
    const auto& before = checked[i].as_object();
    EXPECT_EQ(measured_text(read.checked[i]), text_at(checked[i], "measured"));
    EXPECT_EQ(wanted_text(read.checked[i]), text_at(checked[i], "wanted"));
    EXPECT_EQ(read.checked[i].met == burnin::Met::met, before.at("met").as_bool());
    EXPECT_EQ(read.checked[i].quantity.value.has_value(),
              text_at(checked[i], "measured") != "nothing");
  }
  const auto& causes = written.at("causes").as_array();
  ASSERT_EQ(read.causes.size(), causes.size());
  for (std::size_t i = 0; i < causes.size(); ++i)
    EXPECT_EQ(measured_text(read.causes[i]), text_at(causes[i], "measured"));
}

TEST(Codec, ReadsPlacesLimitsAndUnitsOfFormerVerdicts) {
  const auto read = verdict_from(parse_json(R"json({"verdict":"fail","checked":[
      {"stage":"gemm","part":"gpu4","measure":"gemm.wrong","measured":"12 errors (SM 17, 71 C)",
       "wanted":"at most 0 errors","met":false,"source":"s"},
      {"measured":"81559 MiB","wanted":"at least 79 GiB","met":false},
      {"measured":"3.5 V","wanted":"between 2 and 4 V","met":true},
      {"measured":"8","wanted":"exactly 8","met":true},
      {"measured":"many","wanted":"some"}]
})json")
                                     .value()
                                     .as_object())
                        .checked;

  ASSERT_EQ(read.size(), 5);
  EXPECT_EQ(read[0], (burnin::Checked{"gemm",
                                      "gpu4",
                                      "gemm.errors",
                                      {12, {}, 0, "errors"},
                                      burnin::Met::failed,
                                      "s",
                                      "",
                                      "SM 17, 71 C"}));
  EXPECT_EQ(read[1].quantity, (burnin::Quantity{81559, 79, {}, "MiB", "GiB"}));
  EXPECT_EQ(read[1].met, burnin::Met::missing);
  EXPECT_EQ(read[2].quantity, (burnin::Quantity{3.5, 2, 4, "V"}));
  EXPECT_EQ(read[3].quantity, (burnin::Quantity{8, 8, 8, ""}));
  EXPECT_EQ(read[4].quantity, burnin::Quantity{});
}

TEST(Codec, ReadsFormerNamesOfMeasuresAsThePresentOnes) {
  const auto findings = findings_from(
      parse_json(R"({"measurements":[{"name":"kernel.told","value":1}]})").value().as_object());
  const auto read = verdict_from(parse_json(R"json({"verdict":"fail","format":2,"causes":[
      {"decision":"fail","part":"gpu4","criterion":"gemm.wrong","criterion_id":"gemm/gemm.wrong#2",
       "consequence_of":"gpu5: gpu.answers"}],
      "checked":[{"stage":"hbm","measure":"hbm.lag","criterion_id":"hbm/hbm.lag"}]})json")
                                     .value()
                                     .as_object());

  ASSERT_EQ(findings.measurements.size(), 1u);
  EXPECT_EQ(findings.measurements[0].name, "kernel_log.readable");
  ASSERT_EQ(read.causes.size(), 1u);
  EXPECT_EQ(read.causes[0].criterion, "gemm.errors");
  EXPECT_EQ(read.causes[0].criterion_id, "gemm/gemm.errors#2");
  EXPECT_EQ(read.causes[0].consequence_of, "gpu5: gpu.responsive");
  ASSERT_EQ(read.checked.size(), 1u);
  EXPECT_EQ(read.checked[0].measure, "hbm.below_best");
  EXPECT_EQ(read.checked[0].criterion_id, "hbm/hbm.below_best");
}

TEST(Codec, ReadsHowManyPartsAFormerAuditMissed) {
  const auto journal = former();

  const auto audit = audit_from(&journal.at("audit"));

  const auto counted =
      std::ranges::find(audit, inventory::Finding::missing, &inventory::AuditFinding::finding);
  ASSERT_NE(counted, audit.end());
  EXPECT_EQ(counted->count, (inventory::PartCount{7, 8}));
  EXPECT_EQ(audit_from(&static_cast<const json::value&>(to_json(audit))), audit);
}

TEST(Codec, TakesWhatIsOfAnotherTypeForNotTold) {
  const auto parts = parts_from(
      &static_cast<const json::value&>(parse_json(R"([1, {"kind":"toaster","name":7,"count":"8",
          "pcie":{"generation":99,"width":"16"},"macs":["a",1]}])")
                                           .value()));

  ASSERT_EQ(parts.size(), 1);
  EXPECT_EQ(parts[0].kind, inventory::PartKind::system);
  EXPECT_EQ(parts[0].name, "");
  EXPECT_EQ(parts[0].count, std::nullopt);
  EXPECT_EQ(parts[0].pcie, inventory::PcieLink{});
  EXPECT_THAT(parts[0].macs, ::testing::ElementsAre("a"));
  EXPECT_THAT(parts_from(nullptr), IsEmpty());
}

}  // namespace
}  // namespace cupel::record
