// `cupel-burn nccl-id`, and `collective` over several processes, each a node: the program as it is
// shipped, over a driver and an NCCL that work in the host's memory.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/nccl_id.h"
#include "tests/burn/burning.h"
#include "tests/burn/ras_server.h"
#include "tests/support/captures.h"

namespace cupel::burn {
namespace {

#ifdef FAKE_LIBRARIES
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Faults = std::vector<std::string>;

const std::string kSizes =
    " --ops all_reduce,all_to_all,send_recv --min 4096 --max 65536 --factor 16 --times 2"
    " --seconds 100 --hang-after 5";

Faults with(Faults faults) {
  faults.emplace_back("FAKE_GPUS=2");
  faults.emplace_back("TSAN_OPTIONS=halt_on_error=1:report_thread_leaks=0");
  return faults;
}

std::string words(int ranks, int base, const std::string& more) {
  return "collective --ranks " + std::to_string(ranks) + " --rank-base " + std::to_string(base) +
         kSizes + " " + more;
}

std::string id_of(const Burning& home) {
  constexpr std::string_view kMark = "\"id\":\"";
  const auto at = home.whole_text().find(kMark);
  return at == std::string::npos ? ""
                                 : home.whole_text().substr(at + kMark.size(), 2 * kNcclIdBytes);
}

/// Nodes with two GPUs each; the first makes the id.
struct Nodes {
  Nodes(int ranks, const std::vector<Faults>& faults, const std::string& more = "") {
    all.push_back(std::make_unique<Burning>(words(ranks, 0, "--make-id " + more), with(faults[0])));
    all[0]->until("\"kind\":\"nccl-id\"");
    id = id_of(*all[0]);
    for (std::size_t node = 1; node < faults.size(); ++node)
      all.push_back(std::make_unique<Burning>(
          words(ranks, 2 * static_cast<int>(node), "--id " + id + " " + more), with(faults[node])));
  }

  std::vector<Burned> end() const {
    std::vector<Burned> ended;
    for (const auto& node : all) ended.push_back(node->end());
    return ended;
  }

  std::vector<std::unique_ptr<Burning>> all;
  std::string id;
};

/// By operation and size.
double value_of(const Burned& burned, const char* name, const char* operation, const char* bytes) {
  for (const auto& result : burned.of_kind("result")) {
    const auto& labels = result.at("labels").as_object();
    if (result.at("name") == name && labels.at("op") == operation && labels.at("bytes") == bytes)
      return result.at("value").to_number<double>();
  }
  return 0;
}

std::vector<std::int64_t> entered(const Burned& burned) {
  std::vector<std::int64_t> all;
  for (const auto& line : burned.of_kind("ranks"))
    for (const auto& each : line.at("entered").as_array()) all.push_back(each.as_int64());
  return all;
}

TEST(AcrossNodes, TellsTheAddressOfTheIdThatNcclMade) {
  const Burned burned = Burning{"nccl-id --interface lo", {}}.end();

  EXPECT_EQ(burned.status, 0) << burned.errors;
  ASSERT_EQ(burned.of_kind("nccl-id").size(), 1);
  const auto line = burned.of_kind("nccl-id")[0];
  const auto id = decode_nccl_id(std::string_view{line.at("id").as_string()});
  ASSERT_TRUE(id) << id.error().what;
  EXPECT_EQ(line.at("address"), "127.0.0.1");
  EXPECT_EQ(line.at("port"), id->port);
  EXPECT_EQ(line.at("nccl"), "2.27.5");
}

TEST(AcrossNodes, TheIdIsOfTheInterfaceThatHasTheAddress) {
  const Burned burned = Burning{"nccl-id --address 127.0.0.1", {}}.end();
  const Burned elsewhere = Burning{"nccl-id --address 192.0.2.77", {}}.end();
  const Burned wrong = Burning{"nccl-id --address bond0", {}}.end();

  ASSERT_EQ(burned.of_kind("nccl-id").size(), 1) << burned.errors;
  EXPECT_EQ(burned.of_kind("nccl-id")[0].at("address"), "127.0.0.1");
  EXPECT_THAT(elsewhere.of_kind("nccl-id"), IsEmpty());
  EXPECT_THAT(std::string{elsewhere.of_kind("error").at(0).at("message").as_string()},
              HasSubstr("no network interface of this node has the address 192.0.2.77"));
  EXPECT_EQ(wrong.of_kind("error").at(0).at("code"), "usage");
}

TEST(AcrossNodes, AnInterfaceThatTheNodeDoesNotHaveIsRefusedInNcclsWords) {
  const Burned burned = Burning{"nccl-id --interface ib7", {}}.end();

  EXPECT_EQ(burned.status, 2);
  EXPECT_EQ(burned.of_kind("error").at(0).at("code"), "nccl");
  EXPECT_THAT(burned.of_kind("nccl-id"), IsEmpty());
}

TEST(AcrossNodes, EveryNodeFindsNothingWrongAndMeasuresTheSame) {
  const auto ended = Nodes{6, {{}, {}, {}}}.end();

  for (const auto& node : ended) {
    EXPECT_EQ(node.status, 0) << node.errors;
    EXPECT_TRUE(node.is_complete());
    EXPECT_EQ(node.errors, "");
    EXPECT_THAT(node.of_kind("fault"), IsEmpty());
    const double algorithm = value_of(node, "across.algbw", "all_reduce", "65536");
    const double bus = value_of(node, "across.busbw", "all_reduce", "65536");
    EXPECT_GT(algorithm, 0);
    EXPECT_NEAR(bus / algorithm, 2.0 * 5 / 6, 1e-6) << "nccl-tests: 2(n-1)/n";
    EXPECT_GT(value_of(node, "across.time", "all_to_all", "4032"), 0) << "a whole of 6 ranks";
    EXPECT_GT(value_of(node, "across.busbw", "send_recv", "65536"), 0);
    ASSERT_EQ(node.of_kind("transport").size(), 1);
    EXPECT_EQ(json::serialize(node.of_kind("transport").front().at("channels")),
              R"({"NET/Socket/0":2})")
        << "of both ranks";
    EXPECT_EQ(node.of_kind("transport").front().at("ports").at("mlx5_0:1"), "IB");
  }
}

TEST(AcrossNodes, OneGpuGoesTheSameWayAlone) {
  const Burned burned = Burning{words(1, 0, "--make-id --gpus 0"), with({})}.end();

  EXPECT_EQ(burned.status, 0) << burned.errors;
  EXPECT_TRUE(burned.is_complete());
  EXPECT_EQ(burned.of_kind("joined").size(), 1);
  EXPECT_GT(value_of(burned, "across.algbw", "all_reduce", "65536"), 0);
  EXPECT_EQ(value_of(burned, "across.busbw", "all_reduce", "65536"), 0) << "nothing crosses a link";
  EXPECT_GT(value_of(burned, "across.algbw", "send_recv", "65536"), 0);
}

TEST(AcrossNodes, TakesTheIdFromAFile) {
  Burning home{words(4, 0, "--make-id"), with({})};
  home.until("\"kind\":\"nccl-id\"");
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "id";
  std::ofstream{file} << id_of(home) << "\n";
  Burning other{words(4, 2, "--id-file " + file.string()), with({})};

  const Burned ended[] = {home.end(), other.end()};

  for (const auto& node : ended) EXPECT_EQ(node.status, 0) << node.errors;
}

/// What a process reads as its standard input is written here; reading it does not wait.
class SlowInput {
 public:
  SlowInput() {
    EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK), 0);
    kept_ = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(ends_[0], STDIN_FILENO);
  }
  ~SlowInput() {
    restore();
    end();
    ::close(ends_[0]);
  }
  void restore() {
    if (kept_ >= 0) ::dup2(kept_, STDIN_FILENO);
    if (kept_ >= 0) ::close(kept_);
    kept_ = -1;
  }
  void write(std::string_view text) {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  /// Until all that was written has been read.
  void drain() const {
    for (int left = 1; left > 0; ::sched_yield())
      if (::ioctl(ends_[0], FIONREAD, &left) != 0) return;
  }
  void end() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
  int kept_ = -1;
};

TEST(AcrossNodes, TheIdThatComesLateThroughStandardInputIsWaitedFor) {
  Burning home{words(4, 0, "--make-id"), with({})};
  home.until("\"kind\":\"nccl-id\"");
  const auto id = id_of(home);
  SlowInput input;
  Burning other{"nccl-id --id-file -", {}};
  input.restore();

  input.write(id.substr(0, id.size() / 2));
  input.drain();
  input.write(id.substr(id.size() / 2));
  input.end();

  const auto ended = other.end();
  EXPECT_EQ(ended.status, 0) << ended.errors;
  EXPECT_EQ(ended.of_kind("nccl-reached").size(), 1);
}

TEST(AcrossNodes, ARankThatNeverComesEndsTheOthersAtTheirLimitWithTheReason) {
  const auto ended = Nodes{6, {{}, {}}, "--join-within 3"}.end();

  for (const auto& node : ended) {
    EXPECT_EQ(node.status, 2);
    EXPECT_FALSE(node.is_complete());
    ASSERT_EQ(node.of_kind("error").size(), 1);
    EXPECT_THAT(std::string{node.of_kind("error")[0].at("message").as_string()},
                AllOf(HasSubstr("of 6 were here"), HasSubstr("within 3 s")));
  }
}

TEST(AcrossNodes, AnIdWhoseProcessHasEndedIsNotWaitedForAtNcclsOwnLength) {
  const Burned gone = Burning{"nccl-id", {}}.end();
  const auto id = std::string{gone.of_kind("nccl-id").at(0).at("id").as_string()};

  const Burned burned = Burning{words(4, 2, "--join-within 2 --id " + id), with({})}.end();

  EXPECT_EQ(burned.status, 2);
  EXPECT_THAT(std::string{burned.of_kind("error").at(0).at("message").as_string()},
              AllOf(HasSubstr("no TCP connection to 127.0.0.1"), HasSubstr("refused")));
}

TEST(AcrossNodes, WhenRankZeroDiesTheOthersEndWithNcclsReason) {
  Nodes nodes{4, {{}, {"FAKE_SLOW=1:link_fill_numbers:0:500"}}};
  nodes.all[1]->until("\"across.own\"");

  nodes.all[0]->kill();

  const auto other = nodes.all[1]->end();
  EXPECT_EQ(other.status, 2) << other.errors;
  EXPECT_FALSE(other.is_complete());
  ASSERT_THAT(other.of_kind("error"), Not(IsEmpty()));
  EXPECT_EQ(other.of_kind("error")[0].at("code"), "nccl");
}

TEST(AcrossNodes, AWrongSumIsAFaultOfTheGpuThatMadeIt) {
  const auto ended = Nodes{4, {{}, {"FAKE_WRONG=1:sum:0"}}}.end();

  EXPECT_EQ(ended[0].status, 0);
  EXPECT_EQ(ended[1].status, 1);
  EXPECT_THAT(ended[1].parts("fault"), ElementsAre("gpu1"));
  EXPECT_THAT(ended[0].of_kind("fault"), IsEmpty());
}

TEST(AcrossNodes, KeepsWhatNcclsRasSaysOfAHangAndOfRanksThatDidNotCome) {
  const RasServer server{kRasOfOneRank};
  const auto ask = "NCCL_RAS_ADDR=" + server.setting();

  const auto hung = Nodes{4, {{ask}, {ask, "FAKE_HANGS=1:link_fill_numbers:3"}}}.end();
  const auto alone = Nodes{6, {{ask}, {ask}}, "--join-within 3"}.end();

  // The second of those that were alone may hear first that rank 0 has ended.
  for (const auto* burned : {&hung[1], &alone[0]}) {
    ASSERT_EQ(burned->of_kind("ras").size(), 1) << burned->errors;
    EXPECT_THAT(std::string{burned->of_kind("ras")[0].at("text").as_string()},
                HasSubstr("NCCL version 2.28.3"));
  }
}

TEST(AcrossNodes, OnAHangEveryNodeSaysWhichOperationItsRanksHaveEntered) {
  const auto ended = Nodes{4, {{}, {"FAKE_HANGS=1:link_fill_numbers:3"}}}.end();

  EXPECT_EQ(ended[1].status, 3) << ended[1].errors;
  EXPECT_THAT(ended[0].status, ::testing::AnyOf(2, 3)) << "by its own limit, or NCCL's report";
  const auto one = entered(ended[0]), other = entered(ended[1]);
  ASSERT_EQ(one.size(), 2);
  ASSERT_EQ(other.size(), 2);
  EXPECT_EQ(one[0], one[1]) << "both wait";
  EXPECT_EQ(other[0], one[0]) << "so does the sound GPU beside the one that hangs";
  EXPECT_EQ(other[1], one[0] - 1) << "which did not enter what the others wait in";
  EXPECT_THAT(ended[1].parts("hang"), ElementsAre("gpu1"));
  for (const auto& part : ended[0].parts("hang"))
    EXPECT_EQ(part, "") << "none of this node's is behind";
}

TEST(AcrossNodes, ASlowGpuTellsByItsOwnWork) {
  const auto ended = Nodes{4, {{}, {"FAKE_SLOW=1:link_fill_numbers:0:80"}}}.end();

  std::map<std::string, double> own;
  for (std::size_t node = 0; node < ended.size(); ++node) {
    EXPECT_EQ(ended[node].status, 0) << ended[node].errors;
    for (const auto& result : ended[node].of_kind("result"))
      if (result.at("name") == "across.own") {
        auto& most = own[std::to_string(node) + std::string{result.at("part").as_string()}];
        most = std::max(most, result.at("value").to_number<double>());
      }
  }
  ASSERT_EQ(own.size(), 4);
  EXPECT_GT(own["1gpu1"], 80e3);
}

TEST(AcrossNodes, AllEndSoonAfterSigterm) {
  Nodes nodes{4, {{}, {"FAKE_SLOW=1:link_fill_numbers:0:1000"}}};
  for (const auto& node : nodes.all) node->until("\"kind\":\"joined\"");

  for (const auto& node : nodes.all) node->terminate();

  for (const auto& node : nodes.end()) {
    EXPECT_EQ(node.status, 4) << node.errors;
    EXPECT_THAT(node.of_kind("fault"), IsEmpty());
  }
}

TEST(AcrossNodes, RefusesRanksThatDoNotFit) {
  const std::pair<std::string, std::string> cases[] = {
      {words(3, 2, "--make-id"), "ranks 2 to 3"},
      {words(4, 0, ""), "give one of --make-id"},
      {words(4, 0, "--make-id --id 00"), "give one of --make-id"},
      {words(4, 2, "--id 00"), "2 characters"},
      {words(4, 2, "--id-file /nowhere"), "/nowhere"}};
  for (const auto& [command, why] : cases) {
    const Burned burned = Burning{command, with({})}.end();

    EXPECT_THAT(burned.status, ::testing::AnyOf(2, 64)) << command;
    EXPECT_THAT(std::string{burned.of_kind("error").at(0).at("message").as_string()},
                HasSubstr(why));
  }
}
std::string train_words(int ranks, int base, const std::string& more) {
  return "train --ranks " + std::to_string(ranks) + " --rank-base " + std::to_string(base) +
         " --layers 2 --width 128 --sequence 128 --batch 1 --repeats 1 --passes 6 --seconds 100 " +
         more;
}

/// Two nodes with two GPUs each.
std::vector<Burned> trained(const std::vector<Faults>& faults, const std::string& hang = "40") {
  const auto more = " --hang-after " + hang;
  Burning home{train_words(4, 0, "--make-id" + more), with(faults[0])};
  home.until("\"kind\":\"nccl-id\"");
  Burning other{train_words(4, 2, "--id " + id_of(home) + more), with(faults[1])};
  std::vector<Burned> ended;
  for (auto* node : {&home, &other}) ended.push_back(node->end());
  return ended;
}

double result_of(const Burned& burned, std::string_view name, std::string_view part) {
  for (const auto& result : burned.of_kind("result"))
    if (result.at("name").as_string() == name && result.at("part").as_string() == part)
      return result.at("value").to_number<double>();
  return -1;
}

TEST(TrainAcrossNodes, EveryNodeDoesTheSameStepsAndTellsEachGpusOwnTime) {
  const auto ended = trained({{}, {}});

  for (const auto& node : ended) {
    EXPECT_EQ(node.status, 0) << node.errors;
    EXPECT_TRUE(node.is_complete());
    EXPECT_THAT(node.of_kind("fault"), IsEmpty());
    EXPECT_EQ(node.of_kind("joined").size(), 1);
    EXPECT_EQ(node.of_kind("transport").size(), 1);
    EXPECT_EQ(result_of(node, "train.loss.differs", ""), 0);
    EXPECT_EQ(result_of(node, "train.steps", ""), 3) << "three to warm up";
    EXPECT_NEAR(result_of(node, "train.tokens", "") * result_of(node, "train.step", ""), 4 * 128, 1)
        << "of all four GPUs";
    for (const auto* gpu : {"gpu0", "gpu1"}) EXPECT_GT(result_of(node, "train.own", gpu), 0);
  }
}

TEST(TrainAcrossNodes, TheTimeOfASlowGpuIsItsOwn) {
  const auto ended = trained({{}, {"FAKE_SLOW=1:train_gelu_back:0:60"}});

  EXPECT_EQ(ended[1].status, 0) << ended[1].errors;
  // Two layers; how long a sound one takes here depends on this machine.
  EXPECT_GT(result_of(ended[1], "train.own", "gpu1"), 2 * 0.06);
}

TEST(TrainAcrossNodes, OnAHangEveryNodeSaysWhichSumItsRanksHaveEntered) {
  const auto ended = trained({{}, {"FAKE_HANGS=1:train_gelu_back:5"}}, "5");

  EXPECT_EQ(ended[1].status, 3) << ended[1].errors;
  const auto one = entered(ended[0]), other = entered(ended[1]);
  ASSERT_EQ(one.size(), 2);
  ASSERT_EQ(other.size(), 2);
  EXPECT_EQ(one[0], one[1]);
  EXPECT_EQ(other[0], one[0]);
  EXPECT_LT(other[1], one[0]) << "it did not enter what the others wait in";
}

TEST(TrainAcrossNodes, WhenOneNodeDiesTheOthersEndAtOnceWithNcclsReason) {
  Burning home{train_words(4, 0, "--make-id --hang-after 90"), with({})};
  home.until("\"kind\":\"nccl-id\"");
  Burning other{train_words(4, 2, "--id " + id_of(home) + " --hang-after 90"),
                with({"FAKE_SLOW=1:train_gelu_back:0:3000"})};
  other.until("\"doing\":\"training step\"");

  home.kill();

  const auto ended = other.end();
  EXPECT_EQ(ended.status, 2) << ended.errors;
  EXPECT_THAT(ended.of_kind("hang"), IsEmpty())
      << "memory was given back, which waits for sums that wait for who is gone";
  ASSERT_THAT(ended.of_kind("error"), Not(IsEmpty()));
  EXPECT_EQ(ended.of_kind("error")[0].at("code"), "nccl");
}

TEST(TrainAcrossNodes, WrongGradientsAreAFaultOfTheirGpu) {
  const auto ended = trained({{}, {"FAKE_WRONG=1:train_checksum:2"}});

  EXPECT_EQ(ended[0].status, 0) << ended[0].errors;
  EXPECT_EQ(ended[1].status, 1);
}

TEST(TrainAcrossNodes, IsRefusedWithoutACountOfSteps) {
  const Burned burned = Burning{"train --ranks 4 --make-id", with({})}.end();

  EXPECT_EQ(burned.status, 64);
  EXPECT_THAT(std::string{burned.of_kind("error").at(0).at("message").as_string()},
              HasSubstr("give --repeats"));
}
#else
TEST(AcrossNodes, EveryNodeFindsNothingWrongAndMeasuresTheSame) {
  GTEST_SKIP() << "no CUDA toolkit: cupel-burn was left out of this build";
}
#endif

}  // namespace
}  // namespace cupel::burn
