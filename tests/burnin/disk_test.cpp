#include <gmock/gmock.h>

#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/stages.h"
#include "tests/support/real_part.h"
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

Parameters small(const std::filesystem::path& folder) {
  return {{"directory", folder.string()}, {"size", "16MiB"}, {"runtime", "1s"}};
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

TEST(Disk, MeasuresThisMachinesDriveAndLeavesNothingBehind) {
  CUPEL_NEEDS_REAL_PART(installed("fio"), "fio is not installed");
  const test::TemporaryFolder folder;

  const auto output = run_script(prepared("disk", small(folder.path()))->script);

  const auto found = parsed("disk", output);
  ASSERT_TRUE(found) << found.error().what << "\n" << output.text << output.errors;
  EXPECT_EQ(value_of(*found, "disk.errors"), 0);
  if (output.text.contains("cupel-direct: 1")) {
    EXPECT_GT(value_of(*found, "disk.write.bandwidth").value_or(0), 0.001);
    EXPECT_GT(value_of(*found, "disk.read.bandwidth").value_or(0), 0.001);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Disk, GoesWithoutDirectIoWhereItIsRefused) {
  CUPEL_NEEDS_REAL_PART(installed("fio"), "fio is not installed");
  const test::TemporaryFolder folder;

  const auto output =
      run_script(prepared("disk", small(folder.path()))->script, "dd() { return 1; }\n");

  const auto found = parsed("disk", output);
  ASSERT_TRUE(found) << found.error().what << "\n" << output.text << output.errors;
  EXPECT_EQ(value_of(*found, "disk.errors"), 0);
  EXPECT_TRUE(says_unknown(*found, "disk.read.bandwidth"));
}

TEST(Disk, FindsABlockThatFioReadsBackWrong) {
  CUPEL_NEEDS_REAL_PART(installed("fio"), "fio is not installed");
  const test::TemporaryFolder folder;
  // Between writing and verifying, somebody scribbles over the file.
  auto script = prepared("disk", small(folder.path()))->script;
  script = replaced(script, "--do_verify=1",
                    "--do_verify=0 --verify_state_save=0 --name=scribble --stonewall --rw=write "
                    "--io_size=4194304 "
                    "--name=again --stonewall --rw=read --verify=crc32c --verify_state_save=0 "
                    "--continue_on_error=verify");
  script = replaced(script, "--name=verify", "--name=before");
  script = replaced(script, "--name=again", "--name=verify");

  const auto output = run_script(script);

  const auto found = parsed("disk", output);
  ASSERT_TRUE(found) << found.error().what << "\n" << output.text << output.errors;
  EXPECT_GE(value_of(*found, "disk.errors").value_or(0), 1);
}

TEST(Disk, SaysThatThereIsNotEnoughSpace) {
  CUPEL_NEEDS_REAL_PART(installed("fio"), "fio is not installed");
  const test::TemporaryFolder folder;
  auto with = small(folder.path());
  with["size"] = "16TiB";

  const auto output = run_script(prepared("disk", with)->script);

  const auto found = parsed("disk", output);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kNoMeasurement);
  EXPECT_THAT(found.error().what, HasSubstr("not enough space"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Disk, DoesNotTakeMemoryForADrive) {
  CUPEL_NEEDS_REAL_PART(installed("fio"), "fio is not installed");
  CUPEL_NEEDS_REAL_PART(std::filesystem::is_directory("/dev/shm"), "no /dev/shm");

  const auto output = run_script(prepared("disk", small("/dev/shm"))->script);

  const auto found = parsed("disk", output);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().what, HasSubstr("tmpfs"));
}

TEST(Disk, LeavesNothingBehindWhenItIsEnded) {
  CUPEL_NEEDS_REAL_PART(installed("fio"), "fio is not installed");
  const test::TemporaryFolder folder;
  auto with = small(folder.path());
  with["runtime"] = "30s";
  const auto script = prepared("disk", with)->script;

  const auto output = run_script("timeout 2 sh -c " + shell_quoted(script) + "\n");

  EXPECT_EQ(output.exit_status, 124);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace cupel::burnin
