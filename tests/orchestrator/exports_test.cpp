// A run in the forms of other tools.
#include "orchestrator/report/exports.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/orchestrator/report_fixture.h"
#include "tests/support/child.h"

namespace cupel::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Exports : public Report {
 protected:
  void SetUp() override {
    burnin::Findings findings;
    findings.measurements = {{"gpu.ecc.uncorrected", "gpu3", 2, "errors"},
                             {"gpu.temperature", "gpu3", 41.5, "C"},
                             {"gpu.count", "", 8, "GPUs"}};
    findings.parts = {{.kind = inventory::PartKind::gpu,
                       .name = "gpu3",
                       .model = "H\"100<",
                       .serial = "165",
                       .firmware = "96.00"},
                      {.kind = inventory::PartKind::firmware, .name = "driver", .firmware = "550"}};
    end("a01-n01", "gpu-facts", record::to_json(findings));
    end("a01-n02", "gpu-facts", {{"detail", "no \x1b answer"}}, "failed");
    burnin::Verdict verdict = bad();
    verdict.causes.front().criterion_id = "gpu-facts/gpu.ecc.uncorrected";
    burnin::Checked checked{.stage = "gpu-facts",
                            .part = "gpu3",
                            .measure = "gpu.ecc.uncorrected",
                            .met = burnin::Met::failed,
                            .remedy = "replace <it>"};
    checked.quantity = {.value = 2, .at_most = 0, .unit = "errors"};
    checked.criterion_id = "gpu-facts/gpu.ecc.uncorrected";
    auto met = checked;
    met.measure = "gpu.temperature";
    met.met = burnin::Met::met;
    met.quantity = {.value = 41.5, .at_most = 80, .unit = "C"};
    verdict.checked = {checked, met};
    end("a01-n01", "verdict", record::to_json(verdict));
    add({engine::EventKind::run_ended});
  }
};

std::vector<json::value> lines_of(const std::string& text) {
  std::vector<json::value> all;
  for (const auto line : lines(text)) all.push_back(json::parse(line));
  return all;
}

TEST_F(Exports, JunitHasATestCaseForEachCriterionAndIsXml) {
  const auto xml = to_junit(summary());

  EXPECT_THAT(xml,
              HasSubstr("<testsuite name=\"a01-n01\" tests=\"2\" failures=\"1\" errors=\"0\""));
  EXPECT_THAT(xml, HasSubstr("name=\"gpu.ecc.uncorrected of gpu3\""));
  EXPECT_THAT(xml,
              HasSubstr("message=\"2 errors, expected at most 0 errors\">replace &lt;it&gt;<"));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"a01-n01.gpu-facts\" name=\"gpu.temperature of "
                             "gpu3\" time=\"0\"/>"));
  EXPECT_THAT(xml,
              HasSubstr("<testsuite name=\"a01-n02\" tests=\"1\" failures=\"0\" errors=\"1\""));
  EXPECT_THAT(xml, Not(HasSubstr("\x1b")));
}

TEST_F(Exports, OpenMetricsHasASampleForEachMeasurementAndEnds) {
  const auto text = to_openmetrics(summary());

  EXPECT_THAT(text, HasSubstr("# TYPE cupel_gpu_temperature gauge\n"
                              "cupel_gpu_temperature{site=\"lab <&>\",node=\"a01-n01\",stage=\"gpu-"
                              "facts\",part=\"gpu3\",unit=\"C\"} 41.5\n"));
  EXPECT_THAT(text, HasSubstr("node=\"a01-n01\",cupel_verdict=\"fail\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("node=\"a01-n01\",cupel_verdict=\"pass\"} 0\n"));
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST_F(Exports, OcpIsATestRunOfOneNodeInOrder) {
  const auto text = to_ocp(summary(), "a01-n01");
  ASSERT_TRUE(text) << text.error().what;

  const auto all = lines_of(*text);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(number_at(all[i], "sequenceNumber"), static_cast<double>(i));
  EXPECT_EQ(number_at(all[0], "schemaVersion/major"), 2);
  const auto& dut = *find(all[1], "testRunArtifact/testRunStart/dutInfo");
  EXPECT_EQ(text_at(dut, "dutInfoId"), "a01-n01");
  EXPECT_EQ(dut.as_object().size(),
            5);  // name and three lists beside it: the schema allows no others
  EXPECT_EQ(text_at(dut.at("hardwareInfos").at(0), "serialNumber"), "165");
  EXPECT_EQ(text_at(dut.at("softwareInfos").at(0), "version"), "550");
  EXPECT_THAT(*text, HasSubstr(R"("type":"LESS_THAN_OR_EQUAL","value":0E0)"));
  EXPECT_THAT(*text, HasSubstr(R"("diagnosis":{"verdict":"gpu.ecc.uncorrected","type":"FAIL")"));
  EXPECT_EQ(text_at(all.back(), "testRunArtifact/testRunEnd/result"), "FAIL");
  EXPECT_FALSE(to_ocp(summary(), "a01-n09"));
}

/// What the published schema demands of each line: exactly one artifact, its required keys and its
/// words. Source: ocp-diag-core, json_spec/output (root, test_run_artifact, test_step_artifact,
/// ...).
TEST_F(Exports, OcpHasWhatThePublishedSchemaDemands) {
  struct Demand {
    const char* artifact;
    std::vector<const char*> keys;
  };
  const Demand demands[] = {
      {"testRunArtifact/testRunStart", {"name", "version", "commandLine", "parameters", "dutInfo"}},
      {"testRunArtifact/testRunEnd", {"status", "result"}},
      {"testStepArtifact/testStepStart", {"name"}},
      {"testStepArtifact/testStepEnd", {"status"}},
      {"testStepArtifact/measurement", {"name", "value"}},
      {"testStepArtifact/diagnosis", {"verdict", "type"}},
      {"testStepArtifact/error", {"symptom"}}};
  for (const auto* node : {"a01-n01", "a01-n02"})
    for (const auto& line : lines_of(*to_ocp(summary(), node))) {
      SCOPED_TRACE(json::serialize(line));
      ASSERT_EQ(line.as_object().size(), 3);  // the number, the time, one artifact
      EXPECT_THAT(*text_at(line, "timestamp"), ::testing::MatchesRegex("....-..-..T..:..:..Z"));
      if (line.as_object().contains("schemaVersion")) continue;
      int artifacts = 0;
      for (const auto& demand : demands) {
        const auto* artifact = find(line, demand.artifact);
        if (artifact == nullptr) continue;
        ++artifacts;
        for (const auto* key : demand.keys) EXPECT_TRUE(artifact->as_object().contains(key)) << key;
      }
      EXPECT_EQ(artifacts, 1);
      if (const auto* step = line.as_object().if_contains("testStepArtifact"))
        EXPECT_TRUE(step->as_object().contains("testStepId"));
    }
}

}  // namespace
}  // namespace cupel::report
