// Every captured output of users' tools, and what dcgmi diag and nvbandwidth say in their versions.
#include "tests/burnin/tools.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/json.h"
#include "burnin/tools/tool_gpus.h"
#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/sample_files.h"

namespace cupel::burnin {
namespace {
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Captured {
  const char* stage;
  const char* file;
  std::string before;
  int exit_status;
  std::size_t measurements;  // 0: it proves nothing
  const char* says = "";     // of the refusal
};

class ToolCapture : public ::testing::TestWithParam<Captured> {};

TEST_P(ToolCapture, IsReadOrRefused) {
  const auto& row = GetParam();
  CUPEL_NEEDS_SAMPLE(text, row.file);

  const auto found = parsed(row.stage, row.before + text + "\n", row.exit_status);

  EXPECT_EQ(found ? found->measurements.size() : 0, row.measurements) << refusal(found);
  if (row.measurements == 0) EXPECT_THAT(refusal(found), HasSubstr(row.says));
}

const Captured kCaptured[] = {
    {"dcgm-diag", "dcgmi-diag/gcm_diag_pass_output_rc0.json", "", 0, 9},
    {"dcgm-diag", "dcgmi-diag/gcm_diag_fail_output_rc0.json", "", 0, 9},
    {"dcgm-diag", "dcgmi-diag/gcm_diag_warn_output_rc0.json", "", 0, 9},
    {"dcgm-diag", "dcgmi-diag/gcm_non_fatal_error_code_output_rc205.json", "", 205, 9},
    {"dcgm-diag", "nvsentinel/preflight_dcgm_diag.jsonl", "", 0, 0, "no report"},
    {"nvbandwidth", "nvbandwidth/dcgm_verboseFullOutput.json", "", 0, 3},
    {"nvbandwidth", "nvbandwidth/dcgm_ERROR_1.json", "", 1, 0, "invalid arguments"},
    {"nvbandwidth", "nvbandwidth/dcgm_ERROR_2.json", "", 1, 0, "invalid arguments"},
    {"nvbandwidth", "nvbandwidth/readme_a100_0.txt", "", 0, 57},
    {"nvbandwidth", "nvbandwidth/readme_a100_1.txt", "", 0, 9},
    {"nvbandwidth", "nvbandwidth/readme_a100_2.txt", "", 0, 0, "it was not run"},
    {"nccl-tests", "nccl-tests/a100_1node_allreduce.log", nccl_asked(), 0, 3},
    {"nccl-tests", "nccl-tests/a100_1node_broadcast.log", nccl_asked("8589934592", "broadcast"), 0,
     3},
    {"nccl-tests", "nccl-tests/a100_1node_reduce.log", nccl_asked("8589934592", "reduce"), 0, 3},
    {"nccl-tests", "nccl-tests/a100_1node_reducescatter.log",
     nccl_asked("8589934592", "reduce_scatter"), 0, 3},
    {"nccl-tests", "nccl-tests/gcm_sample_single_success_output.txt", nccl_asked("1073741824"), 0,
     4},
    {"nccl-tests", "nccl-tests/gcm_sample_pairwise_success_output.txt", nccl_asked("1073741824"), 0,
     4},
    {"nccl-tests", "nccl-tests/gcm_sample_single_success_output.txt", nccl_asked(), 0, 0,
     "it ended at 1 GiB of 8 GiB"},
    {"nccl-tests", "nccl-tests/gcm_sample_failure_output.txt", nccl_asked(), 1, 0,
     "no row of numbers"},
    {"gpu-burn", "gpu-burn/a100_8gpu_ok.log", burn_asked("double"), 0, 32},
    // The output of one tool is not another's.
    {"gpu-burn", "gpu-fryer/readme_ok.txt", burn_asked(), 0, 0, "no GPU did any work"},
    {"nvbandwidth", "nccl-tests/a100_1node_allreduce.log", "", 0, 0, "nThread 1"},
};

INSTANTIATE_TEST_SUITE_P(All, ToolCapture, ::testing::ValuesIn(kCaptured), [](const auto& info) {
  std::string name = info.param.file;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name + "_" + std::to_string(info.index);
});

TEST(ToolCaptures, LeaveNoSampleOut) {
  for (const auto* folder :
       {"dcgmi-diag", "nvsentinel", "nvbandwidth", "nccl-tests", "gpu-burn", "gpu-fryer"}) {
    const auto files = sample_files(folder);
    CUPEL_NEEDS_REAL_PART(!files.empty(), "no samples in " << testing::samples());

    for (const auto& file : files)
      EXPECT_TRUE(std::ranges::find(kCaptured, file, &Captured::file) != std::end(kCaptured))
          << file;
  }
}

/// A report of DCGM 4 with these results of one test.
std::string dcgm4(const std::string& results, const std::string& more = "") {
  return R"({"DCGM Diagnostic":{"test_categories":[{"category":"Hardware","tests":[)"
         R"({"name":"memory","results":[)" +
         results + R"(],"test_summary":{"status":"Pass"}}]}])" + more + "}}\n";
}
std::string on_gpu(int gpu, const std::string& status, const std::string& more = "") {
  return R"({"entity_group":"GPU","entity_group_id":1,"entity_id":)" + std::to_string(gpu) +
         R"(,"status":")" + status + "\"" + more + "}";
}

TEST(DcgmDiag, UsesTheReportAndNotTheExitStatus) {
  CUPEL_NEEDS_SAMPLE(good, "dcgmi-diag/gcm_non_fatal_error_code_output_rc205.json");
  CUPEL_NEEDS_SAMPLE(bad, "dcgmi-diag/gcm_diag_fail_output_rc0.json");

  const auto passed = parsed("dcgm-diag", good, 205), failed = parsed("dcgm-diag", bad, 0);

  ASSERT_TRUE(passed && failed);
  EXPECT_EQ(value_of(*passed, "dcgm.failed"), 0);
  EXPECT_EQ(value_of(*passed, "dcgm.passed"), 9);
  EXPECT_EQ(value_of(*failed, "dcgm.failed"), 1);
  EXPECT_EQ(value_of(*failed, "dcgm.warned"), 1);
  EXPECT_EQ(failed->facts.at("dcgm: Persistence Mode"), "Fail");
}

TEST(DcgmDiag, ReadsTheReportAmongWarnings) {
  const auto text = "Warning: {not JSON}\nnv-hostengine: \"DCGM\" is old\n" +
                    dcgm4(on_gpu(0, "Pass")) + "Successfully ran diagnostic for group.\n";

  const auto found = parsed("dcgm-diag", text);

  ASSERT_TRUE(found) << refusal(found);
  EXPECT_EQ(value_of(*found, "dcgm.passed", "gpu0"), 1);
}

/// As cupel-node sends what dcgmi printed.
std::string agent_text(const std::string& report, const std::string& level) {
  const auto asked = R"({"kind":"asked","name":"level","value":)" + level + "}\n";
  return agent_ran("dcgm-diag", "dcgmi", report, asked, 205);
}

TEST(DcgmDiag, ReadsTheSameOfCupelNodeAsOfAnEarlierVersionsScript) {
  const auto report = "Warning: old\n" + dcgm4(on_gpu(0, "Pass") + "," + on_gpu(1, "Fail"));
  const std::string named{kScriptGpus};
  for (const std::string level : {"1", "2"}) {
    const auto old = parsed("dcgm-diag", named + ("cupel-asked-level: " + level) + "\n" + report);
    const auto fresh = parsed("dcgm-diag", agent_text(report, level));

    ASSERT_TRUE(old && fresh) << refusal(fresh);
    EXPECT_EQ(*fresh, *old) << level;
  }
  EXPECT_THAT(refusal(parsed("dcgm-diag", agent_text("Error: no connection\n", "2"))),
              HasSubstr("no report: Error: no connection"));
}

TEST(DcgmDiag, ProvesNothingByAnOutputThatTheNodeCutOrDidNotSend) {
  const auto whole = agent_text(dcgm4(on_gpu(0, "Pass")), "2");
  const auto cut = replaced(whole, R"("status":205,"cut":false)", R"("status":205,"cut":true)");
  const auto absent = replaced(whole, R"("name":"dcgmi")", R"("name":"other")");

  EXPECT_THAT(refusal(parsed("dcgm-diag", cut)), HasSubstr("more than cupel-node keeps"));
  EXPECT_THAT(refusal(parsed("dcgm-diag", absent)), HasSubstr("did not report its output"));
}

TEST(DcgmDiag, JoinsErrorsOfVersionFourToTheirGpu) {
  const auto text =
      dcgm4(on_gpu(0, "Pass") + "," +
            on_gpu(4, "Fail",
                   R"(,"warnings":[{"error_category":6,"error_id":4,"error_severity":2,)"
                   R"("warning":"Detected 2 volatile double-bit ECC errors in GPU 4."}])"));

  const auto found = parsed("dcgm-diag", text, 226);

  ASSERT_TRUE(found) << refusal(found);
  const auto& findings = *found;
  EXPECT_EQ(value_of(findings, "dcgm.failed", "gpu4"), 1);
  EXPECT_EQ(value_of(findings, "dcgm.errors.isolate", "gpu4"), 1);
  EXPECT_EQ(value_of(findings, "dcgm.failed", "gpu0"), 0);
  EXPECT_THAT(findings.facts.at("dcgm: memory of gpu4"), HasSubstr("error 4: Detected 2 volatile"));
  EXPECT_THAT(not_met("dcgm-diag", findings), Contains(HasSubstr("gpu4 dcgm.errors.isolate 1")));
}

TEST(DcgmDiag, JoinsErrorsOfVersionThreeAndTwoToTheirGpu) {
  const auto report = [](const std::string& result) {
    return R"({"DCGM GPU Diagnostic":{"test_categories":[{"category":"Integration","tests":[)"
           R"({"name":"PCIe","results":[)" +
           result + R"(]}]}]},"version":"3.3.9"})";
  };
  const auto three =
      report(R"({"gpu_id":"5","status":"Fail","warnings":[{"error_category":5,"error_id":46,)"
             R"("error_severity":4,"warning":"link width 8X"}]})");
  const auto two = report(R"({"gpu_ids":"5","status":"Fail","warnings":"link width 8X"})");

  for (const auto& text : {three, two}) {
    const auto found = parsed("dcgm-diag", text);

    ASSERT_TRUE(found) << refusal(found);
    EXPECT_EQ(value_of(*found, "dcgm.failed", "gpu5"), 1);
    EXPECT_THAT(found->facts.at("dcgm: PCIe of gpu5"), HasSubstr("link width 8X"));
  }
  const auto severe = parsed("dcgm-diag", three), mild = parsed("dcgm-diag", two);
  EXPECT_EQ(value_of(*severe, "dcgm.errors.triage", "gpu5"), 1);
  EXPECT_EQ(value_of(*mild, "dcgm.errors.other", "gpu5"), 1);
}

TEST(DcgmDiag, TakesASkippedTestForNoPass) {
  const auto all = parsed("dcgm-diag", dcgm4(on_gpu(0, "Skip")));
  const auto one = parsed("dcgm-diag", dcgm4(on_gpu(0, "Pass") + "," + on_gpu(1, "Skip")));

  EXPECT_THAT(refusal(all), HasSubstr("all tests were skipped"));
  ASSERT_TRUE(one);
  EXPECT_EQ(value_of(*one, "dcgm.failed", "gpu1"), std::nullopt);
  EXPECT_TRUE(says_unknown(*one, "memory of gpu1"));
  EXPECT_THAT(not_met("dcgm-diag", *one),
              Contains(HasSubstr("gpu1 dcgm.passed 0 tests, at least 2 tests")));
}

TEST(DcgmDiag, TakesAPassWithAnErrorBesideItForAWarning) {
  const auto found =
      parsed("dcgm-diag", dcgm4(on_gpu(2, "Pass",
                                       R"(,"warnings":[{"error_category":9,"error_id":56,)"
                                       R"("error_severity":4,"warning":"Couldn't allocate"}])")));

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "dcgm.passed", "gpu2"), 0);
  EXPECT_EQ(value_of(*found, "dcgm.warned", "gpu2"), 1);
  EXPECT_THAT(not_met("dcgm-diag", *found),
              Contains(HasSubstr(" dcgm.warned 1 tests, at most 0 tests")));
}

/// Level 1 of versions 2 and 3: tests of the software, each with one result that names no GPU.
std::string software_tests(const std::string& last_status) {
  std::string tests;
  for (const auto* name : {"Denylist", "NVML Library", "CUDA Main Library"})
    tests += std::string{R"({"name":")"} + name + R"(","results":[{"status":"Pass"}]},)";
  return R"({"DCGM GPU Diagnostic":{"test_categories":[{"category":"Deployment","tests":[)" +
         tests + R"({"name":"Inforom","results":[{"status":")" + last_status +
         R"("}]}]}]},"version":"3.3.9"})" + "\n";
}

TEST(DcgmDiag, OfLevelOneIsOfAllGpusTogether) {
  std::string gpus;
  for (const auto* line :
       {"0, 00000000:1B:00.0", "1, 00000000:43:00.0", "2, 00000000:52:00.0", "3, 00000000:61:00.0",
        "4, 00000000:9D:00.0", "5, 00000000:C3:00.0", "6, 00000000:D1:00.0"})
    gpus += std::string{"cupel-gpu: "} + line + "\n";
  const auto eighth = std::string{"cupel-gpu: 7, 00000000:DF:00.0\n"};
  const auto asked = std::string{"cupel-asked-level: 1\n"};

  const auto good = parsed("dcgm-diag", asked + gpus + eighth + software_tests("Pass"));
  const auto one_missing = parsed("dcgm-diag", asked + gpus + software_tests("Pass"));
  const auto bad = parsed("dcgm-diag", asked + gpus + eighth + software_tests("Fail"));
  const auto second =
      parsed("dcgm-diag", "cupel-asked-level: 2\n" + gpus + eighth + software_tests("Pass"));

  ASSERT_TRUE(good && one_missing && bad && second) << refusal(good);
  EXPECT_THAT(not_met("dcgm-diag", *good), IsEmpty());
  EXPECT_THAT(not_met("dcgm-diag", *one_missing),
              Contains("gpu7 dcgm.passed nothing, at least 2 tests"));
  EXPECT_THAT(not_met("dcgm-diag", *bad), Contains(" dcgm.failed 1 tests, at most 0 tests"));
  EXPECT_THAT(not_met("dcgm-diag", *second),
              Contains("gpu0 dcgm.passed nothing, at least 2 tests"));
}

TEST(DcgmDiag, ProvesNothingWhereItDidNotRunToItsEnd) {
  EXPECT_THAT(
      refusal(parsed("dcgm-diag", dcgm4(on_gpu(0, "Pass"), R"(,"runtime_error":"killed")"))),
      HasSubstr("killed"));
  EXPECT_THAT(refusal(parsed("dcgm-diag", "Error: unable to establish a connection\n", 211)),
              HasSubstr("unable to establish a connection"));
  EXPECT_THAT(refusal(parsed("dcgm-diag", R"({"DCGM Diagnostic":{"test_categories":[]}})")),
              HasSubstr("it ran no test"));
  const auto whole = dcgm4(on_gpu(0, "Pass"));
  EXPECT_THAT(refusal(parsed("dcgm-diag", whole.substr(0, whole.size() - 4))),
              HasSubstr("cut short"));
}

TEST(NvBandwidth, ReadsATableOfAnA100AsItsReadmeShowsIt) {
  CUPEL_NEEDS_SAMPLE(pairs, "nvbandwidth/readme_a100_0.txt");
  CUPEL_NEEDS_SAMPLE(host, "nvbandwidth/readme_a100_1.txt");

  const auto between = parsed("nvbandwidth", pairs), from = parsed("nvbandwidth", host);

  ASSERT_TRUE(between && from);
  EXPECT_EQ(value_of(*between, "p2p.bandwidth", "gpu0-gpu1"), 276.07);
  EXPECT_EQ(value_of(*between, "p2p.bandwidth", "gpu6-gpu0"), 274.89);
  // The README's zeros on the diagonal are nothing that was copied.
  EXPECT_EQ(value_of(*between, "p2p.bandwidth", "gpu0-gpu0"), std::nullopt);
  EXPECT_EQ(value_of(*between, "p2p.refused", "gpu7"), std::nullopt);
  EXPECT_EQ(value_of(*from, "pcie.h2d", "gpu4"), 26.19);
  EXPECT_EQ(value_of(*from, "pcie.d2h", "gpu4"), std::nullopt);
  EXPECT_TRUE(says_unknown(*from, "device_to_host_memcpy_ce"));
}

TEST(NvBandwidth, TakesWhatWasWaivedForNothing) {
  CUPEL_NEEDS_SAMPLE(text, "nvbandwidth/dcgm_verboseFullOutput.json");

  const auto found = parsed("nvbandwidth", text);

  ASSERT_TRUE(found) << refusal(found);
  const auto& findings = *found;
  EXPECT_EQ(value_of(findings, "pcie.h2d", "gpu0"), 12.3964);
  EXPECT_EQ(value_of(findings, "pcie.d2h", "gpu0"), 13.2001);
  EXPECT_EQ(value_of(findings, "p2p.refused", "gpu0"), std::nullopt);
  EXPECT_TRUE(says_unknown(findings, "device_to_device_memcpy_write_ce"));
  EXPECT_THAT(not_met("nvbandwidth", findings), Contains("gpu0 p2p.refused nothing, at most 0"));
}

/// Version 0.8, two GPUs, with these rows of what they write to one another, and read.
std::string nvbandwidth_json(const std::string& matrix, const std::string& status = "Passed",
                             const std::string& read = R"([["N/A","380"],["381","N/A"]])") {
  return R"({"nvbandwidth":{"version":"v0.8","testcases":[)"
         R"({"name":"host_to_device_memcpy_ce","status":"Passed","bandwidth_matrix":[["55.4","55.1"]]},)"
         R"({"name":"device_to_device_memcpy_read_ce","status":"Passed","bandwidth_matrix":)" +
         read + R"(},{"name":"device_to_device_memcpy_write_ce","status":")" + status +
         R"(","bandwidth_matrix":)" + matrix + "}]}}\n";
}

TEST(NvBandwidth, CountsThePeersThatAreMissing) {
  const auto good = parsed("nvbandwidth", nvbandwidth_json(R"([["N/A","391"],["388","N/A"]])"));
  const auto bad = parsed("nvbandwidth", nvbandwidth_json(R"([["N/A","N/A"],["388","N/A"]])"));

  ASSERT_TRUE(good && bad);
  EXPECT_EQ(value_of(*good, "p2p.refused", "gpu0"), 0);
  EXPECT_EQ(value_of(*bad, "p2p.refused", "gpu0"), 1);
  EXPECT_EQ(value_of(*bad, "p2p.bandwidth", "gpu0-gpu1"), std::nullopt);
  EXPECT_TRUE(says_unknown(*bad, "p2p.bandwidth of gpu0-gpu1"));
  EXPECT_EQ(value_of(*bad, "p2p.bandwidth", "gpu1-gpu0"), 388);
}

TEST(NvBandwidth, ChargesRefusedPeersToTheGpuThatTheyShareAsTheStageP2pDoes) {
  const auto read = R"([["N/A","380","380"],["381","N/A","380"],["380","380","N/A"]])";

  const auto found =
      parsed("nvbandwidth",
             nvbandwidth_json(R"([["N/A","N/A","391"],["N/A","N/A","N/A"],["388","N/A","N/A"]])",
                              "Passed", read));
  const auto unread =
      parsed("nvbandwidth", nvbandwidth_json(R"([["N/A","391"],["388","N/A"]])", "Passed", "[]"));

  ASSERT_TRUE(found && unread);
  EXPECT_EQ(value_of(*found, "p2p.refused", "gpu1"), 4);
  EXPECT_EQ(value_of(*found, "p2p.refused", "gpu0"), 0);
  EXPECT_EQ(value_of(*found, "p2p.refused", "gpu2"), 0);
  EXPECT_EQ(value_of(*unread, "p2p.refused", "gpu0"), std::nullopt)
      << "who did not read was not refused, nor let in";
}

TEST(NvBandwidth, RejectsAnIncompleteTableAndAnyStatusButPassed) {
  const auto lame = parsed("nvbandwidth", nvbandwidth_json(R"([["N/A","391"],["388"]])"));
  const auto broken =
      parsed("nvbandwidth", nvbandwidth_json(R"([["N/A","391"],["388","N/A"]])", "Error"));

  for (const auto& found : {lame, broken}) {
    ASSERT_TRUE(found);
    EXPECT_EQ(value_of(*found, "p2p.bandwidth", "gpu0-gpu1"), std::nullopt);
    EXPECT_EQ(value_of(*found, "pcie.h2d", "gpu1"), 55.1);
    EXPECT_TRUE(says_unknown(*found, "device_to_device_memcpy_write_ce"));
  }
}

TEST(NvBandwidth, SaysThatDataWasCorruptedAndDuringWhichTest) {
  // The lines of NVIDIA/nvbandwidth issue 34.
  const std::string corrupted =
      "Running device_to_device_memcpy_read_ce.\n"
      " Invalid value when checking the pattern at 0x70a640000000\n Current offset : 11136 \n"
      "ASSERT in expression h_errorFlag == 0 in void memcmpPatternHelper(CUstream)() : "
      "memcpy.cpp:165\n";

  const auto found = parsed("nvbandwidth", corrupted, 134);
  const auto good = parsed("nvbandwidth", nvbandwidth_json(R"([["N/A","391"],["388","N/A"]])"));

  ASSERT_TRUE(found && good) << refusal(found);
  EXPECT_EQ(value_of(*found, "nvbandwidth.corrupted"), 1);
  EXPECT_THAT(found->facts.at("nvbandwidth: device_to_device_memcpy_read_ce"),
              HasSubstr("Invalid value when checking the pattern"));
  EXPECT_THAT(not_met("nvbandwidth", *found), Contains(" nvbandwidth.corrupted 1, at most 0"));
  EXPECT_EQ(value_of(*good, "nvbandwidth.corrupted"), 0);
}

TEST(NvBandwidth, ReadsTheSameOfCupelNodeAsOfAnEarlierVersionsScript) {
  const auto report = nvbandwidth_json(R"([["N/A","391"],["388","N/A"]])");
  const auto old = parsed("nvbandwidth", std::string{kScriptGpus} +
                                             "cupel-pinned: NUMA node 1, CPUs 4-7\nold\n" + report);
  const auto fresh = parsed(
      "nvbandwidth", agent_ran("nvbandwidth", "nvbandwidth", report,
                               R"({"kind":"note","name":"pinned","text":"NUMA node 1, CPUs 4-7"})"
                               "\n",
                               0, "old"));

  ASSERT_TRUE(old && fresh) << refusal(fresh);
  EXPECT_EQ(*fresh, *old);
  EXPECT_EQ(fresh->facts.at("host.pinned"), "NUMA node 1, CPUs 4-7");
  EXPECT_THAT(refusal(parsed("nvbandwidth",
                             agent_ran("nvbandwidth", "nvbandwidth", "", "", 1, "no CUDA device"))),
              HasSubstr("nvbandwidth: no CUDA device"));
}

TEST(ToolGpus, AreNamedByTheirPlaceAndNotByTheToolsNumber) {
  // gpu5 fell off its bus: the tool's numbers 5 and 6 are the places of gpu6 and gpu7.
  const Output output{
      "cupel-gpu: 4, 00000000:9D:00.0\ncupel-gpu: 5, 00000000:D1:00.0\n"
      "cupel-gpu: 6, 00000000:DF:00.0\ncupel-gpu: 7, 00000000:EE:00.0\n",
      "", 0};

  const ToolGpus gpus{profile(), output};

  EXPECT_EQ(gpus.name(4), "gpu4");
  EXPECT_EQ(gpus.name(5), "gpu6");
  EXPECT_EQ(gpus.name(6), "gpu7");
  EXPECT_EQ(gpus.name(7), "gpu at 00000000:EE:00.0");
  EXPECT_EQ(gpus.name(1), "gpu1");
}

TEST(Tools, RefuseWhatCannotBeMeant) {
  const auto refused = [](const char* name, const Parameters& with) {
    const auto job = prepared(name, with);
    return job ? "taken" : std::string{job.error().what};
  };

  EXPECT_THAT(refused("dcgm-diag", {{"level", "5"}}), HasSubstr("1, 2, 3 or 4, not '5'"));
  EXPECT_THAT(refused("nvbandwidth", {{"samples", "0"}}), HasSubstr("1 to 1000"));
  EXPECT_THAT(refused("nvbandwidth", {{"buffer", "1GB; reboot"}}), HasSubstr("buffer"));
  EXPECT_THAT(refused("nccl-tests", {{"operation", "$(reboot)"}}), HasSubstr("operation"));
  EXPECT_THAT(refused("nccl-tests", {{"largest", "1TiB"}}), HasSubstr("largest"));
  EXPECT_THAT(refused("nccl-tests", {{"nvls", "maybe"}}), HasSubstr("nvls"));
  EXPECT_THAT(refused("gpu-burn", {{"directory", "/opt/../etc"}}), HasSubstr("directory"));
  EXPECT_THAT(refused("gpu-burn", {{"precision", "half"}}), HasSubstr("precision"));
  EXPECT_THAT(refused("gpu-burn", {{"duration", "1y"}}), HasSubstr("duration"));
}

}  // namespace
}  // namespace cupel::burnin
