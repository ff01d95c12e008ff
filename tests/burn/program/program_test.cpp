// The program itself, where the CUDA toolkit built it: on a machine whose GPUs are hidden from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <sstream>

#include "base/json.h"
#include "burnin/stage.h"
#include "inventory/profile.h"

namespace cupel::burn {
namespace {

#ifdef BURN_BINARY
struct Ended {
  int status = -1;
  std::vector<json::object> lines;
};

Ended burn(const std::string& arguments) {
  const auto command =
      "CUDA_VISIBLE_DEVICES= timeout 120 " BURN_BINARY " " + arguments + " 2>/dev/null";
  Ended ended;
  std::string output;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> block{};
  while (const auto size = std::fread(block.data(), 1, block.size(), pipe))
    output.append(block.data(), size);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  std::istringstream lines{output};
  for (std::string line; std::getline(lines, line);) {
    const auto parsed = parse_json(line);
    EXPECT_TRUE(parsed) << line;
    if (parsed) ended.lines.push_back(parsed->as_object());
  }
  return ended;
}

TEST(BurnProgram, SaysThatThereIsNoCudaDevice) {
  for (const auto* command : {"devices", "gemm --seconds 5", "hbm --self-test 10", "train"}) {
    const auto ended = burn(command);

    EXPECT_EQ(ended.status, 2) << command;
    ASSERT_EQ(ended.lines.size(), 2) << command;
    EXPECT_EQ(ended.lines[0].at("kind"), "error");
    EXPECT_EQ(ended.lines[0].at("code"), "no-cuda-device");
    EXPECT_THAT(std::string{ended.lines[0].at("message").as_string()},
                ::testing::StartsWith("no CUDA device"));
    EXPECT_EQ(ended.lines[1].at("kind"), "end");
    EXPECT_FALSE(ended.lines[1].at("complete").as_bool());
  }
}

TEST(BurnProgram, RefusesWhatItDoesNotUnderstandAsUsage) {
  for (const auto* arguments :
       {"smelt", "gemm --types fp4", "gemm --types ,", "gemm --types bf16,bf16", "hbm --margin 1",
        "hbm --patterns ,", "train --layers 0", "train --width 3000", "train --sequence 200",
        "collective --min 16 --max 8"}) {
    const auto ended = burn(arguments);

    EXPECT_EQ(ended.status, 64) << arguments;
    ASSERT_EQ(ended.lines.size(), 2) << arguments;
    EXPECT_EQ(ended.lines[0].at("code"), "usage");
  }
}

TEST(BurnProgram, SaysItsHelpWhereverItIsAskedForIt) {
  const auto output = [](const std::string& arguments) {
    std::string text;
    std::FILE* pipe = ::popen((BURN_BINARY " " + arguments + " 2>&1").c_str(), "r");
    std::array<char, 4096> block{};
    while (const auto size = std::fread(block.data(), 1, block.size(), pipe))
      text.append(block.data(), size);
    EXPECT_EQ(::pclose(pipe), 0) << arguments;
    return text;
  };
  const auto all = output("help"), gemm = output("help gemm");

  EXPECT_THAT(all, testing::AllOf(testing::HasSubstr("--types"), testing::HasSubstr("--layers")));
  EXPECT_THAT(gemm, testing::HasSubstr("--types"));
  EXPECT_THAT(gemm, testing::Not(testing::HasSubstr("--layers")));
  EXPECT_EQ(output("--help"), all);
  EXPECT_EQ(output("-h"), all);
  EXPECT_EQ(output("gemm --help"), gemm);
  EXPECT_EQ(output("gemm -h"), gemm);
}

/// How cupel-node calls cupel-burn by a stage's order, without its name. Source:
/// burnin/agent/node/stages/cupel_burn.cpp.
std::vector<std::string> calls_in(const std::string& script) {
  const auto begin = script.find('{'), end = script.rfind('}');
  const auto order = *parse_json(std::string_view{script}.substr(begin, end + 1 - begin));
  const auto call = [&](const char* options, std::int64_t seconds) {
    std::string text{order.at("command").as_string()};
    text += " --seconds " + std::to_string(seconds);
    for (const auto& word : order.at(options).as_array())
      text += " " + std::string{word.as_string()};
    return text;
  };
  return {call("self-test", 50) + " --self-test",
          call("arguments", order.at("seconds").as_int64())};
}

TEST(BurnProgram, UnderstandsWhatEveryStageAsksOfIt) {
  const std::vector<std::pair<std::string, burnin::Parameters>> requests{
      {"gemm", {}},
      {"gemm", {{"types", "bf16,fp16,tf32,fp8,fp64"}, {"pattern", "square"}, {"hertz", "0.5"}}},
      {"gemm", {{"pattern", "ramp"}}},
      {"hbm", {}},
      {"hbm", {{"patterns", "hot-rows,random"}}},
      {"pcie", {}},
      {"p2p", {}},
      {"collective", {}},
      {"collective", {{"ops", "all_to_all"}, {"min", "1GiB"}, {"nvls", "on"}, {"path", "both"}}},
      {"collective", {{"nvls", "off"}, {"path", "hca"}}},
      {"train", {}}};
  for (const auto& [name, parameters] : requests) {
    const auto job = burnin::stage(name)->prepare({}, parameters);
    ASSERT_TRUE(job) << name;
    for (const auto& call : calls_in(job->script)) {
      const auto ended = burn(call);
      EXPECT_EQ(ended.status, 2) << call;  // no CUDA device; 64 is one that it does not understand
    }
  }
}
#else
TEST(BurnProgram, SaysThatThereIsNoCudaDevice) {
  GTEST_SKIP() << "no CUDA toolkit: cupel-burn was left out of this build";
}
#endif

}  // namespace
}  // namespace cupel::burn
