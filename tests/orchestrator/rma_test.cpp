// What goes with a part that goes back: the archive, and that nothing secret is in it.
#include <gmock/gmock.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "burnin/stage.h"
#include "orchestrator/rma/bundle.h"
#include "tests/orchestrator/report_fixture.h"
#include "tests/support/child.h"

namespace cupel::rma {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string reported(const std::vector<BundleFile>& files, std::string_view name) {
  for (const auto& each : files)
    if (each.name == name) return each.bytes;
  return "no " + std::string{name};
}

class Rma : public report::Report {
 protected:
  void SetUp() override {
    evidence = *store->keep_evidence("gpu3: ecc 2\npassword=hunter22\n");
    for (const auto* node : {"a01-n01", "a01-n02"}) {
      const double value = node == std::string{"a01-n01"} ? 2 : 0;
      burnin::Findings findings;
      findings.measurements = {{"gpu.ecc.uncorrected", "gpu3", value, "errors"}};
      findings.parts = {{.kind = inventory::PartKind::gpu,
                         .name = "gpu3",
                         .model = "H100",
                         .serial = "1652923033635",
                         .firmware = "96.00"}};
      auto data = record::to_json(findings);
      data["evidence"] = evidence;
      end(node, "gpu-facts", std::move(data));
    }
    auto verdict = bad();
    verdict.causes.front().stages = {"gpu-facts"};
    verdict.checked = {{.stage = "gpu-facts",
                        .part = "gpu3",
                        .measure = "gpu.ecc.uncorrected",
                        .quantity = {.value = 2, .at_most = 0, .unit = "errors"},
                        .met = burnin::Met::failed,
                        .source = "data sheet"}};
    end("a01-n01", "verdict", record::to_json(verdict));
    end("a01-n02", "verdict", record::to_json(good()));
    add({engine::EventKind::run_ended});
  }
  std::vector<BundleFile> bundle(const std::string& part) {
    auto made = bundle_of(*store, summary(), {.node = "a01-n01", .part = part});
    EXPECT_TRUE(made) << made.error().what;
    return *std::move(made);
  }
  std::string evidence;
};

TEST_F(Rma, HasTheSitesOwnPasswordsNowhere) {
  const auto made = bundle_of(
      *store, summary(), {.node = "a01-n01", .part = "gpu3", .secrets = {"gpu.ecc.uncorrected"}});
  ASSERT_TRUE(made) << made.error().what;

  for (const auto& file : *made)
    if (file.name != "MANIFEST.sha256")
      EXPECT_THAT(file.bytes, Not(HasSubstr("gpu.ecc"))) << file.name;
}

TEST_F(Rma, HoldsTheCoverPageNumbersFleetAndRawOutput) {
  const auto files = bundle("gpu3");

  EXPECT_THAT(reported(files, "cover.txt"),
              AllOf(HasSubstr("Return of gpu3"), HasSubstr("serial 1652923033635"),
                    HasSubstr("seen in: gpu-facts"), HasSubstr("likely: gpu3 (90 %)"),
                    HasSubstr("- nvidia-bug-report")));
  EXPECT_THAT(reported(files, "criteria.csv"),
              AllOf(HasSubstr("gpu.ecc.uncorrected"), HasSubstr("data sheet")));
  EXPECT_THAT(reported(files, "fleet.csv"),
              HasSubstr("gpu-facts,gpu.ecc.uncorrected,gpu3,2,1,0,0,0\r\n"));
  EXPECT_THAT(reported(files, "history.csv"), HasSubstr("1,new-rack,"));
  EXPECT_THAT(reported(files, "parts.json"), HasSubstr("1652923033635"));
  EXPECT_EQ(
      *text_at(json::parse(reported(files, "verdict.json")).at("causes").at(0).at("diagnosis"),
               "name"),
      "gpu-memory-uncorrected");
  EXPECT_EQ(reported(files, "evidence/gpu-facts.txt"), "gpu3: ecc 2\npassword=***\n");
}

class RmaOfEventsInOrder : public report::Report {};

/// The times stand in the journal, and a reader of the record finds them again.
TEST_F(RmaOfEventsInOrder, NamesThePartWhoseErrorsCameFirst) {
  burnin::Findings findings;
  findings.measurements = {{"kernel.xid", "gpu3", 79, ""},
                           {"first.kernel.aer.corrected", "gpu3", 10, "s"},
                           {"first.kernel.xid.79", "gpu3", 12, "s"}};
  end("a01-n01", "watch", record::to_json(findings));
  burnin::Verdict verdict{.decision = burnin::Decision::fail};
  verdict.causes = {{.part = "gpu3", .criterion = "kernel.xid", .stages = {"watch"}}};
  verdict.causes.front().quantity = {.value = 79, .at_most = 0};
  end("a01-n01", "verdict", record::to_json(verdict));
  add({engine::EventKind::run_ended});

  const auto made = bundle_of(*store, summary(), {.node = "a01-n01", .part = "gpu3"});

  ASSERT_TRUE(made) << made.error().what;
  EXPECT_THAT(reported(*made, "cover.txt"),
              HasSubstr("likely: the slot of gpu3: seating, retimer, riser or cable (70 %)"));
  EXPECT_EQ(
      *text_at(json::parse(reported(*made, "verdict.json")).at("causes").at(0).at("diagnosis"),
               "name"),
      "gpu-off-bus-after-link-errors");
}

TEST_F(Rma, ListsTheHashOfEveryOtherFile) {
  const auto files = bundle("gpu3");

  const auto manifest = reported(files, "MANIFEST.sha256");
  for (const auto& each : files)
    if (each.name != "MANIFEST.sha256")
      EXPECT_THAT(manifest, HasSubstr(sha256_hex(each.bytes) + "  " + each.name + "\n"));
  EXPECT_EQ(files.back().name, "MANIFEST.sha256");
}

TEST_F(Rma, HoldsTheReportOfNvidiasToolWithoutSecretsAndAttachedFilesAsTheyAre) {
  const auto made = bundle_of(*store, summary(),
                              {.node = "a01-n01",
                               .part = "gpu3",
                               .secrets = {"open sesame"},
                               .bug_report = "Linux\npassword=hunter22\nit says open sesame\n",
                               .attached = {{"photo.jpg", "\xff\xd8"}}});
  ASSERT_TRUE(made) << made.error().what;

  EXPECT_EQ(reported(*made, "nvidia-bug-report.log"), "Linux\npassword=***\nit says ***\n");
  EXPECT_EQ(reported(*made, "attached/photo.jpg"), "\xff\xd8");
  EXPECT_THAT(reported(*made, "MANIFEST.sha256"),
              AllOf(HasSubstr("  nvidia-bug-report.log\n"), HasSubstr("  attached/photo.jpg\n")));
}

TEST_F(Rma, HoldsWhatTheBmcCollectedTextsWithoutSecretsAndTheRestAsItIs) {
  const std::string packed{"\x1f\x8b\0open sesame", 14};
  const auto made = bundle_of(
      *store, summary(),
      {.node = "a01-n01",
       .part = "gpu3",
       .secrets = {"open sesame"},
       .diagnostics = {{"dump.bin", "password=hunter22\nopen sesame\n"}, {"dump.gz", packed}}});
  ASSERT_TRUE(made) << made.error().what;

  EXPECT_EQ(reported(*made, "diagnostics/dump.bin"), "password=***\n***\n");
  EXPECT_EQ(reported(*made, "diagnostics/dump.gz"), packed);
  EXPECT_THAT(reported(*made, "cover.txt"), HasSubstr("may hold passwords, keys and addresses"));
  EXPECT_THAT(reported(*made, "MANIFEST.sha256"), HasSubstr("  diagnostics/dump.gz\n"));
}

/// The BMC's and the kernel's log, as they were read after a stage that reported something.
TEST_F(Rma, HoldsTheLogsOfTheBmcAndOfTheKernel) {
  const auto log = [&](const std::string& text) {
    burnin::Findings findings;
    findings.measurements = {{"sel.entries.new", "", 1, "entries"}};
    auto data = record::to_json(findings);
    data["evidence"] = *store->keep_evidence(text);
    return data;
  };
  end("a01-n01", "gemm",
      {{"log", log("1 | Power Supply #2 | Failure\npassword: hunter22\n")},
       {"kernel_log", log("NVRM: Xid (PCI:0000:1b:00): 79\n")}});
  auto verdict = bad();
  end("a01-n01", "verdict@after", record::to_json(verdict));

  const auto files = bundle("gpu3");

  EXPECT_EQ(reported(files, "evidence/" + burnin::bmc_log_name("gemm") + ".txt"),
            "1 | Power Supply #2 | Failure\npassword: ***\n");
  EXPECT_EQ(reported(files, "evidence/" + burnin::kernel_log_name("gemm") + ".txt"),
            "NVRM: Xid (PCI:0000:1b:00): 79\n");
}

TEST_F(Rma, RefusesAPartOfWhichNothingBadIsKnown) {
  const auto other = bundle_of(*store, summary(), {.node = "a01-n01", .part = "gpu4"});
  const auto well = bundle_of(*store, summary(), {.node = "a01-n02"});
  const auto nobody = bundle_of(*store, summary(), {.node = "a01-n09"});

  EXPECT_THAT(other.error().what, HasSubstr("found nothing wrong with gpu4"));
  EXPECT_THAT(well.error().what, HasSubstr("found nothing wrong with a01-n02"));
  EXPECT_THAT(nobody.error().what, HasSubstr("a01-n09 took no part in run 1"));
}

/// The real tar and the real sha256sum read it.
TEST_F(Rma, IsAnArchiveThatTarAndSha256sumAccept) {
  auto files = bundle("gpu3");
  for (auto& each : files) each.name = "rma/" + each.name;
  const auto tar = tar_of(files, std::chrono::sys_seconds{std::chrono::seconds{1'700'000'000}});
  ASSERT_TRUE(tar) << tar.error().what;
  const auto file = (folder / "rma.tar").string();
  ASSERT_TRUE(write_file(file, *tar, 0600));

  const auto listed = testing::run({"tar", "-tvf", file});
  const auto unpacked = testing::run({"tar", "-xf", file, "-C", folder.string()});
  const auto checked = testing::run(
      {"sh", "-c", "cd " + (folder / "rma").string() + " && sha256sum -c MANIFEST.sha256"});

  EXPECT_THAT(listed.out, AllOf(HasSubstr("-rw-------"), HasSubstr("rma/evidence/gpu-facts.txt")));
  EXPECT_EQ(unpacked.status, 0) << unpacked.err;
  EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
}

TEST(Tar, TakesNoNameThatLeadsOut) {
  for (const auto* name : {"/etc/passwd", "../x", "a/../../x", "", "a//b", "a\nb"})
    EXPECT_FALSE(tar_of(std::vector<BundleFile>{{name, "x"}}, {})) << name;
  EXPECT_FALSE(tar_of(std::vector<BundleFile>{{std::string(200, 'a'), "x"}}, {}));
}

}  // namespace
}  // namespace cupel::rma
