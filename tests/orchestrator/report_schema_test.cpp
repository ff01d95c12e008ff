// What `cupel report --json` prints is what its published schema says, by python3-jsonschema.
#include "orchestrator/report/report_schema.h"

#include "base/file.h"
#include "orchestrator/report/document.h"
#include "tests/orchestrator/report_fixture.h"
#include "tests/support/child.h"
#include "tests/support/real_part.h"

namespace cupel::report {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

class ReportSchema : public Report {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(testing::run({"python3", "-c", "import jsonschema"}).status == 0,
                          "no python3-jsonschema: apt-get install python3-jsonschema");
  }

  /// Each fault in a line; none of keys that the table leaves out either.
  std::string faults_in(const json::object& document) const {
    constexpr const char* kValidate =
        "import json, sys, jsonschema\n"
        "check = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))\n"
        "for e in check.iter_errors(json.load(open(sys.argv[2]))):\n"
        "  print('/'.join(map(str, e.absolute_path)) + ': ' + e.message[:200])\n";
    const auto schema = (folder / "schema.json").string(), file = (folder / "it.json").string();
    EXPECT_TRUE(write_file(schema, json::serialize(report_schema(OtherKeys::refused))));
    EXPECT_TRUE(write_file(file, json::serialize(document)));
    const auto ran = testing::run({"python3", "-c", kValidate, schema, file});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.out;
  }

  /// A run of which the report has something of everything.
  void fill() {
    const std::string link = "link:a01-n01/mlx5_0/1<->leaf3/swp7";
    auto verdict = bad();
    verdict.causes.push_back({Decision::fail, link, "link.rate", "", "", "", "reseat it"});
    verdict.causes.back().quantity = {.value = 90, .at_least = 95, .unit = "GB/s"};
    verdict.causes.push_back({Decision::fail, "gpu3", "gpu.xid"});
    verdict.causes.back().quantity = {.value = 79, .at_most = 0};
    verdict.checked = {{"links", link, "link.rate", {90, 95, {}, "GB/s"}, burnin::Met::failed}};
    burnin::Findings findings;
    findings.measurements = {{"link.rate", link, 90, "GB/s"}, {"gpu.count", "", 8, ""}};
    findings.parts = {{.kind = inventory::PartKind::gpu,
                       .name = "gpu3",
                       .serial = "1652",
                       .firmware = "96.00",
                       .slot = "0000:1b:00.0"}};
    add({EventKind::step_skipped,
         "a01-n02",
         "gpu-facts",
         {{"by", "kim"}, {"why", "on order"}, {"because", "person"}}});
    auto read = record::to_json(findings);
    boost::json::object facts;
    facts["nvlink.domain"] = "0a1b2c3d-0000-4000-8000-000000000001.32766";
    facts["nvlink.domains"] = "as an earlier stage read them";
    read["facts"] = facts;
    end("a01-n01", "gpu-facts", std::move(read));
    end("a01-n01", "verdict", record::to_json(verdict));
    end("a01-n01", "hand-off", {{"slurm", "drained"}, {"reason", "gpu3"}});
    add({EventKind::run_ended});
  }

  RunSummary filled() {
    fill();
    auto made = summary();
    made.requalified = Requalified{7, {"gpu3 replaced"}, {"gemm"}, {}};
    made.rehearsal = true;
    made.nodes[0].console = {{.file = "/var/lib/cupel/console.log", .bytes = 12}};
    burnin::LinkEvent repaired{.at = std::chrono::sys_seconds{std::chrono::seconds{1}},
                               .here = {"a01-n01", "mlx5_0", 1},
                               .there = {"leaf3", "", 7},
                               .by = "kim",
                               .did = burnin::Repair::reseat,
                               .note = "dust"};
    made.links = {repaired, repaired};
    made.links[0].kind = burnin::LinkEvent::Kind::repaired;
    made.links[1].kind = burnin::LinkEvent::Kind::judged;
    return made;
  }
};

TEST_F(ReportSchema, DescribesEveryKeyOfAReport) {
  EXPECT_EQ(faults_in(to_document(filled())), "");
}

TEST_F(ReportSchema, HasTheNvlinkDomainOfANodeThatReportsOne) {
  const auto document = to_document(filled());

  const auto& nodes = document.at("summary").at("nodes").as_array();
  EXPECT_EQ(nodes[0].at("nvlink_domain"), "0a1b2c3d-0000-4000-8000-000000000001.32766");
  EXPECT_FALSE(nodes[1].as_object().contains("nvlink_domain"));
}

TEST_F(ReportSchema, DescribesARunThatHasOnlyBegun) {
  EXPECT_EQ(faults_in(to_document(summary())), "");
}

TEST_F(ReportSchema, RefusesAnotherForm) {
  auto document = to_document(filled());
  auto& run = document["summary"].as_object();
  run["pass"] = "none";
  run.erase("site");
  auto& node = run["nodes"].as_array()[0].as_object();
  node["verdict"] = "maybe";
  node["colour"] = "red";

  const auto faults = faults_in(document);

  for (const auto* fault :
       {"summary/pass: 'none' is not of type 'integer'", "'site' is a required property",
        "summary/nodes/0/verdict: 'maybe'", "'colour' was unexpected"})
    EXPECT_THAT(faults, HasSubstr(fault));
}

TEST_F(ReportSchema, LetsAReaderMeetKeysOfALaterVersion) {
  const auto schema = report_schema();

  for (const auto& [name, object] : schema.at("$defs").as_object())
    EXPECT_FALSE(object.as_object().contains("additionalProperties")) << name;
}

}  // namespace
}  // namespace cupel::report
