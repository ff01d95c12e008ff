// A run in the forms of other tools.
#include "orchestrator/report/exports.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

/// All that XML 1.0 (2.2) has no character for, and that ends a line or a label.
constexpr const char* kHostile = "g\"\\\x01\x1b[2J\n\r\xEF\xBF\xBE\xEF\xBF\xBF\xFF<]]>&'=1";

TEST_F(Exports, HaveNothingFromMachinesInThemThatBreaksTheirForm) {
  burnin::Findings findings;
  findings.measurements = {{"verdict", kHostile, 3, kHostile},
                           {"rehearsal", kHostile, 4, ""},
                           {"a.b", kHostile, 1, ""},
                           {"a_b", kHostile, 2, ""}};
  findings.parts = {{.kind = inventory::PartKind::gpu, .name = kHostile, .serial = kHostile}};
  end("a01-n01", "gpu-facts", record::to_json(findings));
  auto verdict = bad();
  verdict.causes.front().part = verdict.causes.front().remedy = kHostile;
  end("a01-n01", "verdict", record::to_json(verdict));
  const auto run = summary();

  const auto xml = to_junit(run), metrics = to_openmetrics(run), ocp = *to_ocp(run, "a01-n01");

  for (const auto& text : {xml, metrics, ocp}) {
    EXPECT_EQ(text, valid_utf8(text));
    EXPECT_EQ(std::ranges::count_if(text, [](char c) { return c != '\n' && c >= 0 && c < ' '; }),
              0);
    EXPECT_THAT(text, Not(HasSubstr("\x7F")));
  }
  for (const auto& text : {xml, metrics})
    for (const auto* no_character : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
      EXPECT_THAT(text, Not(HasSubstr(no_character)));
  EXPECT_THAT(xml, HasSubstr("g&quot;\\[2J\xEF\xBF\xBD&lt;]]&gt;&amp;'=1"));
  EXPECT_THAT(metrics, HasSubstr("part=\"g\\\"\\\\[2J\xEF\xBF\xBD<]]>&'=1\""));
  for (const auto* family : {"cupel_verdict", "cupel_rehearsal", "cupel_a_b"}) {
    const auto type = fmt::format("# TYPE {} ", family);
    const auto first = metrics.find(type);
    EXPECT_EQ(metrics.find(type, first == metrics.npos ? first : first + 1), metrics.npos) << type;
  }
  EXPECT_THAT(metrics, HasSubstr("cupel_verdict_measured{"));
  EXPECT_THAT(metrics, Not(HasSubstr("} 2\n"))) << "one set of labels, two samples";
  EXPECT_EQ(metrics.find("# EOF\n"), metrics.size() - 6);
  EXPECT_FALSE(lines_of(ocp).empty());
}

TEST_F(Exports, OcpIsATestRunOfOneNodeInOrder) {
  const auto text = to_ocp(summary(), "a01-n01");
  ASSERT_TRUE(text) << text.error().what;

  const auto all = lines_of(*text);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(number_at(all[i], "sequenceNumber"), static_cast<double>(i));
  EXPECT_EQ(number_at(all[0], "schemaVersion/major"), 2);
  EXPECT_EQ(number_at(all[0], "schemaVersion/minor"), 0);
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

/// What the published schema allows: a value's kind, an object's fields and nothing beside them.
/// Source: ocp-diag-core, json_spec/output, each file by its name (root, test_run_artifact, ...).
struct Shape {
  enum class Kind { text, number, integer, scalar, any_object, words, list, object };
  struct Field {
    const char* name;
    Kind kind;
    bool required = false;
    const Shape* of = nullptr;            // an object's, or that of a list's items
    std::vector<std::string> words = {};  // of an enum
  };
  std::vector<Field> fields{};
  bool one_of = false;  // exactly one of those that are not required
};
using enum Shape::Kind;

const Shape kSubcomponent{
    {{"type",
      words,
      false,
      nullptr,
      {"UNSPECIFIED", "ASIC", "ASIC-SUBSYSTEM", "BUS", "FUNCTION", "CONNECTOR"}},
     {"name", text, true},
     {"location", text},
     {"version", text},
     {"revision", text}}};
const Shape kSourceLocation{{{"file", text, true}, {"line", number, true}}};
const Shape kValidator{
    {{"name", text},
     {"type",
      words,
      true,
      nullptr,
      {"EQUAL", "NOT_EQUAL", "LESS_THAN", "LESS_THAN_OR_EQUAL", "GREATER_THAN",
       "GREATER_THAN_OR_EQUAL", "REGEX_MATCH", "REGEX_NO_MATCH", "IN_SET", "NOT_IN_SET"}},
     {"value", scalar, true},
     {"metadata", any_object}}};
const Shape kMeasurement{{{"name", text, true},
                          {"value", scalar, true},
                          {"unit", text},
                          {"validators", list, false, &kValidator},
                          {"hardwareInfoId", text},
                          {"subcomponent", object, false, &kSubcomponent},
                          {"metadata", any_object}}};
const Shape kDiagnosis{{{"verdict", text, true},
                        {"type", words, true, nullptr, {"PASS", "FAIL", "UNKNOWN"}},
                        {"message", text},
                        {"hardwareInfoId", text},
                        {"subcomponent", object, false, &kSubcomponent},
                        {"sourceLocation", object, false, &kSourceLocation}}};
const Shape kError{{{"symptom", text, true},
                    {"message", text},
                    {"softwareInfoIds", list},
                    {"sourceLocation", object, false, &kSourceLocation}}};
const Shape kPlatform{{{"info", text, true}}};
const Shape kSoftware{
    {{"name", text, true},
     {"version", text},
     {"revision", text},
     {"softwareType", words, false, nullptr, {"UNSPECIFIED", "FIRMWARE", "SYSTEM", "APPLICATION"}},
     {"softwareInfoId", text, true},
     {"computerSystem", text}}};
const Shape kHardware{{{"name", text, true},
                       {"version", text},
                       {"revision", text},
                       {"location", text},
                       {"hardwareInfoId", text, true},
                       {"serialNumber", text},
                       {"partNumber", text},
                       {"partType", text},
                       {"manufacturer", text},
                       {"manufacturerPartNumber", text},
                       {"odataId", text},
                       {"computerSystem", text},
                       {"manager", text}}};
const Shape kDut{{{"dutInfoId", text, true},
                  {"name", text},
                  {"platformInfos", list, false, &kPlatform},
                  {"softwareInfos", list, false, &kSoftware},
                  {"hardwareInfos", list, false, &kHardware},
                  {"metadata", any_object}}};
const std::vector<std::string> kStatuses{"COMPLETE", "ERROR", "SKIP"};
const Shape kRunStart{{{"name", text, true},
                       {"version", text, true},
                       {"commandLine", text, true},
                       {"parameters", any_object, true},
                       {"dutInfo", object, true, &kDut},
                       {"metadata", any_object}}};
const Shape kRunEnd{{{"status", words, true, nullptr, kStatuses},
                     {"result", words, true, nullptr, {"NOT_APPLICABLE", "PASS", "FAIL"}}}};
const Shape kStepStart{{{"name", text, true}}};
const Shape kStepEnd{{{"status", words, true, nullptr, kStatuses}}};
// Logs, files, extensions and series of measurements, which the schema has too, are not written.
const Shape kRunArtifact{{{"testRunStart", object, false, &kRunStart},
                          {"testRunEnd", object, false, &kRunEnd},
                          {"error", object, false, &kError}},
                         true};
const Shape kStepArtifact{{{"testStepId", text, true},
                           {"testStepStart", object, false, &kStepStart},
                           {"testStepEnd", object, false, &kStepEnd},
                           {"measurement", object, false, &kMeasurement},
                           {"diagnosis", object, false, &kDiagnosis},
                           {"error", object, false, &kError}},
                          true};
const Shape kVersion{{{"major", integer, true}, {"minor", integer, true}}};
const Shape kRoot{{{"sequenceNumber", integer, true},
                   {"timestamp", text, true},
                   {"schemaVersion", object, false, &kVersion},
                   {"testRunArtifact", object, false, &kRunArtifact},
                   {"testStepArtifact", object, false, &kStepArtifact}},
                  true};

std::string fault_of(const json::value& value, const Shape& shape);

/// Where it differs; empty: it fits.
std::string fault_of(const json::value& value, const Shape::Field& field) {
  const auto name = std::string{field.name};
  const auto inside = [&](const std::string& fault) {
    return fault.empty() ? fault : name + "/" + fault;
  };
  switch (field.kind) {
    case text:
      return value.is_string() ? "" : name + ": no text";
    case number:
      return value.is_number() ? "" : name + ": no number";
    case integer:
      return value.is_int64() || value.is_uint64() ? "" : name + ": no integer";
    case scalar:
      return value.is_string() || value.is_bool() || value.is_number() ? "" : name + ": no scalar";
    case any_object:
      return value.is_object() ? "" : name + ": no object";
    case words: {
      const bool known =
          value.is_string() &&
          std::ranges::find(field.words, std::string_view{value.get_string()}) != field.words.end();
      return known ? "" : name + ": another word than the schema has";
    }
    case list:
      if (!value.is_array()) return name + ": no list";
      for (const auto& each : value.get_array()) {
        if (field.of == nullptr && !each.is_string()) return name + ": an item is no text";
        if (field.of == nullptr) continue;
        if (auto fault = fault_of(each, *field.of); !fault.empty()) return inside(fault);
      }
      return {};
    case object:
      return inside(fault_of(value, *field.of));
  }
  return name + ": of no kind";
}

std::string fault_of(const json::value& value, const Shape& shape) {
  if (!value.is_object()) return "no object";
  const auto& all = value.get_object();
  std::size_t fields = 0, optional = 0;
  for (const auto& field : shape.fields) {
    const auto* found = all.if_contains(field.name);
    if (found == nullptr && field.required) return std::string{field.name} + " is missing";
    if (found == nullptr) continue;
    ++fields;
    optional += !field.required;
    if (auto fault = fault_of(*found, field); !fault.empty()) return fault;
  }
  if (fields != all.size()) return "a field that the schema does not have";
  if (shape.one_of && optional != 1)
    return std::to_string(optional) + " of those that exclude each other";
  return {};
}

TEST_F(Exports, OcpIsWhatThePublishedSchemaAllows) {
  for (const auto* node : {"a01-n01", "a01-n02"})
    for (const auto& line : lines_of(*to_ocp(summary(), node))) {
      EXPECT_EQ(fault_of(line, kRoot), "") << json::serialize(line);
      EXPECT_THAT(*text_at(line, "timestamp"), ::testing::MatchesRegex("....-..-..T..:..:..Z"));
    }
}

/// Ids that lines refer to are those of the machine under test, and steps begin before they end.
TEST_F(Exports, OcpRefersToWhatItHasIntroduced) {
  for (const auto* node : {"a01-n01", "a01-n02"}) {
    std::set<std::string> hardware, open, closed;
    for (const auto& line : lines_of(*to_ocp(summary(), node))) {
      SCOPED_TRACE(json::serialize(line));
      if (const auto* parts = find(line, "testRunArtifact/testRunStart/dutInfo/hardwareInfos"))
        for (const auto& part : parts->as_array())
          EXPECT_TRUE(hardware.insert(*text_at(part, "hardwareInfoId")).second);
      const auto* step = line.as_object().if_contains("testStepArtifact");
      if (step == nullptr) continue;
      const auto id = *text_at(*step, "testStepId");
      if (find(*step, "testStepStart") != nullptr) EXPECT_TRUE(open.insert(id).second);
      EXPECT_TRUE(open.contains(id));
      EXPECT_FALSE(closed.contains(id));
      if (find(*step, "testStepEnd") != nullptr) closed.insert(id);
      for (const auto* path : {"measurement/hardwareInfoId", "diagnosis/hardwareInfoId"})
        if (const auto part = text_at(*step, path)) EXPECT_TRUE(hardware.contains(*part)) << *part;
    }
    EXPECT_EQ(open, closed);
    EXPECT_FALSE(open.empty());
  }
}

/// The check itself refuses what the schema refuses.
TEST(OcpSchema, RefusesWhatIsNotInIt) {
  const auto fault = [](const char* line) { return fault_of(json::parse(line), kRoot); };
  const std::string head = R"({"sequenceNumber":1,"timestamp":"2025-01-01T00:00:00Z",)";
  const auto of = [&](const std::string& rest) { return fault((head + rest + "}").c_str()); };

  EXPECT_EQ(of(R"("testRunArtifact":{"testRunEnd":{"status":"COMPLETE","result":"PASS"}})"), "");
  EXPECT_THAT(of(R"("testRunArtifact":{"testRunEnd":{"status":"DONE","result":"PASS"}})"),
              HasSubstr("status: another word"));
  EXPECT_THAT(of(R"("testRunArtifact":{"testRunEnd":{"status":"COMPLETE"}})"),
              HasSubstr("result is missing"));
  EXPECT_THAT(of(R"("testStepArtifact":{"testStepId":"0"})"), HasSubstr("0 of those"));
  EXPECT_THAT(of(R"("testStepArtifact":{"testStepId":0,"testStepEnd":{"status":"SKIP"}})"),
              HasSubstr("testStepId: no text"));
  EXPECT_THAT(
      of(R"("testStepArtifact":{"testStepId":"0","measurement":{"name":"a","value":null}})"),
      HasSubstr("measurement/value: no scalar"));
  EXPECT_THAT(of(R"("schemaVersion":{"major":2,"minor":0},"more":1)"), HasSubstr("does not have"));
  EXPECT_THAT(fault(R"({"timestamp":"x","schemaVersion":{"major":2,"minor":0}})"),
              HasSubstr("sequenceNumber is missing"));
}

}  // namespace
}  // namespace cupel::report
