// What the controller makes of the stage sanitize: it holds what cupel-node reports against the raw
// output of the drive's own tools.
#include <gmock/gmock.h>

#include "burnin/disk/media.h"
#include "burnin/disk/sanitize_log.h"
#include "tests/burnin/agent_order.h"
#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

using ::testing::HasSubstr;

std::string evidence(const std::string& name, const std::string& part, const std::string& out,
                     int status = 0) {
  return json::serialize(json::object{{"kind", "evidence"},
                                      {"name", name},
                                      {"part", part},
                                      {"status", status},
                                      {"cut", false},
                                      {"out", out}}) +
         "\n";
}

std::string log_text(const std::string& status, const std::string& command) {
  return "Sanitize Progress                      (SPROG) :  65535\n"
         "Sanitize Status                        (SSTAT) :  " +
         status + "\nSanitize Command Dword 10 Information (SCDW10) :  " + command + "\n";
}

std::string medium_text(const std::string& result, const std::string& technique,
                        const std::string& why = "") {
  return json::serialize(json::object{{"serial", "S64H0001"},
                                      {"model", "MZQL2"},
                                      {"technique", technique},
                                      {"result", result},
                                      {"verification", "sanitize log: completed"},
                                      {"why", why}});
}

Result<Findings> read(const std::string& lines, const std::string& profile_name = "cpu-server") {
  const auto text = R"({"kind":"stage","stage":"sanitize","protocol":1})"
                    "\n" +
                    lines +
                    R"({"kind":"asked","name":"all","value":1})"
                    "\n"
                    R"({"kind":"asked","name":"erase","value":1})"
                    "\n"
                    R"({"kind":"done","status":0})"
                    "\n";
  return stage("sanitize")->parse(profile(profile_name), {text, "", 0});
}

std::string outcome(const Result<Findings>& found, const std::string& part = "nvme0") {
  if (!found) return found.error().what;
  for (const auto& each : found->measurements)
    if (each.name == "nvme.sanitized" && each.part == part)
      return each.value == 1 ? "erased" : each.traced_to;
  return "nothing";
}

constexpr const char* kCrypto = "sanitize cryptographic erase";

TEST(SanitizeFindings, AreAnEraseOnlyWhereTheDrivesOwnLogReportsIt) {
  const auto medium = evidence("medium", "nvme0", medium_text("erased", kCrypto));
  const auto with = [&](const std::string& status, const std::string& command) {
    return outcome(read(evidence("sanitize-log-before", "nvme0", log_text("0", "0")) +
                        evidence("sanitize-log", "nvme0", log_text(status, command)) + medium));
  };

  EXPECT_EQ(with("0x101", "0x4"), "erased");
  EXPECT_EQ(with("0x1", "0x84"), "erased");
  for (const auto* status : {"0x2", "0x3", "0", "0x5"})
    EXPECT_THAT(with(status, "0x4"), HasSubstr("does not report that erase as completed"));
  EXPECT_THAT(with("0x101", "0x2"), HasSubstr("does not report that erase as completed"));
  EXPECT_EQ(outcome(read(medium)), "its sanitize log was not read");
  EXPECT_EQ(outcome(read(evidence("sanitize-log", "nvme1", log_text("0x101", "0x4")) + medium)),
            "its sanitize log was not read");
}

TEST(SanitizeFindings, AreNoEraseWhereTheLogMayBeThatOfAnEarlierOne) {
  const auto log = evidence("sanitize-log", "nvme0", log_text("0x1", "0x4")) +
                   evidence("medium", "nvme0", medium_text("erased", kCrypto));
  const auto before = evidence("sanitize-log-before", "nvme0", log_text("0x1", "0x4"));
  const auto running = evidence("sanitize-log-running", "nvme0", log_text("0x2", "0x4"));

  EXPECT_EQ(outcome(read(log)), "its sanitize log may be that of an earlier erase");
  EXPECT_EQ(outcome(read(before + log)), "its sanitize log may be that of an earlier erase");
  EXPECT_EQ(value_of(*read(before + log), "nvme.sanitize.failed", "nvme0"), std::nullopt)
      << "nothing is known against the drive";
  EXPECT_EQ(outcome(read(before + running + log)), "erased");
}

TEST(SanitizeFindings, OfAFormatNeedItsToolsSuccess) {
  const auto medium = evidence("medium", "nvme0", medium_text("erased", "format user data erase"));

  EXPECT_EQ(outcome(read(evidence("format", "nvme0", "Success") + medium)), "erased");
  EXPECT_THAT(outcome(read(evidence("format", "nvme0", "Success") +
                           evidence("format", "nvme0", "NVMe status: x", 1) + medium)),
              HasSubstr("nvme format failed"));
  EXPECT_EQ(outcome(read(medium)), "no nvme format of it was run");
}

TEST(SanitizeFindings, OfAnUnknownTechniqueAreNoErase) {
  EXPECT_EQ(outcome(read(evidence("medium", "nvme0", medium_text("erased", "dd")))),
            "it was erased in an unknown way");
  EXPECT_EQ(outcome(read(evidence("medium", "nvme0", medium_text("perfect", kCrypto)))),
            "no erase of it was seen to end");
}

TEST(SanitizeFindings, CountDrivesThatAreGoneAsNotErased) {
  const auto one = evidence("sanitize-log", "nvme0", log_text("0x101", "0x4")) +
                   evidence("medium", "nvme0", medium_text("erased", kCrypto));

  const auto found = read(one, "dgx-h100");

  EXPECT_EQ(outcome(found), "erased");
  EXPECT_THAT(outcome(found, "nvme"), HasSubstr("the node has 1 of the 10 drives"));
}

TEST(SanitizeFindings, AreInTheRecordByTheSerialNumber) {
  const auto found = read(evidence("sanitize-log", "nvme0", log_text("0x101", "0x4")) +
                          evidence("medium", "nvme0", medium_text("erased", kCrypto)));
  ASSERT_TRUE(found) << found.error().what;

  const auto media = media_in({found->facts.begin(), found->facts.end()});

  ASSERT_EQ(media.size(), 1u);
  EXPECT_EQ(media[0], (ErasedMedium{.serial = "S64H0001",
                                    .drive = "nvme0",
                                    .model = "MZQL2",
                                    .result = "erased",
                                    .method = "Purge",
                                    .technique = kCrypto,
                                    .tool = "nvme sanitize --sanact=4",
                                    .verification = "sanitize log: completed"}));
}

TEST(SanitizeFindings, OfADriveWithoutASerialNumberAreNoErase) {
  for (const std::string serial : {"", "NA", "0000000000"}) {
    auto medium = medium_text("erased", kCrypto);
    medium.replace(medium.find("S64H0001"), 8, serial);

    const auto found = read(evidence("sanitize-log", "nvme0", log_text("0x101", "0x4")) +
                            evidence("medium", "nvme0", medium));

    EXPECT_EQ(outcome(found), "it reports no serial number, by which the record would name it");
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->facts.contains("media.not reported by nvme0")) << serial;
  }
}

TEST(SanitizeLog, IsReadWholeOrNotAtAll) {
  const auto log = read_sanitize_log(log_text("0x102", "0x4"));

  ASSERT_TRUE(log);
  EXPECT_EQ(log->state(), SanitizeLog::kRunning);
  EXPECT_TRUE(log->is_untouched());
  EXPECT_EQ(log->action(), 4u);
  EXPECT_EQ(read_sanitize_log(log_text("0", "0"))->state(), SanitizeLog::kNever);
  for (const auto* status : {"", "0x", "x", "-1", "0x10000", "99999999999", "1.5"})
    EXPECT_FALSE(read_sanitize_log(log_text(status, "0x4"))) << status;
  EXPECT_FALSE(read_sanitize_log("Sanitize Status (SSTAT) :  0x101\n"));
}

TEST(SanitizeOrder, SaysWhatItTakes) {
  const auto why = [](const Parameters& with) {
    const auto job = prepared("sanitize", with);
    return job ? std::string{"taken"} : std::string{job.error().what};
  };

  EXPECT_EQ(order_in(prepared("sanitize")->script).at("erase"), false);
  const auto job = prepared("sanitize", {{"erase", "yes"}, {"drives", "nvme1,nvme2"}});
  ASSERT_TRUE(job) << job.error().what;
  EXPECT_EQ(order_in(job->script).at("erase"), true);
  EXPECT_EQ(order_in(job->script).at("drives").as_array().size(), 2u);
  EXPECT_THAT(why({{"erase", "maybe"}}), HasSubstr("erase"));
  EXPECT_THAT(why({{"drives", "sda"}}), HasSubstr("drives must be all, or names like"));
  EXPECT_THAT(why({{"skip", ""}}), HasSubstr("skip must be no, or a reason"));
  EXPECT_THAT(why({{"skip", std::string(201, 'x')}}), HasSubstr("skip must be no, or a reason"));
  EXPECT_EQ(why({{"skip", "RMA 4711"}, {"erase", "yes"}}),
            "say erase: yes or a reason to skip it, not both");
}

}  // namespace
}  // namespace cupel::burnin
