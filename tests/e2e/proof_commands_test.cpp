// What runs have found out, for people and tools outside: profiles, lists of assets, archives,
// other forms of a report. The built cupel; one run of a virtual rack with a missing DIMM.
#include "base/file.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

using namespace std::chrono_literals;

constexpr const char* kLook = R"(playbook: look-at
steps:
  - step: bmc-facts
  - step: power-on
  - step: ssh-wait
  - stage: node-facts
  - {stage: gpu-facts, on_failure: continue}
  - {stage: cpu-memory, with: {duration: 90s}, on_failure: continue}
  - step: audit
  - step: verdict
)";

class ProofCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    site_->write("look-at.yaml", kLook);
    const auto ran =
        site_->run({"run", "look-at.yaml", "--no-console", "--programs-on-nodes"}, 240s);
    ASSERT_EQ(ran.status, 1) << ran.out << ran.err;
    ASSERT_THAT(ran.out, HasSubstr("1 pass, 1 fail")) << ran.err;
  }
  void show_check_and_learn_profiles();
  void hold_lists_of_assets_against_what_was_seen();
  void list_parts_as_assets();
  void pack_what_a_vendor_wants();
  void name_both_suspects_and_the_test_that_decides();
  void report_in_the_forms_of_other_tools();
  void judge_again();

  Ran run(std::vector<std::string> words) { return site_->run(std::move(words), 60s); }
  /// Serial numbers of a node's parts, by name.
  std::map<std::string, std::string> serials(const std::string& node) {
    std::map<std::string, std::string> found;
    const auto shown = run({"show", node, "--json"});
    const auto lines = json_lines(shown.out);
    for (const auto& part : lines.at(0).at("bmc_parts").as_array())
      if (const auto serial = text_at(part, "serial")) found[*text_at(part, "name")] = *serial;
    return found;
  }

  std::unique_ptr<RackSite> site_ = std::make_unique<RackSite>(
      RackSite::Options{.nodes = 2,
                        .network = 90,
                        .faults = "{node: v01-n02, fault: dimm-missing, part: dimm A7}",
                        .speed = 200});
};

void ProofCommands::show_check_and_learn_profiles() {
  const auto shown = run({"profile", "show", "dgx-h100"});
  const auto none = run({"profile", "show", "dgx-h10"});
  const auto schema = run({"profile", "schema"});
  const auto learned = run({"profile", "learn", "v01-n01", "--name", "mine"});
  site_->write("mine.yaml", learned.out);
  const auto good = run({"profile", "check", "mine.yaml"});
  site_->write("bad.yaml",
               "profile: bad\nextends: dgx-h100\nunitss: 1\ncriteria: {gemmm: [{measure: "
               "gemm.rate, at_least: 1}]}\n");
  const auto bad = run({"profile", "check", "bad.yaml"});

  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("at least 1945 GiB"));
  EXPECT_THAT(shown.out, HasSubstr("dgx-h100.yaml:"));
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("did you mean 'dgx-h100'?"));
  EXPECT_EQ(json_lines(schema.out).at(0).at("type"), "object");
  ASSERT_EQ(learned.status, 0) << learned.err;
  EXPECT_THAT(learned.out, HasSubstr("extends: dgx-h100"));
  EXPECT_THAT(learned.out, HasSubstr("gpu: {count: 8, model: "));
  EXPECT_THAT(learned.out, HasSubstr("learned: "));
  EXPECT_EQ(good.status, 0) << good.err << learned.out;
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, HasSubstr("bad.yaml:3:1: unknown key 'unitss'"));
}

void ProofCommands::hold_lists_of_assets_against_what_was_seen() {
  const auto psu = serials("v01-n01").at("psu1");
  site_->write("assets.csv", "Node;Kind;Serial;PO\nv01-n01;psu;" + psu + ";4711\nv01-n02;psu;" +
                                 psu + "x;4711\nv01-n03;psu;Z1;4712\n");
  site_->write("broken.csv", "Node,Serial\nv01-n01,1.65E+12\n");

  const auto assets = run({"audit", "assets", "assets.csv"});
  const auto arrivals = run({"audit", "arrivals", "assets.csv", "--json"});
  const auto broken = run({"audit", "assets", "broken.csv"});
  site_->write("own.csv", "Rechner;Art;SN-Nr\nv01-n01;psu;" + psu + "\nv01-n01;psu;\n");
  const std::vector<std::string> own{"audit",      "assets",    "own.csv",
                                     "--skip-bad", "--columns", "Serial=SN-Nr,Kind=Art"};
  const auto skipped = run(own);
  auto words = own;
  words.emplace_back("--json");
  const auto skipped_json = run(words);
  const auto same = run({"audit", "diff", "1", "1"});

  EXPECT_EQ(assets.status, 1);
  EXPECT_THAT(assets.out, HasSubstr("assets.csv:3:1: v01-n02 psu " + psu + "x: missing"));
  EXPECT_THAT(assets.out, HasSubstr("(order 4711)"));
  EXPECT_THAT(assets.out, Not(HasSubstr("Z1")));
  EXPECT_EQ(arrivals.status, 1);
  const auto delivery = json_lines(arrivals.out);
  const auto& nodes = delivery.at(0).at("nodes").as_array();
  EXPECT_EQ(nodes.at(0).at("can_start"), true);
  EXPECT_EQ(nodes.at(2).at("seen"), false);
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.err, HasSubstr("broken.csv:2:1: '1.65E+12' is no serial number any more"));
  EXPECT_THAT(skipped.err, HasSubstr("own.csv: 1 row left out for no serial number: line 3"));
  EXPECT_THAT(skipped.out, HasSubstr("1 assets (1 row left out), 2 machines seen"));
  EXPECT_EQ(json_lines(skipped_json.out).at(0).at("skipped").at(0).at("rows"), 1);
  EXPECT_EQ(same.status, 0);
  EXPECT_THAT(same.out, HasSubstr("no difference"));
}

void ProofCommands::list_parts_as_assets() {
  const auto list = run({"parts", "--csv"});
  site_->write("listed.csv", list.out);
  const auto audited = run({"audit", "assets", "listed.csv"});
  const auto all = run({"parts", "--csv", "--all"});
  const auto table = run({"parts"});
  const auto one = run({"parts", "v01-n02", "--json"});
  const auto none = run({"parts", "v01-n09"});

  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_TRUE(list.out.starts_with("Node,Kind,Serial,Model,Slot,Part Number,")) << list.out;
  EXPECT_THAT(list.out, Not(HasSubstr(",firmware,")));
  EXPECT_THAT(list.err, HasSubstr("parts without a serial number left out"));
  EXPECT_EQ(audited.status, 0) << audited.out << audited.err;
  EXPECT_THAT(audited.out, HasSubstr("2 machines seen: all as listed"));
  EXPECT_THAT(all.out, HasSubstr(",firmware,"));
  EXPECT_THAT(table.out, AllOf(HasSubstr("REHEARSAL"), HasSubstr("gpu-facts")));
  ASSERT_EQ(one.status, 0) << one.err;
  const auto listed = json_lines(one.out);
  const auto& parts = listed.at(0).at("parts").as_array();
  EXPECT_EQ(text_at(parts.at(0), "kind"), "system");
  for (const auto& each : parts) {
    EXPECT_EQ(text_at(each, "node"), "v01-n02");
    EXPECT_EQ(each.at("run"), 1);
  }
  EXPECT_EQ(none.status, 2);
}

void ProofCommands::pack_what_a_vendor_wants() {
  const auto packed = run({"rma", "v01-n02", "--part", "dimm A7", "-o", site_->file("out.tar")});
  const auto listed = testing::run({"tar", "-tf", site_->file("out.tar")});
  const auto nothing = run({"rma", "v01-n01"});
  const auto beginning = run({"rma", "v01-n02", "--part", "dimm A"});

  const auto asked = run({"rma", "v01-n02", "--bug-report", "-o", site_->file("asked.tar")});

  const auto dumped = run({"rma", "v01-n02", "--diagnostics", "-o", site_->file("dumped.tar")});
  const auto dumps = testing::run({"tar", "-tf", site_->file("dumped.tar")});

  EXPECT_EQ(dumped.status, 0) << dumped.err;
  EXPECT_THAT(dumps.out, HasSubstr("dumped/diagnostics/v01-n02-Managers-HGX_BMC_0-Dump-"));
  EXPECT_EQ(asked.status, 0);
  EXPECT_THAT(asked.err, HasSubstr("v01-n02 has no nvidia-bug-report.sh: left out"));
  EXPECT_TRUE(std::filesystem::exists(site_->file("asked.tar")));
  ASSERT_EQ(packed.status, 0) << packed.err;
  EXPECT_THAT(listed.out, HasSubstr("out/cover.txt\nout/verdict.json\n"));
  EXPECT_THAT(listed.out, HasSubstr("out/MANIFEST.sha256"));
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.err, HasSubstr("no run found anything wrong with v01-n01"));
  EXPECT_EQ(beginning.status, 2);
  EXPECT_THAT(beginning.err, HasSubstr("no run found anything wrong with dimm A:"));
}

void ProofCommands::name_both_suspects_and_the_test_that_decides() {
  const auto shown = run({"show", "v01-n02"});
  const auto actions = run({"actions", "--json"});

  EXPECT_THAT(shown.out, HasSubstr("likely dimm A7, or the slot of dimm A7"));
  EXPECT_THAT(shown.out, HasSubstr("(equally likely)"));
  EXPECT_THAT(shown.out, HasSubstr("cupel requalify v01-n02 --after-swap"));
  EXPECT_THAT(actions.out, HasSubstr("equally_likely"));
}

void ProofCommands::report_in_the_forms_of_other_tools() {
  const auto junit = run({"report", "1", "--junit"});
  const auto metrics = run({"report", "1", "--openmetrics"});
  const auto ocp = run({"report", "1", "--ocp", "v01-n02"});
  const auto two = run({"report", "1", "--junit", "--openmetrics"});

  EXPECT_THAT(junit.out, HasSubstr("<testsuite name=\"v01-n02\""));
  EXPECT_THAT(metrics.out, HasSubstr("# TYPE cupel_memory_total gauge\n"));
  EXPECT_TRUE(metrics.out.ends_with("# EOF\n"));
  const auto lines = json_lines(ocp.out);
  ASSERT_GT(lines.size(), 10u);
  EXPECT_EQ(text_at(lines.back(), "testRunArtifact/testRunEnd/result"), "FAIL");
  EXPECT_EQ(two.status, 2);
}

/// What is decided, and what is likely behind it, are the same as in the run's own report.
void ProofCommands::judge_again() {
  const auto made = run({"verdict", "recompute", "1", "--json"});
  const auto shown = run({"show", "v01-n02", "--json"});

  ASSERT_EQ(made.status, 0) << made.out << made.err;
  const auto again = json_lines(made.out).at(0);
  EXPECT_EQ(again.at("same"), true);
  const auto& second = again.at("nodes").at(1);
  EXPECT_EQ(text_at(second, "node"), "v01-n02");
  EXPECT_EQ(second.at("causes"), json_lines(shown.out).at(0).at("causes"));
  EXPECT_EQ(second.at("causes").at(0).at("diagnosis").at("equally_likely"), true);
}

/// All of them read one run: it is made once.
TEST_F(ProofCommands, SayOutsideWhatARunHasFoundOut) {
  show_check_and_learn_profiles();
  hold_lists_of_assets_against_what_was_seen();
  list_parts_as_assets();
  pack_what_a_vendor_wants();
  name_both_suspects_and_the_test_that_decides();
  report_in_the_forms_of_other_tools();
  judge_again();
}

}  // namespace
}  // namespace cupel::testing
