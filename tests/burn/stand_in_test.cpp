// Every command of cupel-burn from its first line to its last, over a driver, cuBLASLt and NCCL
// that work in the host's memory: what runs on a GPU is small there, and all else is the program as
// it is shipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "tests/burn/burning.h"

namespace cupel::burn {
namespace {

#ifdef FAKE_LIBRARIES
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Faults = std::vector<std::string>;

// As small as each goes. --seconds bounds what would go on for ever. Of what is tried before gemm's
// first round there are more or less checks, by how long they take, but two fills.
constexpr const char* kGemm = "gemm --types bf16 --side 256 --seconds 100";
constexpr const char* kHbm = "hbm --margin 64 --repeats 2 --seconds 100";  // of FAKE_GPU_MEMORY=70
constexpr const char* kTrain =
    "train --layers 1 --width 128 --sequence 128 --batch 1 --passes 1 --seconds 100";
constexpr const char* kPcie = "pcie --mib 1 --repeats 1 --seconds 100";
constexpr const char* kP2p = "p2p --mib 1 --repeats 1 --seconds 100";
constexpr const char* kCollective =
    "collective --nvls on --path nvlink --max 16384 --factor 64 --repeats 1 --seconds 100";

/// What a sound GPU has to do takes less, also under ThreadSanitizer, by three commands of three
/// GPUs each, on cores that others use too: else it would be late as well, and be named or hide who
/// hangs. It costs no more than waiting.
constexpr const char* kHangAfter = " --hang-after 20";

/// A command with more choices, on so many GPUs.
struct Case {
  std::string command;
  std::string choices;
  int gpus = 3;
  std::string fault{};     // FAKE_WRONG=1:product:0
  std::string expected{};  // which GPU is named
};

std::unique_ptr<Burning> start(const Case& one) {
  Faults faults{"FAKE_GPUS=" + std::to_string(one.gpus)};
  if (std::string_view{one.command}.starts_with("hbm")) faults.emplace_back("FAKE_GPU_MEMORY=70");
  if (!one.fault.empty()) faults.push_back(one.fault);
  const bool hangs = one.fault.starts_with("FAKE_HANGS");
  // Whoever ends because a GPU hangs cannot wait for the threads that wait for it.
  if (hangs) faults.emplace_back("TSAN_OPTIONS=halt_on_error=1:report_thread_leaks=0");
  return std::make_unique<Burning>(one.command + " " + one.choices + (hangs ? kHangAfter : ""),
                                   faults);
}

/// All at once: most of what takes time is waiting.
template <class Judge>
void run_all(const std::vector<Case>& cases, const Judge& judge) {
  std::vector<std::unique_ptr<Burning>> running;
  for (const auto& one : cases) running.push_back(start(one));
  for (std::size_t at = 0; at < cases.size(); ++at) {
    const auto burned = running[at]->end();
    SCOPED_TRACE(running[at]->command() + " on " + std::to_string(cases[at].gpus) + " GPUs, " +
                 cases[at].fault + "\n" + burned.errors);
    judge(cases[at], burned);
  }
}

/// How many GPUs other than gpu1 say that they did whole rounds.
std::size_t others_at_work(const Burned& burned) {
  std::set<std::string> parts;
  for (const auto& result : burned.of_kind("result"))
    if (result.at("name").as_string().ends_with(".rounds") &&
        result.at("value").to_number<double>() > 0)
      parts.emplace(result.at("part").as_string());
  parts.erase("gpu1");
  return parts.size();
}

TEST(BurnStandIn, EveryCommandFindsNothingWrongOnSoundGpus) {
  // Whose kernels load late waits for GPUs that wait for it.
  constexpr const char* kEager = "FAKE_WANTS_EAGER=1";
  const std::vector<Case> cases{
      {kGemm, "--rounds 1 --passes 4", 1},
      {kGemm, "--rounds 1 --passes 4", 4},
      {"gemm --types fp16,tf32,fp8,fp64 --side 256 --seconds 100", "--rounds 1 --passes 2", 1},
      {kHbm, "--rounds 1", 1},
      {kHbm, "--rounds 1", 3},
      {kTrain, "--repeats 2", 2, kEager},
      {kTrain, "--repeats 2 --sum copies", 3, kEager},
      {kPcie, "--rounds 1", 2, kEager},
      {kP2p, "--rounds 1", 4, kEager},
      {kCollective, "--rounds 1", 4, kEager}};

  run_all(cases, [](const Case&, const Burned& burned) {
    EXPECT_EQ(burned.status, 0);
    EXPECT_TRUE(burned.is_complete());
    EXPECT_THAT(burned.of_kind("fault"), IsEmpty());
    EXPECT_THAT(burned.of_kind("result"), Not(IsEmpty()));
    EXPECT_EQ(burned.errors, "");
  });
}

TEST(BurnStandIn, EverySelfTestFindsAllThatItPlants) {
  const std::vector<Case> cases{{kGemm, "--self-test 8"},     {kHbm, "--self-test 8"},
                                {kTrain, "--self-test 8", 2}, {kPcie, "--self-test 8", 1},
                                {kP2p, "--self-test 6"},      {kCollective, "--self-test 6"}};

  run_all(cases, [](const Case&, const Burned& burned) {
    EXPECT_EQ(burned.status, 0);
    EXPECT_TRUE(burned.is_complete());
    EXPECT_EQ(burned.errors, "");
    const auto tests = burned.of_kind("self-test");
    EXPECT_THAT(tests, Not(IsEmpty()));
    for (const auto& test : tests) EXPECT_TRUE(test.at("found").as_bool()) << test.at("detail");
  });
}

TEST(BurnStandIn, ASelfTestWithoutTimeForAllEndsAndIsRefused) {
  const std::vector<Case> cases{{"pcie --mib 1 --seconds 1", "--self-test 1000000", 1},
                                {"p2p --mib 1 --seconds 1", "--self-test 1000000", 2}};

  run_all(cases, [](const Case&, const Burned& burned) {
    EXPECT_EQ(burned.status, 2);
    EXPECT_EQ(burned.of_kind("error").at(0).at("code"), "refused");
  });
}

TEST(BurnStandIn, KernelsComeAsPtxWhereTheDriverIsOlderThanTheCompiler) {
  const Burned ancient = Burning{"devices", {"FAKE_DRIVER=11080"}}.end();
  const Burned oldest =
      Burning{std::string{kGemm} + " --rounds 1 --passes 2",
              {"FAKE_DRIVER=12000", "FAKE_GPUS=1", "FAKE_CUBLASLT_VERSION=120804"}}
          .end();

  EXPECT_EQ(ancient.status, 2);
  EXPECT_EQ(ancient.of_kind("error").at(0).at("code"), "no-cuda-device");
  EXPECT_EQ(oldest.status, 0) << oldest.errors;
}

TEST(BurnStandIn, LibrariesAreHeldAgainstTheDriver) {
  // A stand-in that is closed again leaves its libstdc++'s pool behind.
  const Burned old =
      Burning{"libraries", {"FAKE_DRIVER=12040", "ASAN_OPTIONS=detect_leaks=0"}}.end();
  const Burned ancient = Burning{"libraries", {"FAKE_DRIVER=11080"}}.end();
  const Burned sound = Burning{"libraries", {}}.end();

  ASSERT_EQ(old.lines.size(), 3);
  EXPECT_EQ(old.lines[0].at("cuda"), "12.4");
  EXPECT_FALSE(old.lines[1].at("fits").as_bool());
  EXPECT_THAT(std::string{old.lines[1].at("why").as_string()}, HasSubstr("runs CUDA 12.4 at most"));
  EXPECT_FALSE(ancient.lines.at(0).at("fits").as_bool());
  EXPECT_THAT(std::string{ancient.lines.at(0).at("why").as_string()}, HasSubstr("525"));
  EXPECT_EQ(sound.lines.at(0).at("cuda"), "13.0");
  EXPECT_TRUE(sound.lines.at(1).at("fits").as_bool());
}

TEST(BurnStandIn, AWrongBitIsAFaultOfItsGpu) {
  const std::vector<Case> cases{
      {kGemm, "--rounds 1 --passes 24", 3, "FAKE_WRONG=1:gemm_check:20", "gpu1"},
      {kHbm, "--rounds 1", 3, "FAKE_WRONG=1:hbm_check:3", "gpu1"},
      {kTrain, "--repeats 2", 3, "FAKE_WRONG=1:train_checksum:2", "gpu1"},
      {kPcie, "--rounds 1", 2, "FAKE_WRONG=1:link_check_words:2", "gpu1"},
      {kP2p, "--rounds 1", 3, "FAKE_WRONG=1:link_check_words:2", "gpu0-gpu1"},
      {kCollective, "--rounds 1", 3, "FAKE_WRONG=1:link_check_numbers:2", "gpu1"}};

  run_all(cases, [](const Case& one, const Burned& burned) {
    EXPECT_EQ(burned.status, 1);
    EXPECT_TRUE(burned.is_complete());
    EXPECT_THAT(burned.parts("fault"), ElementsAre(one.expected));
  });
}

TEST(BurnStandIn, AnElementThatIsAlwaysWrongIsAFaultOfItsGpuAlone) {
  // With a seed: by the clock's, once in some 1,200 runs one of the 32 elements that are compared
  // with plain sums is the wrong one, and there is one fault, which is proven.
  const std::vector<Case> cases{
      {kGemm, "--rounds 1 --passes 4 --seed 1", 3, "FAKE_WRONG=1:product:0"},
      {kHbm, "--rounds 1", 3, "FAKE_WRONG=1:hbm_check:0"},
      {kTrain, "--repeats 2", 3, "FAKE_WRONG=1:product:0"},
      {kPcie, "--rounds 1", 2, "FAKE_WRONG=1:link_check_words:0"},
      {kP2p, "--rounds 1", 2, "FAKE_WRONG=1:link_check_words:0"},
      {kCollective, "--rounds 1", 3, "FAKE_WRONG=1:sum:0"}};

  run_all(cases, [](const Case&, const Burned& burned) {
    EXPECT_EQ(burned.status, 1);
    EXPECT_THAT(burned.parts("fault"), ElementsAre(EndsWith("gpu1")));
    EXPECT_GT(burned.of_kind("fault").size(), 1);
  });
}

TEST(BurnStandIn, OneGpuAloneThatIsAlwaysWrongIsNotDeclaredSound) {
  // With a seed: see above.
  const Burned burned = Burning{std::string{kGemm} + " --rounds 1 --passes 4 --seed 1",
                                {"FAKE_GPUS=1", "FAKE_WRONG=0:product:0"}}
                            .end();

  EXPECT_THAT(burned.of_kind("fault"), IsEmpty());
  EXPECT_EQ(burned.status, 2) << burned.errors;
  EXPECT_THAT(burned.parts("error"), ElementsAre("gpu0"));
}

TEST(BurnStandIn, AGpuThatDiesIsNamedAndWhoNeedsItNotGoesOn) {
  const std::vector<Case> cases{{kGemm, "--rounds 2 --passes 4", 3, "FAKE_DIES=1:gemm_fill:3:214"},
                                {kHbm, "--rounds 1", 3, "FAKE_DIES=1:hbm_check:3:214"},
                                {kTrain, "", 3, "FAKE_DIES=1:train_checksum:4:214"},
                                {kPcie, "", 2, "FAKE_DIES=1:link_check_words:2:214"},
                                {kP2p, "", 3, "FAKE_DIES=1:link_check_words:2:214"},
                                {kCollective, "", 3, "FAKE_DIES=1:sum:3:214"}};

  run_all(cases, [](const Case& one, const Burned& burned) {
    EXPECT_EQ(burned.status, 1);
    EXPECT_FALSE(burned.is_complete());
    EXPECT_THAT(burned.parts("fault"), ElementsAre("gpu1"));
    if (one.command != kGemm && one.command != kHbm) return;
    EXPECT_EQ(others_at_work(burned), 2);
  });
}

TEST(BurnStandIn, AGpuThatCannotBeTakenEndsAtOnceWhatNeedsAllOfThem) {
  const std::vector<Case> cases{{kCollective, "--rounds 1", 3, "FAKE_REFUSES=2"},
                                {kTrain, "--repeats 2", 3, "FAKE_REFUSES=2"}};

  run_all(cases, [](const Case&, const Burned& burned) {
    EXPECT_EQ(burned.status, 2);
    EXPECT_THAT(burned.of_kind("hang"), IsEmpty());
    EXPECT_EQ(burned.of_kind("error").size(), 1);
  });
}

TEST(BurnStandIn, AProcessThatTheDriverEndsIsNamedAndTheOtherGpusBurnOn) {
  const std::vector<Case> cases{{kGemm, "--rounds 2 --passes 4", 3, "FAKE_CRASHES=1:gemm_fill:3"},
                                {kGemm, "--rounds 1 --passes 4", 3, "FAKE_CRASHES=1:gemm_fill:1"},
                                {kHbm, "--rounds 1", 3, "FAKE_CRASHES=1:hbm_check:3"}};

  run_all(cases, [](const Case&, const Burned& burned) {
    EXPECT_EQ(burned.status, 2);
    EXPECT_FALSE(burned.is_complete());
    EXPECT_THAT(burned.parts("error"), ElementsAre("gpu1"));
    EXPECT_EQ(others_at_work(burned), 2);
  });
}

TEST(BurnStandIn, AProcessThatStandsStillIsAHangOfItsGpuAndTheOthersBurnOn) {
  const Burned burned = Burning{std::string{kHbm} + " --rounds 1" + kHangAfter,
                                {"FAKE_GPUS=3", "FAKE_GPU_MEMORY=70", "FAKE_STUCK=1:hbm_check:3"}}
                            .end();

  EXPECT_EQ(burned.status, 3);
  EXPECT_FALSE(burned.is_complete());
  EXPECT_THAT(burned.parts("hang"), ElementsAre("gpu1"));
  EXPECT_EQ(others_at_work(burned), 2);
}

TEST(BurnStandIn, FiguresArePrintedWhileTheyAreMeasured) {
  const std::vector<Case> cases{
      {kGemm, "--rounds 3 --passes 4", 1, "FAKE_HANGS=0:gemm_fill:5"},
      {kHbm, "--rounds 2 --patterns address", 1, "FAKE_HANGS=0:hbm_check:4"}};

  run_all(cases, [](const Case&, const Burned& burned) {
    EXPECT_EQ(burned.status, 3);
    const auto results = burned.of_kind("result");
    const auto is_round = [](const auto& result) {
      return result.at("name").as_string().ends_with(".rounds") && result.at("value") == 1;
    };
    EXPECT_TRUE(std::ranges::any_of(results, is_round));
    EXPECT_TRUE(std::ranges::any_of(results, [](const auto& result) {
      return result.at("name") == "gemm.rate" || result.at("name") == "hbm.read";
    }));
  });
}

// Tests of their own, not one: each waits until a GPU is late, and they wait beside each other.
void expect_hang(const Case& one, const Burned& burned) {
  EXPECT_EQ(burned.status, 3);
  EXPECT_THAT(burned.parts("hang"), ElementsAre(one.expected));
}

TEST(BurnStandIn, AGpuThatHangsIsNamedWhereTheOthersNeedNothingOfIt) {
  run_all({{kGemm, "--rounds 2 --passes 4", 3, "FAKE_HANGS=1:gemm_fill:3", "gpu1"},
           {kGemm, "--rounds 1 --passes 4", 3, "FAKE_HANGS=1:gemm_fill:1", "gpu1"},
           {kHbm, "--rounds 1", 3, "FAKE_HANGS=1:hbm_check:3", "gpu1"},
           {kPcie, "--rounds 1", 2, "FAKE_HANGS=1:link_check_words:2", "gpu1"}},
          expect_hang);
}

TEST(BurnStandIn, AGpuThatHangsIsNamedWhereOthersComeToWaitForIt) {
  run_all({{kTrain, "", 3, "FAKE_HANGS=1:train_gelu_back:2", "gpu1"},
           {kTrain, "", 3, "FAKE_HANGS=1:train_checksum:3", "gpu1"},
           {kP2p, "", 3, "FAKE_HANGS=1:link_copy:2", "gpu0-gpu1"}},
          expect_hang);
}

TEST(BurnStandIn, AGpuThatHangsIsNamedWhereAllOthersWaitForIt) {
  run_all({{kCollective, "", 3, "FAKE_HANGS=1:link_fill_numbers:3", "gpu1"}}, expect_hang);
}

TEST(BurnStandIn, WhoNeedsNothingOfAGpuThatHangsBurnsOn) {
  const auto judge = [](const Case&, const Burned& burned) {
    EXPECT_EQ(burned.status, 3);
    EXPECT_FALSE(burned.is_complete());
    EXPECT_THAT(burned.parts("hang"), ElementsAre("gpu1"));
    EXPECT_GE(burned.seconds, 30);
    EXPECT_EQ(others_at_work(burned), 2);
  };

  run_all(
      {{"gemm --types bf16 --side 256 --seconds 30", "--passes 4", 3, "FAKE_HANGS=1:gemm_fill:3"},
       {"hbm --margin 64 --repeats 2 --seconds 30", "", 3, "FAKE_HANGS=1:hbm_check:3"}},
      judge);
}

TEST(BurnStandIn, AHangThatMayBeAnyGpusNamesNone) {
  const std::vector<Case> cases{{kTrain, "", 3, "FAKE_HANGS=1:sum:2"},
                                {kCollective, "", 3, "FAKE_HANGS=1:sum:2"}};

  run_all(cases, [](const Case&, const Burned& burned) {
    EXPECT_EQ(burned.status, 3);
    EXPECT_THAT(burned.parts("hang"), ElementsAre(""));
  });
}

TEST(BurnStandIn, EveryCommandEndsSoonAfterSigterm) {
  std::vector<std::unique_ptr<Burning>> running;
  for (const auto* command : {kGemm, kHbm, kTrain, kPcie, kP2p, kCollective})
    running.push_back(start({command, "", 2}));
  // Several ways, so that children run.
  running.push_back(
      start({"collective --nvls both --path nvlink --max 16384 --seconds 100", "", 2}));
  for (const auto& burning : running) burning->until("\"kind\":\"progress\"");

  for (const auto& burning : running) burning->terminate();

  for (const auto& burning : running) {
    const auto burned = burning->end();
    SCOPED_TRACE(burning->command() + "\n" + burned.errors);
    EXPECT_EQ(burned.status, 4);
    EXPECT_THAT(burned.of_kind("error"), IsEmpty());
    EXPECT_THAT(burned.of_kind("fault"), IsEmpty());
  }
}
#else
TEST(BurnStandIn, EveryCommandFindsNothingWrongOnSoundGpus) {
  GTEST_SKIP() << "no CUDA toolkit: cupel-burn was left out of this build";
}
#endif

}  // namespace
}  // namespace cupel::burn
