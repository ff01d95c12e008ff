// What stands in journals is read as it was written.
#include "orchestrator/record/codec.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "base/json.h"
#include "inventory/subject.h"

namespace cupel::record {
namespace {

using ::testing::IsEmpty;

/// Parts of the journal of a rehearsal.
json::object journal() {
  const auto text = read_file(SOURCE_DIR "/tests/orchestrator/journal_parts.json", 1u << 20);
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

TEST(Codec, WritesTheLimitOfACauseUnderTheKeyThatOldJournalsHave) {
  burnin::Cause cause{burnin::Decision::fail, "gpu3", "audit"};
  cause.measured = "7 GPUs";
  cause.expected = "8 GPUs";
  burnin::Verdict verdict;
  verdict.causes = {cause};

  const auto text = json::serialize(to_json(verdict));

  EXPECT_THAT(text, ::testing::HasSubstr(R"("wanted":"8 GPUs")"));
  EXPECT_EQ(verdict_from(parse_json(text).value().as_object()).causes, verdict.causes);
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

TEST(Codec, WritesTheFindingsOfAJournalAsTheyWereRead) {
  const auto written = journal();

  EXPECT_EQ(to_json(findings_from(written.at("findings").as_object())), written.at("findings"));
  EXPECT_EQ(to_json(audit_from(&written.at("audit"))), written.at("audit"));
  EXPECT_EQ(to_json(needed_from(&written.at("hands"))), written.at("hands"));
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
