// nccl-tests in its versions, and perftest.
#include <gmock/gmock.h>

#include "burnin/tools/nccl_report.h"
#include "burnin/tools/perftest.h"
#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/tools.h"

namespace cupel::burnin {
namespace {
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr auto kOld = "nccl-tests/a100_1node_allreduce.log";
constexpr auto kNew = "nccl-tests/gcm_sample_single_success_output.txt";

TEST(NcclTests, JudgesTheLargestSizeAndNotTheAverage) {
  CUPEL_NEEDS_SAMPLE(text, kOld);

  const auto found = parsed("nccl-tests", nccl_asked() + text + "# Avg bus bandwidth    : 68.1 \n");

  ASSERT_TRUE(found) << refusal(found);
  const auto& findings = *found;
  EXPECT_EQ(value_of(findings, "collective.all_reduce.busbw", "nvlinks"), 235.26);
  EXPECT_EQ(value_of(findings, "collective.all_reduce.latency", "nvlinks"), 34.73);
  EXPECT_EQ(read_nccl_tests(text + "# Avg bus bandwidth    : 68.1 \n").average, 68.1);
}

TEST(NcclTests, TellsInPlaceAndOutOfPlaceApart) {
  CUPEL_NEEDS_SAMPLE(text, kNew);

  const auto found = parsed("nccl-tests", nccl_asked("1073741824") + text);

  ASSERT_TRUE(found) << refusal(found);
  EXPECT_EQ(value_of(*found, "collective.all_reduce.busbw", "nvlinks"), 231.72);
  EXPECT_EQ(value_of(*found, "collective.all_reduce.busbw.in_place", "nvlinks"), 231.70);
  EXPECT_EQ(value_of(*found, "collective.errors"), 0);
}

TEST(NcclTests, TakesNotCheckedForNotKnown) {
  CUPEL_NEEDS_SAMPLE(text, kOld);

  const auto found = parsed("nccl-tests", nccl_asked() + text);

  ASSERT_TRUE(found) << refusal(found);
  EXPECT_EQ(value_of(*found, "collective.errors"), std::nullopt);
  EXPECT_TRUE(says_unknown(*found, "collective.errors"));
  EXPECT_THAT(not_met("nccl-tests", *found, "a100-8"),
              Contains(" collective.errors nothing, at most 0 errors"));
}

TEST(NcclTests, OfAlltoallAreCheckedOutOfPlaceAlone) {
  const std::string header =
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
      "time"
      "   algbw   busbw #wrong\n";
  const auto row = [](const std::string& out) {
    return "  8589934592     268435456     float    none      -1    24210  354.81  310.46  " + out +
           "    24101  356.42  311.87    N/A\n# Out of bounds values : 0 OK\n";
  };
  // Versions before 2.9: the column redop is in the header alone.
  const std::string old =
      "#       size         count    type   redop     time   algbw   busbw  error     time   algbw "
      " "
      " busbw  error\n"
      "  8589934592     268435456   float            24210  354.81  310.46  0e+00    24101  356.42 "
      " 311.87    N/A\n# Out of bounds values : 0 OK\n";
  const auto asked = nccl_asked("8589934592", "alltoall");

  const auto good = parsed("nccl-tests", asked + header + row("0"));
  const auto wrong = parsed("nccl-tests", asked + header + row("7"));
  const auto unchecked = parsed("nccl-tests", asked + header + row("N/A"));
  const auto reduced = parsed("nccl-tests", nccl_asked() + header + row("0"));
  const auto before = parsed("nccl-tests", asked + old);

  ASSERT_TRUE(good && wrong && unchecked && reduced && before) << refusal(before);
  EXPECT_EQ(value_of(*good, "collective.errors"), 0);
  EXPECT_EQ(value_of(*good, "collective.alltoall.busbw", "nvlinks"), 310.46);
  EXPECT_THAT(not_met("nccl-tests", *good), IsEmpty());
  EXPECT_EQ(value_of(*wrong, "collective.errors"), 7);
  EXPECT_EQ(value_of(*unchecked, "collective.errors"), std::nullopt);
  EXPECT_EQ(value_of(*reduced, "collective.errors"), std::nullopt)
      << "all_reduce is checked in place too";
  EXPECT_EQ(value_of(*before, "collective.errors"), 0);
  EXPECT_EQ(value_of(*before, "collective.alltoall.busbw", "nvlinks"), 310.46);
}

TEST(NcclTests, CountsEveryWrongElementWhereverItStands) {
  CUPEL_NEEDS_SAMPLE(text, kNew);
  const auto asked = nccl_asked("1073741824");

  const auto out = parsed("nccl-tests", asked + replaced(text, "204.26      0", "204.26  237858"));
  const auto in = parsed("nccl-tests", asked + replaced(text, "231.70      0", "231.70      2"));
  const auto footer =
      parsed("nccl-tests", asked + replaced(text, "values : 0 OK", "values : 3 FAILED"), 1);

  ASSERT_TRUE(out && in && footer);
  EXPECT_EQ(value_of(*out, "collective.errors"), 237858);
  EXPECT_EQ(value_of(*in, "collective.errors"), 2);
  EXPECT_EQ(value_of(*footer, "collective.errors"), 3);
}

TEST(NcclTests, ReadsRowsWithTagsInFrontAndWithoutTheirHeader) {
  CUPEL_NEEDS_SAMPLE(text, kNew);
  std::string tagged, headless;
  for (const auto line : lines(text)) {
    tagged += "[1,0]<stdout>:" + std::string{line} + "\n";
    if (!line.starts_with('#')) headless += std::string{line} + "\n";
  }
  CUPEL_NEEDS_SAMPLE(old, kOld);
  std::string old_headless;
  for (const auto line : lines(old))
    if (!line.starts_with('#')) old_headless += std::string{line} + "\n";

  const auto plain_rows = read_nccl_tests(text).rows;

  ASSERT_THAT(plain_rows, SizeIs(6));
  EXPECT_EQ(read_nccl_tests(tagged).rows, plain_rows);
  EXPECT_EQ(read_nccl_tests(headless).rows, plain_rows);
  EXPECT_EQ(read_nccl_tests(old_headless).rows, read_nccl_tests(old).rows);
  EXPECT_EQ(read_nccl_tests(text).nccl, "2.16.2+cuda11.6");
}

TEST(NcclTests, RejectsARowIntoWhichALineWasSpliced) {
  CUPEL_NEEDS_SAMPLE(text, kNew);
  const auto spliced = replaced(text, "8109.1  132.41  231.72",
                                "8109.1 n1:77:77 [0] NCCL INFO comm 0x1\n 132.41  231.72");
  const auto before = replaced(text, "  1073741824     268435456",
                               "n1:77:77 [0] NCCL INFO ok 1073741824     268435456");

  EXPECT_THAT(refusal(parsed("nccl-tests", nccl_asked("1073741824") + spliced)),
              HasSubstr("1 rows of its table are damaged"));
  // A whole row behind somebody's words is a whole row.
  EXPECT_EQ(read_nccl_tests(before).rows, read_nccl_tests(text).rows);
}

TEST(NcclTests, ReadsTheJsonOfVersionThree) {
  const auto found = parsed("nccl-tests", nccl_asked() + nccl_json("471.2", "0.000000"));
  const auto unchecked = parsed("nccl-tests", nccl_asked() + nccl_json("471.2", "null"));
  const auto no_number = parsed("nccl-tests", nccl_asked() + nccl_json("\"nan\"", "0.0"));

  ASSERT_TRUE(found && unchecked) << refusal(found);
  EXPECT_EQ(value_of(*found, "collective.all_reduce.busbw", "nvlinks"), 471.2);
  EXPECT_EQ(value_of(*found, "collective.errors"), 0);
  EXPECT_EQ(value_of(*unchecked, "collective.errors"), std::nullopt);
  EXPECT_THAT(refusal(no_number), HasSubstr("no bus bandwidth"));
}

TEST(NcclTests, DoesNotLeaveTheJudgementToTheToolsOwnThreshold) {
  // "okay" says that the average is above nine tenths of what NCCL_TESTS_MIN_BW asked for.
  const auto found = parsed("nccl-tests", nccl_asked() + nccl_json("250", "0.0"));

  ASSERT_TRUE(found);
  EXPECT_THAT(not_met("nccl-tests", *found),
              Contains("nvlinks collective.all_reduce.busbw 250 GB/s, at least 446 GB/s"));
}

TEST(NcclTests, WithoutItsFooterIsCutOffWhateverItsExitStatus) {
  const std::string row =
      "  8589934592     268435456     float     sum      -1    24210  354.81  480.46      0    "
      "24101"
      "  356.42  481.87      0\n";
  const std::string footer = "# Out of bounds values : 0 OK\n";
  const auto document = nccl_json("471.2", "0.0");

  const auto whole = parsed("nccl-tests", nccl_asked() + row + footer);

  ASSERT_TRUE(whole) << refusal(whole);
  EXPECT_THAT(not_met("nccl-tests", *whole), IsEmpty());
  for (const auto* before : {"[1,0]<stdout>:", "n1: ", "2026-01-02T03:04:05.678Z stdout F "})
    EXPECT_TRUE(parsed("nccl-tests", nccl_asked() + row + before + footer)) << before;
  for (const auto& end : {std::string{}, footer.substr(0, footer.find(':')) + ":\n",
                          footer.substr(0, footer.find(" 0 OK")), std::string{"# Avg bus\n"}})
    EXPECT_THAT(
        refusal(parsed("nccl-tests", nccl_asked() + row + end)),
        HasSubstr("its output is cut off: the footer \"# Out of bounds values\" is missing"))
        << "it ends with '" << end << "'";
  EXPECT_FALSE(read_nccl_tests(document.substr(0, document.find("\"average_bus"))).is_whole);
  EXPECT_TRUE(read_nccl_tests(document).is_whole);
  const auto wrong =
      parsed("nccl-tests", nccl_asked() + replaced(row, "481.87      0", "481.87      5"));
  ASSERT_TRUE(wrong) << "a wrong result is found whatever is missing: " << refusal(wrong);
  EXPECT_EQ(value_of(*wrong, "collective.errors"), 5);
}

TEST(NcclTests, KnowsWhetherTheSwitchesSummed) {
  CUPEL_NEEDS_SAMPLE(text, kNew);
  const auto slow = replaced(text, "231.72", "366.00");
  const auto rings = parsed("nccl-tests", nccl_asked("1073741824", "all_reduce", "off") + slow);
  const auto summed = parsed("nccl-tests", nccl_asked("1073741824") + slow);
  const auto absent =
      parsed("nccl-tests",
             nccl_asked("1073741824") +
                 "n1:7:9 [0] NCCL INFO NVLS multicast support is not available on dev 0\n" + slow);

  ASSERT_TRUE(rings && summed && absent);
  EXPECT_THAT(not_met("nccl-tests", *rings), IsEmpty());
  EXPECT_THAT(not_met("nccl-tests", *summed),
              Contains(HasSubstr("collective.all_reduce.busbw 366 GB/s")));
  EXPECT_EQ(value_of(*summed, "collective.nvls"), std::nullopt);
  EXPECT_EQ(value_of(*absent, "collective.nvls"), 0);
}

TEST(NcclTests, SaysWhatCudaSays) {
  const auto text =
      "n1 pid 42: Test CUDA failure common.cu:1030 'system not yet initialized'\n .. n1 pid 42: "
      "Test failure common.cu:944\n";

  EXPECT_THAT(refusal(parsed("nccl-tests", nccl_asked() + text, 2)),
              HasSubstr("system not yet initialized"));
}

TEST(NcclTests, ReadsTheSameOfCupelNodeAsOfAnEarlierVersionsScript) {
  CUPEL_NEEDS_SAMPLE(text, kNew);
  const auto log = std::string{"n1:42:42 [0] NCCL INFO NVLS multicast support is available\n"};
  const auto asked = R"({"kind":"asked","name":"bytes","value":1073741824})"
                     "\n"
                     R"({"kind":"note","name":"operation","text":"all_reduce"})"
                     "\n"
                     R"({"kind":"note","name":"nvls","text":"off"})"
                     "\n";

  const auto old = parsed("nccl-tests", nccl_asked("1073741824", "all_reduce", "off") + log + text);
  const auto fresh =
      parsed("nccl-tests", agent_ran("nccl-tests", "nccl-tests", text, asked, 0, log));
  const auto failed = parsed("nccl-tests", agent_ran("nccl-tests", "nccl-tests", text, asked, 3));

  ASSERT_TRUE(old && fresh) << refusal(fresh);
  EXPECT_EQ(*fresh, *old);
  EXPECT_TRUE(value_of(*fresh, "collective.rings.all_reduce.busbw", "nvlinks"));
  EXPECT_THAT(refusal(failed), HasSubstr("it ended with exit status 3"));
}

TEST(Perftest, ReadsWhatOldVersionsCallMegabytesAsMebibytes) {
  CUPEL_NEEDS_SAMPLE(text, "perftest/ib_write_bw_loopback_hdr_8M.log");

  const auto rows = read_perftest(text);

  ASSERT_TRUE(rows);
  ASSERT_THAT(*rows, SizeIs(1));
  const auto& row = rows->front();
  EXPECT_EQ(row.bytes, 8388608);
  EXPECT_EQ(row.iterations, 20000);
  // 3007 messages of 8 MiB a second are as much.
  EXPECT_THAT(*row.average, DoubleNear(201.8, 0.05));
  EXPECT_THAT(*row.messages * row.bytes * 8 / 1e9, DoubleNear(*row.average, 0.05));
}

TEST(Perftest, RejectsAnAverageWithoutItsUnit) {
  const auto rows =
      read_perftest(" #bytes  #iterations  BW average  MsgRate[Mpps]\n 65536  5000  92.1  0.1\n");

  EXPECT_FALSE(rows);
}

TEST(Perftest, ReadsEverySizeOfTwoEndsThatPrintIntoOneAnother) {
  CUPEL_NEEDS_SAMPLE(text, "perftest/ib_write_bw_loopback_all_sizes.log");

  const auto rows = read_perftest(text);

  ASSERT_TRUE(rows);
  EXPECT_THAT(*rows, SizeIs(23));
  EXPECT_EQ(rows->front().bytes, 2);
  EXPECT_THAT(*rows->back().average, DoubleNear(194.96, 0.01));
}

TEST(Perftest, KnowsNoPeakOfARunByTimeAndPassesOverWarnings) {
  const std::string text =
      " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
      "Conflicting CPU frequency values detected: 2000.000000 != 3800.000000. CPU Frequency is not "
      "max.\n"
      " 8388608    349821           0.00               391.36\t\t     0.005832\n";

  const auto rows = read_perftest(text);

  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->front().peak, std::nullopt);
  EXPECT_EQ(rows->front().average, 391.36);
}

TEST(Perftest, ReadsLatenciesAndWhatVersionsCallJson) {
  const auto latency = read_perftest(
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
      "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n"
      " 8       10000          2.11           5.60         2.15               2.16             "
      "0.04 "
      "          2.41            3.97   \n");
  const auto json = read_perftest(
      "{\n\"test_info\": {\n\"test\": \"RDMA_Write_BW_Test\",\n},\n\"results\": {\n\"MsgSize\": "
      "65536,\n\"n_iterations\": 5000,\n\"BW_peak\": 0.00,\n\"BW_average\": 391.10,\n\"MsgRate\": "
      "0.745964\n}\n}\n");

  ASSERT_TRUE(latency && json);
  EXPECT_EQ(latency->front().typical, 2.15);
  EXPECT_EQ(latency->front().mean, 2.16);
  EXPECT_EQ(latency->front().p99, 2.41);
  EXPECT_EQ(latency->front().p999, 3.97);
  EXPECT_EQ(json->front().average, 391.10);
  EXPECT_EQ(json->front().peak, std::nullopt);
}

TEST(Perftest, RefusesNumbersWithoutAUnit) {
  const auto headless = read_perftest(" 8388608    20000   24056.74   24056.72   0.003007\n");
  const auto failed =
      read_perftest(" Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\n");

  ASSERT_TRUE(!headless && !failed);
  EXPECT_EQ(headless.error().code, Code::kMalformed);
  EXPECT_EQ(failed.error().code, Code::kNoMeasurement);
}

}  // namespace
}  // namespace cupel::burnin
