// A real `nvidia-smi -q -x` with one field changed: each becomes a number of its GPU, and fails it.
#include <gmock/gmock.h>

#include "burnin/criteria/judge.h"
#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/stages.h"
#include "tests/support/samples.h"

namespace cupel::burnin {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

constexpr auto kA100 = "nvidia-smi-xml/a100-sxm4-v12.xml";

/// Each of the eight GPUs with an identity of its own, and a histogram of spare rows.
std::string whole(const std::string& capture) {
  return replaced(eight(capture), "<remapped_row_failure>No</remapped_row_failure>",
                  "<remapped_row_failure>No</remapped_row_failure><row_remapper_histogram>"
                  "<row_remapper_histogram_low>0 bank(s)</row_remapper_histogram_low>"
                  "<row_remapper_histogram_none>0 bank(s)</row_remapper_histogram_none>"
                  "</row_remapper_histogram>");
}

/// Of the fourth GPU alone.
std::string changed(const std::string& text, std::string_view from, std::string_view to) {
  auto begin = text.find("<gpu id=");
  for (int i = 0; i < 3; ++i) begin = text.find("<gpu id=", begin + 1);
  const auto end = text.find("</gpu>", begin);
  const auto gpu = text.substr(begin, end - begin);
  EXPECT_TRUE(gpu.find(from) != gpu.npos) << from;
  return text.substr(0, begin) + replaced(gpu, from, to) + text.substr(end);
}

std::vector<std::string> failed(const std::string& text) {
  const auto found = parsed("gpu-facts", text);
  if (!found) return {found.error().what};
  std::vector<std::string> all;
  for (const auto& each : judge(profile("a100-8"), {"gpu-facts"}, {{"gpu-facts", *found}}))
    if (each.met == Met::failed) all.push_back(each.part + " " + each.measure);
  return all;
}

struct Change {
  const char* from;
  const char* to;
  const char* measure;
};

TEST(GpuCondition, OfOneFieldThatIsWrongFailsItsGpu) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  const auto text = whole(capture);
  ASSERT_THAT(failed(text), IsEmpty());

  for (const auto& [from, to, measure] : std::initializer_list<Change>{
           {"<dram_correctable>0", "<dram_correctable>500000", "gpu.ecc.corrected"},
           {"<sram_correctable>0", "<sram_correctable>4000", "gpu.ecc.sram_corrected"},
           {"<remapped_row_unc>0", "<remapped_row_unc>11", "gpu.remap.uncorrected"},
           {"<remapped_row_corr>0", "<remapped_row_corr>8", "gpu.remap.corrected"},
           {"histogram_none>0 bank", "histogram_none>3 bank", "gpu.remap.banks.none"},
           {"histogram_low>0 bank", "histogram_low>5 bank", "gpu.remap.banks.low"},
           {"<pending_ecc>Enabled", "<pending_ecc>Disabled", "gpu.mode.pending"},
           {"<pending_mig>Disabled", "<pending_mig>Enabled", "gpu.mode.pending"},
           {"<compute_mode>Default", "<compute_mode>Prohibited", "gpu.compute_mode.shared"},
           {"<compute_mode>Default", "<compute_mode>Exclusive_Process", "gpu.compute_mode.shared"},
           {"rollover_counter>0", "rollover_counter>3", "gpu.pcie.replay_rollovers"},
           {"brake_slowdown>Not Active", "brake_slowdown>Active", "gpu.slowdown.at_rest"},
           {"_hw_slowdown>Not Active", "_hw_slowdown>Active", "gpu.slowdown.at_rest"},
           {"hw_thermal_slowdown>Not Active", "hw_thermal_slowdown>Active", "gpu.slowdown.at_rest"},
           {"3</uuid>", "2</uuid>", "gpu.unique"},
           {"3</serial>", "2</serial>", "gpu.unique"}})
    EXPECT_THAT(failed(changed(text, from, to)), Contains("gpu3 " + std::string{measure})) << to;
}

TEST(GpuCondition, ThatWaitsForAResetOrCannotBeRepairedFailsUnderEachName) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  const auto text = whole(capture);

  for (const auto& [from, to, measure] : std::initializer_list<Change>{
           {"recommended>No", "recommended>Yes", "gpu.reset_required"},
           {"</ecc_errors>", "<channel_repair_pending>Yes</channel_repair_pending></ecc_errors>",
            "gpu.remap.pending"},
           {"</ecc_errors>", "<tpc_repair_pending>Yes</tpc_repair_pending></ecc_errors>",
            "gpu.remap.pending"},
           {"</ecc_errors>", "<unrepairable_memory>Yes</unrepairable_memory></ecc_errors>",
            "gpu.remap.failed"}})
    EXPECT_THAT(failed(changed(text, from, to)), Contains("gpu3 " + std::string{measure})) << to;
  EXPECT_THAT(failed(changed(text, "</ecc_errors>",
                             "<channel_repair_pending>No</channel_repair_pending></ecc_errors>")),
              IsEmpty());
}

TEST(GpuCondition, OfItsWholeLifeCountsUncorrectedErrors) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  const auto text = whole(capture);
  const auto aggregate = [&](const std::string& counter, const std::string& count) {
    auto begin = text.find("<gpu id=");
    for (int i = 0; i < 3; ++i) begin = text.find("<gpu id=", begin + 1);
    auto worse = text;
    const auto at = worse.find("<" + counter + ">0", worse.find("<aggregate>", begin));
    return worse.replace(at, counter.size() + 3, "<" + counter + ">" + count);
  };

  EXPECT_THAT(failed(aggregate("dram_uncorrectable", "9")),
              Contains("gpu3 gpu.ecc.uncorrected.lifetime"));
  EXPECT_THAT(failed(aggregate("sram_uncorrectable", "2")),
              Contains("gpu3 gpu.ecc.sram_uncorrected.lifetime"));
}

TEST(GpuCondition, ReadsTheWarningOfADamagedInforom) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  const auto text = whole(capture);

  const auto found = failed(text + "WARNING: infoROM is corrupted at gpu 0000:4E:00.0\n");

  EXPECT_THAT(found, Contains("gpu3 gpu.inforom.valid"));
  EXPECT_THAT(failed(text), Not(Contains("gpu3 gpu.inforom.valid")));
}

TEST(GpuCondition, OfBoardsWithSeveralGpusSharesTheSerialNumber) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  auto text = whole(capture);
  for (const char* pair : {"01", "23", "45", "67"})
    text = replaced(text, std::string{pair[1]} + "</serial>", std::string{pair[0]} + "</serial>");

  const auto found = parsed("gpu-facts", text);

  ASSERT_TRUE(found);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(value_of(*found, "gpu.unique", "gpu" + std::to_string(i)), 1);
}

TEST(GpuCondition, ThatIsNotReportedIsNoNumber) {
  CUPEL_NEEDS_SAMPLE(text, "nvidia-smi-xml/rtx-3080-v13.xml");

  const auto found = parsed("gpu-facts", text);

  ASSERT_TRUE(found);
  for (const auto* measure : {"gpu.ecc.corrected", "gpu.ecc.sram_corrected", "gpu.remap.corrected",
                              "gpu.remap.banks.none", "gpu.mode.pending"})
    EXPECT_EQ(value_of(*found, measure, "gpu0"), std::nullopt) << measure;
  EXPECT_EQ(value_of(*found, "gpu.compute_mode.shared", "gpu0"), 1);
}

TEST(GpuCondition, IsInconclusiveWithoutACountOfLinks) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);

  std::string text;
  for (const auto line : lines(whole(capture)))
    if (!line.contains(" Errors: ")) text += std::string{line} + "\n";
  const auto found = parsed("gpu-facts", text);

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "nvlink.counted", "gpu0"), 0) << "nvlink -e printed nothing";
  for (const auto& each : judge(profile("a100-8"), {"gpu-facts"}, {{"gpu-facts", *found}}))
    if (each.measure == "nvlink.counted") EXPECT_NE(each.met, Met::met);
}

}  // namespace
}  // namespace cupel::burnin
