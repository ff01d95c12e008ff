// A process for each GPU, and what gemm makes of their lines. The processes are shells here that
// print what a cupel-burn would.
#include "burnin/agent/burn/gpu_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "burnin/agent/burn/gemm_crew.h"
#include "tests/support/captures.h"

namespace cupel::burn {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kEnd =
    R"(echo '{"kind":"end","seconds":1,"faults":0,"complete":true,"stopped":false}')"
    "\n";

/// A shell as the program, and what came of it. $gpu, $step and $self_test are what it was given.
class GpuProcesses : public ::testing::Test {
 protected:
  GpuProcesses() {
    gpus_ = {{.index = 0, .uuid = "GPU-0", .name = "H100"},
             {.index = 1, .uuid = "GPU-1", .name = "H100"},
             {.index = 2, .uuid = "GPU-2", .name = "H100"}};
  }

  std::string program(std::string_view body) {
    const auto path = folder_.path() / "burn";
    std::ofstream file{path};
    file << "#!/bin/sh\ncommand=$1; shift\nstep=burn\n"
         << "while [ $# -gt 0 ]; do case $1 in\n"
         << "  --alone) gpu=$2; shift 2;; --step) step=$2; shift 2;; *) shift;; esac; done\n"
         << body;
    file.close();
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }

  Options options(std::vector<std::string_view> words, std::string_view command = "gemm") {
    static constexpr std::array kOwn{
        kAloneChoice, Choice{.name = "--types", .kind = Choice::Kind::kText},
        Choice{.name = "--step", .kind = Choice::Kind::kText, .fallback = "burn"}};
    auto parsed = Options::parse(command, kOwn, words, 7);
    EXPECT_TRUE(parsed);
    return *parsed;
  }

  std::vector<bool> run(const std::string& program, const Options& options) {
    std::vector<GpuProcess> processes;
    for (const auto& gpu : gpus_)
      processes.push_back({.part = "gpu" + std::to_string(gpu.index), .uuid = gpu.uuid});
    return run_gpu_processes(program, options, std::move(processes), report_, stop_, watchdog_);
  }

  testing::AssertionResult crew(const std::string& program, const Options& options) {
    const auto outcome = GemmCrew{program, options, gpus_, report_, stop_, watchdog_}.run();
    if (outcome) return testing::AssertionSuccess();
    return testing::AssertionFailure() << outcome.error().message;
  }

  test::TemporaryFolder folder_;
  std::vector<Gpu> gpus_;
  std::vector<std::string> lines_;
  Report report_{[this](std::string_view line) { lines_.emplace_back(line); }};
  Stop stop_{std::chrono::seconds{300}};
  Watchdog watchdog_{std::chrono::seconds{60}};
};

TEST_F(GpuProcesses, EachSeesItsOwnGpuAndIsGivenTheCommandLine) {
  const auto reported = program(R"(
printf '{"kind":"result","name":"%s","part":"gpu%s"}\n' "$CUDA_VISIBLE_DEVICES" "$gpu"
)" + std::string{kEnd});

  const auto ended = run(reported, options({"--types", "bf16", "--gpus", "0-2"}));

  EXPECT_THAT(ended, ElementsAre(true, true, true));
  EXPECT_THAT(lines_, ::testing::UnorderedElementsAre(
                          "{\"kind\":\"result\",\"name\":\"GPU-0\",\"part\":\"gpu0\"}\n",
                          "{\"kind\":\"result\",\"name\":\"GPU-1\",\"part\":\"gpu1\"}\n",
                          "{\"kind\":\"result\",\"name\":\"GPU-2\",\"part\":\"gpu2\"}\n"));
}

TEST_F(GpuProcesses, GivesEachTheChoicesThatWereMadeButThoseOfItsOwn) {
  const auto reported =
      options({"--types", "bf16,fp8", "--rounds", "3", "--gpus", "1", "--seed", "5"});

  constexpr std::array<std::string_view, 2> kOwn{"--gpus", "--seed"};
  EXPECT_THAT(reported.given_but(kOwn), ElementsAre("--rounds", "3", "--types", "bf16,fp8"));
}

TEST_F(GpuProcesses, OneThatIsKilledIsNamedAndTheOthersComeToTheirEnd) {
  const auto reported = program(R"(if [ "$gpu" = 1 ]; then kill -SEGV $$; fi
)" + std::string{kEnd});

  const auto ended = run(reported, options({}));

  EXPECT_THAT(ended, ElementsAre(true, false, true));
  EXPECT_THAT(lines_, ElementsAre(AllOf(HasSubstr(R"("kind":"error","code":"cuda","part":"gpu1")"),
                                        HasSubstr("the process for gpu1 ended with status 139"))));
  EXPECT_TRUE(report_.failed());
}

TEST_F(GpuProcesses, FaultsOfOneThatIsKilledCount) {
  const auto reported = program(R"(if [ "$gpu" = 1 ]; then
  echo '{"kind":"fault","what":"wrong-result","part":"gpu1","count":4,"detail":"x"}'
  kill -KILL $$
fi
)" + std::string{kEnd});

  run(reported, options({}));

  EXPECT_EQ(report_.faults(), 4);
}

TEST_F(GpuProcesses, AHangOfOneIsAHangOfAllAndTheOthersComeToTheirEnd) {
  const auto reported = program(R"(if [ "$gpu" = 1 ]; then
  echo '{"kind":"hang","part":"gpu1","doing":"gemm bf16 round 2","seconds":60}'
  echo '{"kind":"end","seconds":61,"faults":0,"complete":false,"stopped":false}'
  exit 3
fi
)" + std::string{kEnd});

  const auto ended = run(reported, options({}));

  EXPECT_THAT(ended, ElementsAre(true, false, true));
  EXPECT_TRUE(report_.has_hang());
  EXPECT_THAT(lines_, ElementsAre(StartsWith(R"({"kind":"hang","part":"gpu1")")));
}

TEST_F(GpuProcesses, AskAllToEndWhereTheCommandIsAskedTo) {
  stop_.give_up();

  const auto ended = run(program("exec sleep 600\n"), options({}));

  EXPECT_THAT(ended, ElementsAre(false, false, false));
  EXPECT_THAT(lines_, IsEmpty());
}

/// Ways, trials of them, and a burn in which $came_to is what the first product came to.
std::string gemm(std::string_view came_to, std::string_view trials = "0.5:1:1 0.25:1:1") {
  return R"(case $step in
ways) echo '{"kind":"recipe","text":"bf16 256 256 256 0 aa bb"}';;
trials) printf '{"kind":"trials","type":"bf16","text":"%s"}\n' ')" +
         std::string{trials} + R"(';;
burn) read -r recipe; )" +
         std::string{came_to} + R"(
  printf '{"kind":"result","name":"%s","part":"gpu%s"}\n' "$recipe" "$gpu"
  printf '{"kind":"fingerprint","key":"bf16 round 1","number":1,"came_to":"%s"}\n' "$came_to"
  echo '{"kind":"wrong","count":0}';;
esac
)" + std::string{kEnd};
}

TEST_F(GpuProcesses, OfGemmAllTakeTheFastestWayAndAreComparedWithEachOther) {
  ASSERT_TRUE(crew(program(gemm("came_to=7")), options({})));

  EXPECT_THAT(lines_, Contains(HasSubstr(R"("name":"bf16 256 256 256 1 bb","part":"gpu2")")));
  EXPECT_THAT(lines_, Contains(HasSubstr(R"("name":"gemm.rotated","part":"","value":1)")));
  EXPECT_THAT(lines_, Not(Contains(HasSubstr("fault"))));
  EXPECT_THAT(lines_, Not(Contains(HasSubstr("fingerprint"))));
  EXPECT_FALSE(stop_.given_up());
}

TEST_F(GpuProcesses, OfGemmTheOneThatComesToSomethingElseIsWrong) {
  ASSERT_TRUE(crew(program(gemm("came_to=7; [ $gpu = 1 ] && came_to=8")), options({})));

  EXPECT_THAT(lines_, Contains(AllOf(HasSubstr(R"("kind":"fault")"), HasSubstr(R"("gpu1")"),
                                     HasSubstr("2 of 3 GPUs agree at bf16 round 1"))));
  std::string last;
  for (const auto& line : lines_)
    if (line.contains(R"("name":"gemm.errors","part":"gpu1")")) last = line;
  EXPECT_THAT(last, HasSubstr(R"("value":1)"));
}

TEST_F(GpuProcesses, OfGemmAGpuThatEndsInTheTrialsBurnsNoMoreAndTheOthersDo) {
  ASSERT_TRUE(
      crew(program("[ $step = trials ] && [ $gpu = 0 ] && kill -SEGV $$\n" + gemm("came_to=7")),
           options({})));

  EXPECT_THAT(lines_, Contains(HasSubstr(R"("kind":"error","code":"cuda","part":"gpu0")")));
  EXPECT_THAT(lines_, Not(Contains(HasSubstr(R"(bb","part":"gpu0")"))));
  EXPECT_THAT(lines_, Contains(HasSubstr(R"(bb","part":"gpu1")")));
  EXPECT_THAT(lines_, Contains(HasSubstr(R"(bb","part":"gpu2")")));
  EXPECT_TRUE(stop_.given_up());
}

TEST_F(GpuProcesses, OfGemmAWayThatRepeatsOnNoGpuIsTheLibrarysFault) {
  EXPECT_FALSE(crew(program(gemm("came_to=7", "0.5:0:0 0.25:0:0")), options({})));
}

TEST(GemmLines, AreReadAsTheyAreWritten) {
  const WrittenRecipe recipe{.shape = {.type = Type::kFp8, .m = 8192, .n = 4096, .k = 2048},
                             .rotates = true,
                             .ways = {"00ff", "ab"}};
  const WayTrials trials{{.seconds = 0.00125, .repeats = true, .rotates = false},
                         {.seconds = 2, .repeats = false, .rotates = true}};
  const auto back = read_trials(text_of(trials));
  std::array<unsigned char, 2> bytes{};

  const auto read = read_recipe(recipe.text());

  ASSERT_TRUE(read);
  EXPECT_EQ(read->text(), "fp8 8192 4096 2048 1 00ff ab");
  EXPECT_EQ(*read, recipe);
  ASSERT_TRUE(back);
  EXPECT_EQ(text_of(*back), "0.00125:1:0 2:0:1");
  ASSERT_TRUE(bytes_of("00ff", bytes.data(), 2));
  EXPECT_EQ(hex_of(bytes.data(), 2), "00ff");
}

TEST(GemmLines, ThatAreNoneAreRefused) {
  for (const auto* text :
       {"", "bf16", "bf16 256 256 256 1", "int8 256 256 256 1 aa", "bf16 256 256 0 1 aa",
        "bf16 256 256 99999999999999999999 1 aa", "bf16 256 256 256 2 aa", "bf16 256 256 256 1 xy",
        "bf16 256 256 256 1 abc"})
    EXPECT_FALSE(read_recipe(text)) << text;
  EXPECT_FALSE(read_recipes(""));
  for (const auto* text : {"1", "1:1", "1:1:2", "-1:1:1", "nan:1:1", "1:1:1 x"})
    EXPECT_FALSE(read_trials(text)) << text;
  std::array<unsigned char, 2> bytes{};
  EXPECT_FALSE(bytes_of("00", bytes.data(), 2));
}

}  // namespace
}  // namespace cupel::burn
