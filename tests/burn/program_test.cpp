// The program itself, where the CUDA toolkit built it: on a machine whose GPUs are hidden from it.
// And the libraries that it opens when it needs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <sstream>

#include "base/json.h"
#include "burnin/agent/burn/library_places.h"
#include "burnin/agent/burn/own_libraries.h"
#include "burnin/stage.h"

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
       {"smelt", "gemm --types fp4", "hbm --margin 1", "train --layers 0"}) {
    const auto ended = burn(arguments);

    EXPECT_EQ(ended.status, 64) << arguments;
    ASSERT_EQ(ended.lines.size(), 2) << arguments;
    EXPECT_EQ(ended.lines[0].at("code"), "usage");
  }
}

/// The lines of a stage's script that call cupel-burn, without its name.
std::vector<std::string> calls_in(const std::string& script) {
  std::vector<std::string> found;
  std::istringstream lines{script};
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find("cupel-burn ");
    const auto before = at == line.npos ? line : line.substr(0, at);
    const bool calls = at != line.npos && (before.find_first_not_of(' ') == before.npos ||
                                           before.starts_with("timeout "));
    if (calls) found.push_back(line.substr(at + std::string_view{"cupel-burn "}.size()));
  }
  return found;
}

TEST(BurnProgram, UnderstandsWhatEveryStageAsksOfIt) {
  const std::vector<std::pair<std::string, burnin::Parameters>> wishes{
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
  for (const auto& [name, parameters] : wishes) {
    const auto job = burnin::stage(name)->prepare({}, parameters);
    ASSERT_TRUE(job) << name;
    const auto calls = calls_in(job->script);
    EXPECT_EQ(calls.size(), 2) << name;

    for (const auto& call : calls) {
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

TEST(BurnLibrary, SearchesTheNodesOwnThenThoseBesideTheProgram) {
  const std::array<std::string_view, 2> names{"liba.so.2", "liba.so.1"};

  const auto places = library_places(names, "/opt/cupel/bin");

  ASSERT_EQ(places.size(), 8);
  EXPECT_THAT(std::vector(places.begin(), places.begin() + 4),
              ::testing::ElementsAre("liba.so.2", "liba.so.1", "/opt/cupel/bin/lib/liba.so.2",
                                     "/opt/cupel/bin/lib/liba.so.1"));
}

TEST(BurnLibrary, ACublasLtThatIsNotThereIsNamedWithWhereItWasSought) {
  const std::array<std::string_view, 1> names{"libcupel-none.so.13"};

  const auto library = open_cublaslt(names);

  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, "no-library");
  EXPECT_THAT(library.error().message,
              ::testing::AllOf(::testing::HasSubstr("libcupel-none.so.13"),
                               ::testing::HasSubstr(agent::program_folder() + "/lib/")));
}

/// What the fake cuBLASLt says of itself, for as long as its scope.
class CublasLtVersion {
 public:
  explicit CublasLtVersion(const char* version) { ::setenv("FAKE_CUBLASLT_VERSION", version, 1); }
  ~CublasLtVersion() { ::unsetenv("FAKE_CUBLASLT_VERSION"); }
  CublasLtVersion(const CublasLtVersion&) = delete;
  CublasLtVersion& operator=(const CublasLtVersion&) = delete;
};

TEST(BurnLibrary, ACublasLtThatLacksAFunctionIsPassedOver) {
  const std::array<std::string_view, 2> names{FAKE_NCCL, FAKE_CUBLASLT};

  const auto library = open_cublaslt(names);

  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(library->path(), FAKE_CUBLASLT);
}

TEST(BurnLibrary, ACublasLtOfAnUnknownCudaIsNotUsed) {
  const std::array<std::string_view, 1> names{FAKE_CUBLASLT};
  for (const auto& [version, words] : {std::pair{"111103", "11.11.3"}, {"140000", "14.0.0"}}) {
    const CublasLtVersion told{version};

    const auto library = open_cublaslt(names);

    ASSERT_FALSE(library) << version;
    EXPECT_THAT(library.error().message, ::testing::AllOf(::testing::HasSubstr(words),
                                                          ::testing::HasSubstr("CUDA 12 or 13")));
  }
}

TEST(BurnLibrary, EachIsToldInALineWithWhatItIsOrWhyItDoesNotFit) {
  std::istringstream lines{library_lines()};
  std::vector<std::string> names;
  std::string of_driver;
  std::getline(lines, of_driver);
  EXPECT_EQ(text_at(*parse_json(of_driver), "kind"), "driver");
  for (std::string line; std::getline(lines, line);) {
    const auto parsed = parse_json(line);
    ASSERT_TRUE(parsed) << line;
    const auto& told = *parsed;
    EXPECT_EQ(text_at(told, "kind"), "library");
    names.push_back(text_at(told, "name").value_or(""));
    const bool fits = find(told, "fits")->as_bool();
    EXPECT_EQ(text_at(told, "version").has_value(), fits) << line;
    EXPECT_EQ(text_at(told, "why").has_value(), !fits) << line;
  }

  EXPECT_THAT(names, ::testing::ElementsAre("libcublasLt", "libnccl"));
}

}  // namespace
}  // namespace cupel::burn
