// The stages nvme and storage: what their parsers make of what was printed.
#include <gmock/gmock.h>

#include "tests/burnin/drive_texts.h"
#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {
using ::testing::HasSubstr;

std::string why(const Result<Findings>& found) {
  return found ? std::string{"found something"} : found.error().what;
}

std::string why_not_burned(const Result<Findings>& found) {
  if (!found) return found.error().what;
  for (const auto& each : found->measurements)
    if (each.name == "nvme.burned" && each.value == 0) return each.part + ": " + each.traced_to;
  return "all were burned";
}

TEST(Nvme, GivesAnArraysErrorsToNoOneDrive) {
  const auto good = parsed("nvme", nvme_text("0"));
  const auto bad = parsed("nvme", nvme_text("84"));
  const auto idle =
      parsed("nvme", replaced(nvme_text("0"), "\"name\": \"nvme1n1\", \"read_ios\": 9",
                              "\"name\": \"nvme1n1\", \"read_ios\": 0"));

  ASSERT_TRUE(good && bad) << why(good) << why(bad);
  EXPECT_EQ(value_of(*good, "nvme.errors", "nvme0"), 0);
  EXPECT_EQ(value_of(*good, "nvme.errors", "nvme1"), 0);
  EXPECT_EQ(value_of(*good, "nvme.write.bandwidth", "nvme0+nvme1"), 2.984569612);
  EXPECT_EQ(value_of(*good, "nvme.media_errors.new", "nvme1"), 2);
  EXPECT_EQ(value_of(*bad, "nvme.errors", "nvme0+nvme1"), 1);
  EXPECT_EQ(value_of(*bad, "nvme.errors", "nvme1"), std::nullopt);
  EXPECT_THAT(why_not_burned(idle), HasSubstr("fio did not see nvme1 of nvme0+nvme1 work"));
}

TEST(Nvme, ReadsInWhatCupelNodePrintsTheSameAsInTheScriptsOutput) {
  for (const auto* error : {"0", "84", "28"}) {
    const auto script = parsed("nvme", nvme_text(error)),
               agent = parsed("nvme", nvme_agent_text(error));

    ASSERT_TRUE(script && agent) << why(script) << why(agent);
    EXPECT_EQ(agent->measurements, script->measurements);
    EXPECT_EQ(agent->unknown.size(), script->unknown.size());
  }
}

TEST(Nvme, SaysWhichDriveWasNotWrittenAndWhy) {
  const std::string good = nvme_agent_text("0");
  const auto with = [&](const std::string& line) {
    return parsed("nvme", replaced(good, R"({"kind":"done")", line + R"({"kind":"done")"));
  };
  // Longer than a name may be: its end is what counts.
  const auto blkid = "blkid finds on it: LABEL=\"" + std::string(200, 'x') +
                     "\" TYPE=\"ext4\" USAGE=\"filesystem\"\n";

  const auto held = with(evidence_line("untested", blkid, "nvme7"));
  const auto aside = with(evidence_line("aside", "it is held by md0", "nvme7"));
  const auto full =
      with(evidence_line("short", "not enough space in /raid: 9 KiB needed", "/raid"));

  EXPECT_EQ(why_not_burned(held), "nvme7: it holds a file system (ext4)");
  EXPECT_EQ(why_not_burned(aside), "all were burned");
  EXPECT_TRUE(says_unknown(*aside, "nvme7"));
  EXPECT_THAT(why_not_burned(full), HasSubstr("not enough space in /raid"));
  EXPECT_THAT(why(stage("nvme")->parse(
                  inventory::Profile{},
                  Output{replaced(good, R"({"kind":"done")",
                                  evidence_line("untested", blkid, "nvme7") + R"({"kind":"done")"),
                         "", 0})),
              HasSubstr("nvme7 was not tested: "));
}

TEST(Nvme, ProvesNothingByWhatCupelNodeCutOrLeftOut) {
  const auto whole = nvme_agent_text("0");

  EXPECT_THAT(why(parsed("nvme", replaced(whole, R"("cut":false)", R"("cut":true)"))),
              HasSubstr("cut short"));
  EXPECT_THAT(why(parsed("nvme", replaced(whole, R"("many-in-flight")", R"("x")"))),
              HasSubstr("fio was not started"));
  EXPECT_THAT(why(parsed("nvme", replaced(whole, R"("name":"fio")", R"("name":"x")"))),
              HasSubstr("no file system of an NVMe drive is mounted"));
}

TEST(Nvme, OfAMachineWithoutAnyIsAFaultOnlyWhereItsProfileExpectsSome) {
  auto without = profile();
  std::erase_if(without.parts,
                [](const auto& each) { return each.kind == inventory::PartKind::nvme; });

  for (const auto& text :
       {std::string{"cupel-gave-up: the node has no NVMe drive\n"},
        agent_text("nvme", R"({"kind":"gave-up","why":"the node has no NVMe drive"})"
                           "\n")}) {
    const auto expected = parsed("nvme", text);
    const auto unexpected = stage("nvme")->parse(without, Output{text, "", 0});

    EXPECT_EQ(why(expected), "the node has no NVMe drive");
    ASSERT_TRUE(unexpected) << why(unexpected);
    EXPECT_TRUE(unexpected->measurements.empty());
    ASSERT_EQ(unexpected->unknown.size(), 1u);
    EXPECT_EQ(unexpected->unknown[0].fact, "NVMe drives");
  }
}

TEST(Nvme, AndStorageRefuseWhatCannotBeMeant) {
  for (const auto& [name, with, reason] :
       std::vector<std::tuple<std::string, Parameters, std::string>>{
           {"nvme",
            {{"drives", "sda"}},
            "drives must be all, or names like nvme0,nvme1, not 'sda'"},
           {"nvme", {{"drives", "nvme0; reboot"}}, "drives"},
           {"nvme", {{"drives", ""}}, "drives"},
           {"nvme", {{"raw", "maybe"}}, "raw must be no, yes or force, not 'maybe'"},
           {"nvme", {{"raw", "force"}}, "raw: force overwrites what drives hold: name them"},
           {"nvme", {{"size", "1MiB"}}, "size must be"},
           {"nvme", {{"runtime", "0s"}}, "runtime must be"},
           {"storage", {{"type", "lustre"}}, "directory must be an absolute path"},
           {"storage", {{"directory", "/s"}}, "type must be the file system's"},
           {"storage", {{"directory", "/s"}, {"type", "a b"}}, "type must be"}}) {
    const auto job = prepared(name, with);
    ASSERT_FALSE(job) << reason;
    EXPECT_EQ(job.error().code, Code::kInvalid);
    EXPECT_THAT(job.error().what, HasSubstr(reason));
  }
}

TEST(Storage, ReadsInWhatCupelNodePrintsTheSameAsInTheScriptsOutput) {
  const auto script = parsed("storage", storage_text()),
             agent = parsed("storage", storage_agent_text());

  ASSERT_TRUE(script && agent) << why(script) << why(agent);
  EXPECT_THAT(agent->measurements, ::testing::UnorderedElementsAreArray(script->measurements));
  EXPECT_EQ(agent->facts, script->facts);
  EXPECT_TRUE(agent->unknown.empty());
}

TEST(Storage, ProvesNothingByWhatCupelNodeCutOrLeftOut) {
  const auto whole = storage_agent_text();

  for (const auto& [text, reason] : std::vector<std::pair<std::string, std::string>>{
           {replaced(whole, R"("name":"fio")", R"("name":"x")"), "did not come to its end"},
           {replaced(whole, R"("cut":false)", R"("cut":true)"), "fio reported nothing"},
           {replaced(whole, R"("name":"mount")", R"("name":"x")"), "the mount is not reported"},
           {replaced(whole, R"("name":"seconds")", R"("name":"x")"), "fio was not started"}})
    EXPECT_THAT(why(parsed("storage", text)), HasSubstr(reason));
  EXPECT_TRUE(says_unknown(
      *parsed("storage", replaced(whole, R"("direct","value":1)", R"("direct","value":0)")),
      "storage.read.bandwidth"));
}

TEST(Storage, ProvesNothingWithoutAWholeReport) {
  const auto text = storage_text();
  ASSERT_TRUE(parsed("storage", text)) << why(parsed("storage", text));

  EXPECT_THAT(why(parsed("storage", replaced(text, "cupel-all-told", ""))),
              HasSubstr("did not come to its end"));
  EXPECT_THAT(why(parsed("storage", replaced(text, "\"verify\"", "\"other\""))),
              HasSubstr("nothing of the verification"));
  EXPECT_THAT(why(parsed("storage", replaced(text, "cupel-mounted: ", ""))),
              HasSubstr("the mount is not reported"));
  EXPECT_TRUE(says_unknown(*parsed("storage", replaced(text, "cupel-direct: 1", "cupel-direct: 0")),
                           "storage.read.bandwidth"));
}

}  // namespace
}  // namespace cupel::burnin
