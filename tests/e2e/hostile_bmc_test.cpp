// A BMC whose JSON was made to fill the controller's memory costs a bounded part of it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/site.h"
#include "tests/support/small_machine.h"

namespace cupel::testing {
namespace {

/// Just below the limit of one answer, which is where most harm can be done.
constexpr std::size_t kNearlyTheLimit = 4'000'000;
/// The controller itself has some 30 MiB.
constexpr long kMostMebibytes = 100;

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kMeasures = false;  // they take several times the memory
#else
constexpr bool kMeasures = true;
#endif
#else
constexpr bool kMeasures = true;
#endif

std::string array_of(std::string_view piece, std::size_t bytes) {
  std::string text = "[";
  while (text.size() + piece.size() + 2 < bytes) text.append(piece).append(",");
  return text.append(piece).append("]");
}

std::string object_of_keys(std::size_t bytes) {
  std::string text = "{\"a\":0";
  for (int i = 0; text.size() + 20 < bytes; ++i) text += fmt::format(",\"k{}\":1", i);
  return text + "}";
}

struct Measured {
  int status = -1;
  long mebibytes = 0;  // at any time, of the process itself
  std::string out{};
};

/// Its output goes to a file: whoever reads a pipe meanwhile would need a thread.
Measured measured(const Site& site, std::vector<std::string> words) {
  const auto line = site.cupel(std::move(words));
  const auto out = (site.folder / "measured.out").string();
  std::vector<char*> argv;
  for (const auto& word : line) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const auto pid = ::fork();
  if (pid == 0) {
    const int to = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(to, STDOUT_FILENO);
    ::dup2(to, STDERR_FILENO);
    ::alarm(100);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  struct rusage used{};
  ::wait4(pid, &status, 0, &used);
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .mebibytes = used.ru_maxrss / 1024,
          .out = site.read("measured.out")};
}

class HostileDocuments : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { CUPEL_NEEDS_SITE(); }

  static std::string document() {
    switch (GetParam()) {
      case 0:
        return array_of("1", kNearlyTheLimit);
      case 1:
        return array_of("[]", kNearlyTheLimit);
      case 2:
        return array_of(R"({"a":1})", kNearlyTheLimit);
      default:
        return object_of_keys(kNearlyTheLimit);
    }
  }
};

TEST_P(HostileDocuments, CostBoundedMemoryAndNoOtherBmcItsAnswer) {
  Site site{2, Site::Slurm::none};
  site.bmc(1).change([](auto& options) {
    options.last_word = [text = document()](test::Exchanged& now) {
      if (now.method == "GET" && now.path.find("Systems") != now.path.npos) now.answer = text;
    };
  });

  const auto power = measured(site, {"bmc", "all", "power"});
  const auto inventory = measured(site, {"bmc", "all", "inventory"});

  EXPECT_EQ(power.status, 1) << power.out;
  EXPECT_THAT(power.out, AllOf(HasSubstr("s01-n02: on"), HasSubstr("values")));
  EXPECT_THAT(inventory.out, HasSubstr("s01-n02: Contoso 3500 serial 437XR1138R3"));
  if (!kMeasures) return;
  EXPECT_LT(power.mebibytes, kMostMebibytes);
  EXPECT_LT(inventory.mebibytes, kMostMebibytes);
}

INSTANTIATE_TEST_SUITE_P(All, HostileDocuments, ::testing::Range(0, 4));

class HostileBmcTest : public ::testing::Test {
 protected:
  void SetUp() override { CUPEL_NEEDS_SITE(); }
};

/// Each document is below every limit; it is their number that would fill the memory.
TEST_F(HostileBmcTest, CostsBoundedMemoryWhereManyDocumentsAreHeldAtATime) {
  Site site{1, Site::Slurm::none};
  site.bmc(1).change([](auto& options) {
    const auto filling = array_of("12345", 600'000);
    options.last_word = [filling](test::Exchanged& now) {
      if (now.method != "GET" || now.path.find("/Chassis") == now.path.npos) return;
      std::string members;
      for (int i = 0; i < 100; ++i)
        members +=
            fmt::format(R"({}{{"@odata.id":"/redfish/v1/Chassis/{}"}})", i == 0 ? "" : ",", i);
      now.status = 200;
      now.answer = fmt::format(R"({{"@odata.id":"{}","Id":"x","Members":[{}],"Filling":{}}})",
                               now.path, members, filling);
    };
  });

  const auto inventory = measured(site, {"bmc", "all", "inventory", "--patience", "20s"});

  EXPECT_THAT(inventory.out, HasSubstr("437XR1138R2"));
  if (kMeasures) EXPECT_LT(inventory.mebibytes, kMostMebibytes + 20);
}

}  // namespace
}  // namespace cupel::testing
