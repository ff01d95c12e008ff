// What other people's checks let through, and what they took for broken (docs/know/traps.md), held
// against the stages and the shipped profiles as they are.
#include <gmock/gmock.h>

#include "tests/burnin/burn_said.h"
#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/node_text.h"
#include "tests/burnin/tools.h"

namespace cupel::burnin {
namespace {
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr auto kA100 = "nvidia-smi-xml/a100-sxm4-v12.xml";
const std::vector<std::string> kProfiles = inventory::ProfileSource{"/nowhere"}.names();

std::vector<std::string> failed_facts(const std::string& text, const std::string& of = "a100-8") {
  const auto found = stage("gpu-facts")->parse(profile(of), {text, "", 0});
  return found ? not_met("gpu-facts", *found, of) : std::vector{std::string{found.error().what}};
}

TEST(Traps, ACardOfGen5ThatTrainedAtALowerGenerationFails) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  // An A100 is of Gen4: so an H100 whose link came up a generation too low looks.
  const auto text = eight(capture);

  EXPECT_THAT(failed_facts(text), IsEmpty());
  EXPECT_THAT(failed_facts(text, "dgx-h100"),
              Contains(HasSubstr("gpu.pcie.gen_max 4, at least 5")));
}

TEST(Traps, TheLinkOfACardThatSleepsIsNotJudged) {
  CUPEL_NEEDS_SAMPLE(capture, "nvidia-smi-xml/a10g.xml");

  const auto found = parsed("gpu-facts", capture);

  // In P8 it says generation 1, of a card that can do 4.
  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "gpu.pcie.gen", "gpu0"), std::nullopt);
  EXPECT_EQ(value_of(*found, "gpu.pcie.gen_max", "gpu0"), 4);
  EXPECT_TRUE(says_unknown(*found, "gpu.pcie.gen of gpu0"));
}

TEST(Traps, ARemapThatFailedAndAnUncorrectedErrorFailTheirGpu) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  const auto text = eight(capture);
  const auto failed = replaced(text, "<remapped_row_failure>No", "<remapped_row_failure>Yes");
  const auto pending = replaced(text, "<remapped_row_pending>No", "<remapped_row_pending>Yes");
  const auto bits = replaced(text, "<dram_uncorrectable>0", "<dram_uncorrectable>1");

  EXPECT_THAT(failed_facts(failed), Contains("gpu3 gpu.remap.failed 1, at most 0"));
  EXPECT_THAT(failed_facts(pending), Contains("gpu3 gpu.remap.pending 1, at most 0"));
  EXPECT_THAT(failed_facts(bits), Contains("gpu3 gpu.ecc.uncorrected 1 errors, at most 0 errors"));
}

TEST(Traps, AFactorysErrorsAreNotHeldAgainstANewGpu) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  auto text = eight(capture);
  for (auto at = text.find("<aggregate>"); at != text.npos; at = text.find("<aggregate>", at + 1)) {
    const auto counter = text.find("<dram_uncorrectable>0", at);
    ASSERT_NE(counter, text.npos);
    text[counter + 20] = '3';
  }

  const auto found = stage("gpu-facts")->parse(profile("a100-8"), {text, "", 0});

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "gpu.ecc.uncorrected.lifetime", "gpu0"), 3);
  EXPECT_THAT(failed_facts(text), IsEmpty());
}

TEST(Traps, XidsThatOthersForgetFailTheirGpu) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  const auto text = eight(capture);
  for (const int code : {95, 119, 140, 143, 144, 145, 150, 171, 172}) {
    const auto line = "[ 1234.5] NVRM: Xid (PCI:0000:4e:00): " + std::to_string(code) + ", pid=1\n";

    EXPECT_THAT(failed_facts(text + line), Contains(HasSubstr("gpu3 gpu.xid"))) << code;
  }
  // A row that was remapped is no defect by itself, nor is what somebody's program did.
  for (const int code : {13, 43, 63}) {
    const auto line = "[ 1234.5] NVRM: Xid (PCI:0000:4e:00): " + std::to_string(code) + ", pid=1\n";

    EXPECT_THAT(failed_facts(text + line), IsEmpty()) << code;
  }
}

TEST(Traps, EveryOldXidCountsAndNotOnlyTheLast) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  const auto text = eight(capture) +
                    "[    5.1] NVRM: Xid (PCI:0000:4e:00): 79, pid=1\n"
                    "[99999.9] NVRM: Xid (PCI:0000:07:00): 48, pid=1\n";

  EXPECT_THAT(failed_facts(text),
              AllOf(Contains(HasSubstr("gpu3 gpu.xid")), Contains(HasSubstr("gpu0 gpu.xid"))));
}

TEST(Traps, EveryCriterionNamesItsSourceAndWhatToDo) {
  for (const auto& name : kProfiles)
    for (const auto& criterion : profile(name).criteria) {
      EXPECT_GT(criterion.source.size(), 10u) << name << " " << criterion.measure;
      EXPECT_GT(criterion.remedy.size(), 10u) << name << " " << criterion.measure;
    }
}

/// "`gemm.below_best` and `gemm.spread` " before a limit: their names.
std::vector<std::string> names_before(std::string_view text) {
  std::vector<std::string> names;
  while (text.ends_with("` ")) {
    const auto begin = text.rfind('`', text.size() - 3);
    names.emplace_back(text.substr(begin + 1, text.size() - begin - 3));
    text = text.substr(0, begin);
    if (!text.ends_with(" and ")) break;
    text.remove_suffix(4);
  }
  return names;
}

/// What a line of docs/know/stages.md says of a stage's limits, held against the profile.
std::size_t expect_limits(const std::string& stage, std::string_view line, std::string_view sign,
                          std::optional<double> inventory::Criterion::* limit) {
  std::size_t found = 0;
  for (auto at = line.find(sign); at != line.npos; at = line.find(sign, at + 1)) {
    const auto rest = line.substr(at + sign.size());
    const auto expected = number<double>(rest.substr(0, rest.find_first_not_of("0123456789.")));
    for (const auto& name : names_before(line.substr(0, at))) {
      const auto fits = [&](const inventory::Criterion& each) {
        return each.stage == stage && each.measure == name && each.*limit == expected;
      };
      EXPECT_TRUE(std::ranges::any_of(profile().criteria, fits)) << stage << ": " << name;
      ++found;
    }
  }
  return found;
}

TEST(Traps, TheNumbersInTheDocumentsAreTheProfiles) {
  const auto text = *read_file(SOURCE_DIR "/docs/know/stages.md", 1u << 20);
  std::size_t found = 0;
  for (const auto line : lines(text)) {
    if (!line.starts_with("| `")) continue;
    const std::string stage{line.substr(3, line.find('`', 3) - 3)};
    found += expect_limits(stage, line, "≥ ", &inventory::Criterion::at_least);
    found += expect_limits(stage, line, "≤ ", &inventory::Criterion::at_most);
  }

  EXPECT_GE(found, 25u);
}

/// A gemm of eight GPUs with these rates.
std::vector<std::string> failed_gemm(const std::function<double(int)>& rate) {
  BurnText burn;
  burn.types = "bf16";
  for (int i = 0; i < 8; ++i) {
    const auto part = fmt::format("gpu{}", i);
    burn.lines += result("gemm.rate", part, rate(i), "TFLOP/s", R"({"type":"bf16"})");
    burn.lines += result("gemm.spread", part, 0.8, "%");
    burn.lines += result("gemm.errors", part, 0, "errors");
  }
  const auto found = burn.read();
  return found ? not_met("gemm", *found) : std::vector{std::string{found.error().what}};
}

TEST(Traps, EightGpusThatAreEquallySlowFailThoughNoneLagsBehind) {
  const auto slow = failed_gemm([](int) { return 500; });
  const auto idle = failed_gemm([](int) { return 0; });

  EXPECT_THAT(slow, AllOf(SizeIs(8), Each(HasSubstr("gemm.bf16.rate 500 TFLOP/s, at least 605"))));
  EXPECT_THAT(idle, Contains("gpu7 gemm.bf16.rate 0 TFLOP/s, at least 605 TFLOP/s"));
}

// Sinha et al., SC 2022: by 8 % on average and 22 % at most.
TEST(Traps, HealthyGpusDifferByATwentiethAndASickOneByMoreThanAFifth) {
  EXPECT_THAT(failed_gemm([](int i) { return i == 5 ? 660 : 830; }), IsEmpty());
  EXPECT_THAT(failed_gemm([](int i) { return i % 2 == 0 ? 730 : 694; }), IsEmpty());
  EXPECT_THAT(failed_gemm([](int i) { return i == 5 ? 660 : 850; }),
              ::testing::ElementsAre(HasSubstr("gpu5 gemm.below_best 22.3529 %, at most 22 %")));
}

TEST(Traps, AFloorOfBandwidthIsNeverWrittenInAnotherUnit) {
  // 2333 GB/s where MB/s was expected let every H200 pass.
  for (const auto& name : kProfiles)
    for (const auto& criterion : profile(name).criteria) {
      const auto& measure = criterion.measure;
      const bool rate = measure.ends_with("bandwidth") || measure.contains("busbw") ||
                        measure.starts_with("pcie.h2d") || measure.starts_with("pcie.d2h");
      const auto* unit = measure.starts_with("fabric.") ? "Gb/s" : "GB/s";  // as perftest prints it
      if (rate) EXPECT_EQ(criterion.unit, unit) << name << " " << measure;
      if (measure.ends_with("tensor.rate")) EXPECT_EQ(criterion.unit, "TFLOP/s") << name;
    }
}

TEST(Traps, EveryStagesScriptIsReadByAStrictShell) {
  for (const auto& each : stages()) {
    Parameters with;
    for (const auto& row : each.parameters)
      if (row.fallback.empty()) with[std::string{row.name}] = "/var/tmp";
    const auto job = each.prepare(profile(), with);
    if (!job) continue;  // it takes a word of its own: its own tests prepare it

    // Read, not run: what stands behind the first line is an argument of it.
    const auto read = run_script("set -n\n" + job->script);

    EXPECT_EQ(read.exit_status, 0) << each.name << ": " << read.errors;
    // A placeholder without a value, besides the order of a stage that takes no words.
    auto script = job->script;
    constexpr std::string_view kNoWords = "printf '%s\\n' '{}' | cupel-node stage ";
    if (const auto at = script.find(kNoWords); at != script.npos) script.erase(at, kNoWords.size());
    for (const auto* left : {"{STAGE", "{}", "{0", "{:"})
      EXPECT_THAT(script, Not(HasSubstr(left))) << each.name;
    EXPECT_GT(job->limit, job->expected) << each.name;
  }
}

TEST(Traps, NoOutputIsNoPassForAnyStage) {
  for (const auto& each : stages())
    for (const auto* text : {"", "\n", "OK\n", "All GPUs seem healthy\n"})
      for (const int status : {0, 1, 127, 205}) {
        const auto read = each.parse(profile(), {text, "", status});

        // Without a number no criterion is met.
        EXPECT_TRUE(!read || read->measurements.empty())
            << each.name << " accepts '" << text << "'";
      }
}

TEST(Traps, SeveralAdaptersAreJudgedByTheirNamesAndBondsAreNot) {
  // What is judged of a DGX H100 are mlx5_0 to mlx5_11: neither mlx5_bond_0 nor an adapter of a
  // GPU's own.
  for (const auto& criterion : profile().criteria) {
    if (criterion.measure != "ib.port.rate") continue;
    EXPECT_EQ(criterion.parts.size(), 12u);
    EXPECT_EQ(criterion.parts.front(), "mlx5_0");
    EXPECT_EQ(criterion.parts.back(), "mlx5_11");
  }
}

}  // namespace
}  // namespace cupel::burnin
