// A stage of our own programs on a real sshd, from the controller's folder to the verdict: brought,
// checked, run detached, and what becomes of it when something is lost on the way. The node's /opt
// is a file system of its own, which this machine does not see.
#include <signal.h>
#include <sys/mount.h>

#include <fstream>

#include "base/digest.h"
#include "base/file.h"
#include "orchestrator/store/store.h"
#include "tests/e2e/site.h"
#include "tests/support/own_host/own_host.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

constexpr std::chrono::seconds kLong{600};
constexpr const char* kOnNode = "/opt/cupel/bin/cupel-node";

constexpr const char* kWatched = R"(profile: lab
description: the machine that runs the tests
units: 1
power: {idle: 100, loaded: 200}
criteria:
  watch:
    - {measure: watch.cpu, at_most: 50, unit: "%", source: any machine}
)";

std::string text_at(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

class DeliveryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(Sshd::installed(), "openssh-server is not installed");
    CUPEL_NEEDS_REAL_PART(has_own_host(), "no mount namespace of its own: only root may make one");
    ASSERT_EQ(mount_opt("size=256m"), 0);
    site = std::make_unique<Site>(1, Site::Slurm::none);
    site->write("profiles/lab.yaml", kWatched);
    watch_for("2s");
  }
  void TearDown() override {
    site.reset();
    ::umount2("/opt", MNT_DETACH);
  }

  static int mount_opt(const char* size) { return ::mount("tmpfs", "/opt", "tmpfs", 0, size); }
  void watch_for(const std::string& duration) const {
    site->write("look.yaml",
                "playbook: look\nsteps:\n  - step: ssh-wait\n  - stage: watch\n"
                "    with: {duration: " +
                    duration + "}\n  - step: verdict\n");
  }
  std::vector<std::string> with_programs(std::vector<std::string> words) const {
    if (words.front() == "run") words.insert(words.end(), {"--wait-for-repair", "0s"});
    words.insert(words.begin(), {"--programs", fs::path{NODE_BINARY}.parent_path().string()});
    return site->cupel(std::move(words));
  }
  Ran run() const { return testing::run(with_programs({"run", "look.yaml", "--json"}), {}, kLong); }

  std::vector<engine::Event> events() const {
    const auto store = store::Store::open(site->folder / "state");
    if (!store) return {};
    auto all = (*store)->events(1);
    return all ? *std::move(all) : std::vector<engine::Event>{};
  }
  /// The handles of all jobs that run 1 started.
  std::vector<std::string> jobs() const {
    std::vector<std::string> handles;
    for (const auto& event : events())
      if (event.kind == engine::EventKind::step_started)
        handles.push_back(text_at(event.data, "handle"));
    return handles;
  }
  /// Once a process of the job lives: the journal knows of it a moment before.
  std::string job_under_way() const {
    const auto end = Deadline::in(kLong);
    while (!end.passed()) {
      const auto handles = jobs();
      if (!handles.empty() && !processes_of_job(handles.back()).empty()) return handles.back();
    }
    return {};
  }
  /// What the stage printed, as it is kept.
  std::string evidence() const {
    const auto store = store::Store::open(site->folder / "state");
    for (const auto& event : events()) {
      const auto hash = text_at(event.data, "evidence");
      if (!store || event.step != "watch" || hash.empty()) continue;
      const auto kept = (*store)->evidence(hash);
      if (kept) return *kept;
    }
    return {};
  }
  static std::size_t times(const std::string& text, const std::string& words) {
    std::size_t count = 0;
    for (auto at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++count;
    return count;
  }
  static std::string sum_of(const fs::path& file) {
    const auto bytes = read_file(file, 256u << 20);
    return bytes ? sha256_hex(*bytes) : "";
  }
  /// It ran once, to its end, and nothing of what it said is missing or there twice.
  void expect_whole(const Ran& ran) const {
    EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr(R"("verdict":"pass")"));
    EXPECT_EQ(jobs().size(), 1);
    const auto output = evidence();
    EXPECT_EQ(times(output, R"({"kind":"watch")"), 1) << output;
    EXPECT_EQ(times(output, R"({"kind":"summary")"), 1) << output;
    EXPECT_THAT(output, HasSubstr(R"("complete":true)"));
    EXPECT_FALSE(fs::exists(jobs().back())) << "its folder is still there";
  }

  std::unique_ptr<Site> site{};
};

TEST_F(DeliveryTest, BringsTheProgramRunsItDetachedAndJudgesItsOutput) {
  const auto ran = run();

  expect_whole(ran);
  EXPECT_EQ(sum_of(kOnNode), sum_of(NODE_BINARY));
}

TEST_F(DeliveryTest, LosesNothingWhenItsConnectionIsKilledInTheMiddle) {
  watch_for("15s");
  Child cupel{with_programs({"run", "look.yaml", "--json"})};
  const auto job = job_under_way();
  ASSERT_FALSE(job.empty()) << cupel.wait(std::chrono::seconds{0}).err;

  const auto sessions = children_of(site->sshd->pid());
  for (const auto each : sessions) ::kill(each, SIGKILL);

  EXPECT_THAT(sessions, Not(IsEmpty()));
  EXPECT_THAT(processes_of_job(job), Not(IsEmpty())) << "it went with its connection";
  expect_whole(cupel.wait(kLong));
}

TEST_F(DeliveryTest, IsFoundAgainByTheNextControllerAndNotStartedASecondTime) {
  watch_for("15s");
  Child first{with_programs({"run", "look.yaml", "--json"})};
  const auto job = job_under_way();
  ASSERT_FALSE(job.empty()) << first.wait(std::chrono::seconds{0}).err;

  first.signal(SIGKILL);
  first.wait();

  EXPECT_THAT(processes_of_job(job), Not(IsEmpty())) << "it went with its controller";
  expect_whole(testing::run(with_programs({"resume", "--json"}), {}, kLong));
}

TEST_F(DeliveryTest, ReplacesAProgramThatIsNotOursBeforeItRuns) {
  const auto owned = site->folder / "owned";
  fs::create_directories("/opt/cupel/bin");
  std::ofstream{kOnNode} << "#!/bin/sh\ntouch " << owned.string() << "\n";
  fs::permissions(kOnNode, fs::perms{0755});

  const auto ran = run();

  expect_whole(ran);
  EXPECT_FALSE(fs::exists(owned)) << "the strange program ran";
  EXPECT_EQ(sum_of(kOnNode), sum_of(NODE_BINARY));
}

TEST_F(DeliveryTest, SaysThatTheDiskIsFullAndRunsNothingThatIsHalfThere) {
  ASSERT_EQ(mount_opt("size=1m"), 0);

  const auto ran = run();

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("bring cupel-node to /opt/cupel/bin"),
                             HasSubstr("No space left on device"), HasSubstr("inconclusive")));
  EXPECT_TRUE(fs::is_empty("/opt/cupel/bin"));
  ::umount2("/opt", MNT_DETACH);
}

}  // namespace
}  // namespace cupel::testing
