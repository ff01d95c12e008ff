#include <gmock/gmock.h>

#include "tests/burnin/drive_texts.h"
#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/stages.h"
#include "tests/support/samples.h"

namespace cupel::burnin {
namespace {
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kHead =
    "cupel-asked-bytes: 16777216\ncupel-asked-seconds: 1\ncupel-direct: 1\n";

std::string output(std::string verify_error = "0", std::string verified = "16777216") {
  std::string text{kHead};
  text += "fio: a warning\n";
  text += R"({
  "fio version" : "fio-3.33",
  "jobs" : [
    {"jobname": "write", "error": 0, "write": {"io_bytes": 2990538752, "bw_bytes": 2984569612,
     "runtime": 1002, "clat_ns": {"percentile": {"99.000000": 2211840}}}},
    {"jobname": "verify", "error": @error@, "total_err": 0,
     "read": {"io_bytes": @verified@}, "write": {"io_bytes": 16777216}},
    {"jobname": "read", "error": 0, "read": {"io_bytes": 1174405120, "bw_bytes": 1173231888,
     "runtime": 1001, "lat_ns": {"percentile": {"99.000000": 5079040}}}}
  ]
}
fio: another one
)";
  text = replaced(text, "@error@", verify_error);
  return replaced(text, "@verified@", verified);
}

TEST(Disk, ReadsErrorsAndSpeedsAmongWarnings) {
  const auto found = parsed("disk", output());

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->measurements,
            (std::vector<Measurement>{{"disk.errors", "", 0, "errors"},
                                      {"disk.write.bandwidth", "", 2.984569612, "GB/s"},
                                      {"disk.write.latency.p99", "", 2211.84, "us"},
                                      {"disk.read.bandwidth", "", 1.173231888, "GB/s"},
                                      {"disk.read.latency.p99", "", 5079.04, "us"}}));
  EXPECT_THAT(found->unknown, IsEmpty());
}

TEST(Disk, NamesTheDriveUnderTheFolderWhereThereIsOnlyOne) {
  const auto on = [](const std::string& devices) {
    const auto text = replaced(output(), "  ]\n}", "  ],\n  \"disk_util\": [" + devices + "]\n}");
    const auto found = parsed("disk", text);
    if (!found || found->measurements.empty()) return std::string{"nothing"};
    return found->measurements.front().traced_to;
  };

  EXPECT_EQ(on(R"({"name": "nvme0n1", "util": 99.8})"), "nvme0");
  EXPECT_EQ(on(R"({"name": "nvme12n1"})"), "nvme12");
  EXPECT_EQ(on(R"({"name": "sda"})"), "sda");
  EXPECT_EQ(on(R"({"name": "dm-0", "aggr_read_ios": 7}, {"name": "nvme2n1"})"), "nvme2");
  EXPECT_EQ(on(R"({"name": "md0", "aggr_read_ios": 7}, {"name": "sda"}, {"name": "sdb"})"), "");
  EXPECT_EQ(on(R"({"name": 7}, "no device")"), "");
  EXPECT_EQ(on(""), "");
}

TEST(Disk, ReadsTheDriveOfARealReport) {
  CUPEL_NEEDS_SAMPLE(capture, "fio/fio_randrw_nvme.json");

  const auto theirs = parse_json(capture);
  ASSERT_TRUE(theirs);

  const auto text =
      replaced(output(), "  ]\n}",
               "  ],\n  \"disk_util\": " + json::serialize(theirs->at("disk_util")) + "\n}");
  const auto found = parsed("disk", text);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->measurements.front().traced_to, "nvme0");
}

TEST(Disk, CountsABlockThatCameBackWrong) {
  const auto found = parsed("disk", output("84", "4194304"), 1);

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "disk.errors"), 1);
}

TEST(Disk, ProvesNothingWhereFioDidNotDoItsWork) {
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {output("28"), "No space left"},
           {output("0", "8388608"), "verified 8 MiB of 16 MiB"},
           {std::string{kHead} + "fio: pid=0, err=22\n",
            "fio reported nothing: fio: pid=0, err=22"},
           {"", "not started"},
           {"cupel-gave-up: not enough space in /x: 9 KiB needed, '3' KiB free\n",
            "not enough space"}}) {
    const auto found = parsed("disk", text);
    ASSERT_FALSE(found) << why;
    EXPECT_EQ(found.error().code, Code::kNoMeasurement);
    EXPECT_THAT(found.error().what, HasSubstr(why));
  }
  const auto cut = parsed("disk", output().substr(0, 300));
  EXPECT_EQ(cut.error().code, Code::kMalformed);
}

TEST(Disk, TakesThePageCachesSpeedForNoDrives) {
  const auto found = parsed("disk", replaced(output(), "cupel-direct: 1", "cupel-direct: 0"));

  ASSERT_TRUE(found);
  EXPECT_EQ(found->measurements.size(), 1);
  EXPECT_TRUE(says_unknown(*found, "disk.read.bandwidth"));
  EXPECT_TRUE(says_unknown(*found, "disk.write.bandwidth"));
}

TEST(Disk, DoesNotTakeAnotherRunOfFioForItsOwn) {
  CUPEL_NEEDS_SAMPLE(text, "fio/fio_randrw_nvme.json");

  const auto found = parsed("disk", std::string{kHead} + text);

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kNoMeasurement);
  EXPECT_THAT(found.error().what, HasSubstr("nothing of the verification"));
}

TEST(Disk, RefusesWhatCannotBeMeant) {
  for (const auto& [with, why] : std::vector<std::pair<Parameters, std::string>>{
           {{{"directory", "tmp"}}, "directory must be an absolute path"},
           {{{"directory", "/tmp/$(reboot)"}}, "directory"},
           {{{"directory", "/tmp/a'b"}}, "directory"},
           {{{"directory", "/tmp/a\"b"}}, "directory"},
           {{{"directory", "/tmp/a b"}}, "directory"},
           {{{"directory", "/tmp/a\nb"}}, "directory"},
           {{{"directory", "/tmp/../etc"}}, "directory"},
           {{{"directory", "/"}}, "directory"},
           {{{"size", "1MiB"}}, "size must be a size of 16 MiB to 16 TiB, not '1MiB'"},
           {{{"size", "much"}}, "size"},
           {{{"runtime", "0s"}}, "runtime must be a duration of 1s to 24h, not '0s'"}}) {
    const auto job = prepared("disk", with);
    ASSERT_FALSE(job) << why;
    EXPECT_EQ(job.error().code, Code::kInvalid);
    EXPECT_THAT(job.error().what, HasSubstr(why));
  }
}

/// The same as cupel-node prints it.
std::string agent_output(const std::string& text) {
  const auto direct = text.contains("cupel-direct: 1") ? 1.0 : 0.0;
  return agent_text("disk", asked_line("bytes", 16777216) + asked_line("seconds", 1) +
                                asked_line("direct", direct) +
                                evidence_line("fio", text.substr(kHead.size())));
}

TEST(Disk, ReadsInWhatCupelNodePrintsTheSameAsInTheScriptsOutput) {
  for (const auto& text :
       {output(), output("84", "4194304"), output("28"), output("0", "8388608"),
        output().substr(0, 300), std::string{kHead} + "fio: pid=0, err=22\n",
        replaced(output(), "cupel-direct: 1", "cupel-direct: 0"),
        replaced(output(), "  ]\n}", "  ],\n  \"disk_util\": [{\"name\": \"sda\"}]\n}")}) {
    const auto script = parsed("disk", text), agent = parsed("disk", agent_output(text));
    ASSERT_EQ(script.has_value(), agent.has_value()) << text;
    if (script) {
      EXPECT_EQ(script->measurements, agent->measurements);
      EXPECT_EQ(script->unknown.size(), agent->unknown.size());
    } else {
      EXPECT_EQ(script.error().code, agent.error().code);
      EXPECT_EQ(script.error().what, agent.error().what);
    }
  }
}

TEST(Disk, ProvesNothingByWhatCupelNodeCutOrLeftOut) {
  const auto whole = agent_output(output());

  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {replaced(whole, R"("cut":false)", R"("cut":true)"), "more than cupel-node keeps"},
           {replaced(whole, R"("name":"fio")", R"("name":"dd")"), "fio was not started"},
           {replaced(whole, R"("name":"bytes")", R"("name":"words")"), "fio was not started"},
           {replaced(whole, R"("kind":"done")", R"("kind":"end")"), "has no end"}}) {
    const auto found = parsed("disk", text);
    ASSERT_FALSE(found) << why;
    EXPECT_EQ(found.error().code, Code::kNoMeasurement);
    EXPECT_THAT(found.error().what, HasSubstr(why));
  }
}

}  // namespace
}  // namespace cupel::burnin
