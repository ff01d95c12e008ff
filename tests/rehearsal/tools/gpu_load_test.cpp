// nccl-tests, nvbandwidth and dcgmi diag: shaped as captured ones, as fast as a healthy machine's,
// and loads of the machine for as long as they run.
#include "base/json.h"
#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {

using enum FaultKind;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

/// Bus bandwidth out of place, by size; found by the header's own columns.
std::map<double, double> bus_of(const std::string& text) {
  std::map<double, double> rows;
  for (const auto& line : lines_of(text)) {
    const auto cells = words(line);
    if (cells.size() != 13 || line.starts_with('#')) continue;
    rows[number<double>(cells[0]).value_or(-1)] = number<double>(cells[7]).value_or(-1);
  }
  return rows;
}

TEST(NcclTests, TheTableHasTheColumnsOfTheCaptured) {
  CUPEL_NEEDS_SAMPLE(capture, "nccl-tests/gcm_sample_single_success_output.txt");
  Bench bench;
  const auto headers = [](const std::string& text) {
    Texts found;
    for (const auto& line : lines_of(text))
      if (line.starts_with("#  ")) {
        std::string cells;
        for (const auto word : words(line)) cells += std::string{word} + " ";
        if (line.contains("size") || line.contains("elements")) found.push_back(cells);
      }
    return found;
  };
  const auto row_shape = [](const std::string& text) {
    for (const auto& line : lines_of(text))
      if (words(line).size() == 13 && !line.starts_with('#')) return shape_of(line);
    return std::string{};
  };

  const auto ours = bench.sh("all_reduce_perf -b 32M -e 1G -f 2 -g 8").out;

  EXPECT_EQ(headers(ours), headers(capture));
  EXPECT_EQ(row_shape(ours), row_shape(capture));
  EXPECT_THAT(bus_of(ours), SizeIs(bus_of(capture).size()));
  EXPECT_THAT(ours, HasSubstr("# Out of bounds values : 0 OK"));
}

TEST(NcclTests, AHealthyNodeIsAboveTheFloorsThatPeopleGateOn) {
  Bench bench;

  const auto large = bus_of(bench.sh("all_reduce_perf -b 8G -e 8G -g 8").out);
  const auto rings = bus_of(bench.sh("NCCL_NVLS_ENABLE=0 all_reduce_perf -b 8G -e 8G -g 8").out);

  EXPECT_GE(large.at(8589934592), 460);
  EXPECT_LE(large.at(8589934592), 500);
  EXPECT_LT(rings.at(8589934592), 400);
}

TEST(NcclTests, ANodeWithALinkDownIsSlower) {
  Bench healthy, sick{{{.kind = nvlink_down, .part = "gpu3"}}};

  const auto good = bus_of(healthy.sh("all_gather_perf -b 4G -e 4G -g 8").out);
  const auto bad = bus_of(sick.sh("all_gather_perf -b 4G -e 4G -g 8").out);

  EXPECT_LT(bad.at(4294967296), 0.97 * good.at(4294967296));
}

TEST(NcclTests, WrongResultsAreCountedAndFailTheRun) {
  Bench bench{{{.kind = gpu_wrong_results, .part = "gpu3"}}};

  const auto run = bench.sh("all_reduce_perf -b 8 -e 1G -f 2 -g 8");

  EXPECT_THAT(run.out, HasSubstr(" FAILED"));
  EXPECT_NE(run.status, 0);
}

TEST(NcclTests, WithoutAFabricManagerCudaSaysSo) {
  Bench bench{{{.kind = fabric_manager_off}}};

  const auto run = bench.sh("all_reduce_perf -g 8");

  EXPECT_THAT(run.out, HasSubstr("system not yet initialized"));
  EXPECT_EQ(run.status, 2);
}

TEST(NcclTests, TheJsonIsOfVersionThree) {
  Bench bench;

  bench.sh("all_reduce_perf -b 1M -e 2M -f 2 -g 4 -J /tmp/out.json");
  const auto root = parse_json(bench.sh("cat /tmp/out.json").out);

  ASSERT_TRUE(root);
  EXPECT_EQ(number_at(*root, "version"), 3);
  EXPECT_EQ(root->at("results").as_array().size(), 2u);
  EXPECT_EQ(root->at("devices").as_array().size(), 4u);
  EXPECT_TRUE(number_at(*root, "average_bus_bandwidth/bandwidth"));
}

json::value bandwidths(Bench& bench, const std::string& options) {
  const auto root = parse_json(bench.sh("nvbandwidth -j " + options).out);
  EXPECT_TRUE(root);
  return root ? *root : json::value{};
}

TEST(Nvbandwidth, TheJsonHasTheKeysOfTheCaptured) {
  CUPEL_NEEDS_SAMPLE(capture, "nvbandwidth/dcgm_verboseFullOutput.json");
  const auto theirs = parse_json(capture);
  ASSERT_TRUE(theirs);
  Bench bench;
  const auto keys = [](const json::value& value) {
    std::set<std::string> names;
    for (const auto& entry : value.as_object()) names.emplace(entry.key());
    return names;
  };
  const auto& captured = theirs->at("nvbandwidth");

  const auto ours = bandwidths(bench, "-t host_to_device_memcpy_ce");

  const auto& reported = ours.at("nvbandwidth");
  EXPECT_EQ(keys(reported), keys(captured));
  EXPECT_EQ(keys(reported.at("testcases").at(0)), keys(captured.at("testcases").at(0)));
  EXPECT_EQ(text_at(reported, "testcases/0/status").value_or("Passed"), "Passed");
}

TEST(Nvbandwidth, AHealthyNodeIsAboveTheFloorsAndASlowLinkIsNot) {
  Bench healthy, sick{{{.kind = gpu_slow_link, .part = "gpu4", .width = 8}}};
  const auto row = [](const json::value& root) {
    std::vector<double> values;
    for (const auto& cell :
         root.at("nvbandwidth").at("testcases").at(0).at("bandwidth_matrix").at(0).as_array())
      values.push_back(number<double>(std::string_view{cell.as_string()}).value_or(0));
    return values;
  };

  const auto good = row(bandwidths(healthy, "-t host_to_device_memcpy_ce"));
  const auto bad = row(bandwidths(sick, "-t host_to_device_memcpy_ce"));

  ASSERT_THAT(good, SizeIs(8));
  EXPECT_THAT(good, Each(AllOf(Ge(48.0), Le(60.0))));
  ASSERT_THAT(bad, SizeIs(8));
  EXPECT_LT(bad[4], 32);
  EXPECT_GT(bad[3], 48);
}

TEST(Nvbandwidth, WhatItCannotTestIsWaivedAndWhatItDoesNotKnowNotFound) {
  Bench bench{{{.kind = mig_on, .part = "gpu0"}}};

  const auto text = bench.sh("nvbandwidth -t no_such_test").out;
  const auto option = bench.sh("nvbandwidth --frobnicate");

  EXPECT_THAT(text, HasSubstr("Not Found"));
  EXPECT_EQ(option.out, "ERROR: unrecognised option '--frobnicate'\n");
}

/// Names of the tests, and of those that failed.
std::pair<Texts, Texts> tests_of(const std::string& text) {
  std::pair<Texts, Texts> names;
  const auto root = parse_json(text);
  if (!root) return names;
  for (const auto& category : root->at("DCGM Diagnostic").at("test_categories").as_array())
    for (const auto& test : category.at("tests").as_array()) {
      names.first.emplace_back(test.at("name").as_string());
      if (test.at("test_summary").at("status").as_string() == "Fail")
        names.second.emplace_back(test.at("name").as_string());
    }
  return names;
}

TEST(Dcgmi, ALevelRunsItsTestsAndTakesTheirTime) {
  Bench bench;

  const auto quick = tests_of(bench.sh("dcgmi diag -r 1 -j").out);
  const auto middle = bench.clock.elapsed();
  const auto deep = bench.sh("dcgmi diag -r 3 -j");

  EXPECT_THAT(quick.first, ElementsAre("software"));
  EXPECT_THAT(tests_of(deep.out).first, Contains("diagnostic"));
  EXPECT_THAT(tests_of(deep.out).second, IsEmpty());
  EXPECT_EQ(deep.status, 0);
  EXPECT_GE((bench.clock.elapsed() - middle).count(), 300);
}

TEST(Dcgmi, FindsWhatTheRealOneFinds) {
  Bench wrong{{{.kind = gpu_wrong_results, .part = "gpu3"}}};
  Bench slow{{{.kind = gpu_slow_memory, .part = "gpu3", .amount = 0.6}}};
  Bench capped{{{.kind = gpu_power_capped, .part = "gpu3", .amount = 300}}};

  EXPECT_THAT(tests_of(wrong.sh("dcgmi diag -r 3 -j").out).second, Contains("diagnostic"));
  EXPECT_THAT(tests_of(slow.sh("dcgmi diag -r 3 -j").out).second, Contains("memory_bandwidth"));
  EXPECT_THAT(tests_of(capped.sh("dcgmi diag -r 3 -j").out).second, Contains("targeted_power"));
}

TEST(Dcgmi, LevelTwoPassesWithALinkDownAsTheRealOneDoes) {
  Bench bench{{{.kind = nvlink_down, .part = "gpu3"}}};

  const auto found = tests_of(bench.sh("dcgmi diag -r 2 -j").out);

  EXPECT_THAT(found.second, IsEmpty());  // NVIDIA/DCGM#198
}

TEST(GpuLoad, HeatsTheGpuDrawsPowerAndShowsInAnotherTool) {
  Bench bench{{}, 500};  // what is looked at while it runs must not be over after 10 ms of ours
  const std::string ask =
      "nvidia-smi -i 0 --query-gpu=power.draw,utilization.gpu,temperature.gpu "
      "--format=csv,noheader,nounits";

  const auto quiet = bench.sh(ask).out;
  const auto idle = split(quiet, ',');
  const auto busy_text =
      bench
          .sh("dcgmi diag -r diagnostic -j > /dev/null & sleep 100; " + ask +
              "; nvidia-smi --query-compute-apps=process_name --format=csv,noheader -i 0; wait")
          .out;
  const auto lines = lines_of(busy_text);

  ASSERT_GE(lines.size(), 2u);
  const auto busy = split(lines[0], ',');
  EXPECT_GT(number<double>(trimmed(busy[0])).value_or(0), 500);
  EXPECT_EQ(number<double>(trimmed(busy[1])), 100);
  EXPECT_GT(number<double>(trimmed(busy[2])).value_or(0), 45);
  EXPECT_THAT(lines[1], HasSubstr("nvvs"));
  EXPECT_THAT(idle, SizeIs(3));
}

TEST(GpuLoad, EndsWithTheProcessThatIsKilled) {
  Bench bench{{}, 500};  // what is looked at while it runs must not be over after 10 ms of ours

  bench.sh("dcgmi diag -r diagnostic -j & sleep 20; kill -9 $!; wait");

  EXPECT_EQ(bench.machine.physics().gpu(0).utilisation, 0);
  EXPECT_EQ(bench.sh("nvidia-smi --query-compute-apps=pid --format=csv,noheader").out, "");
}

}  // namespace
}  // namespace cupel::rehearsal
