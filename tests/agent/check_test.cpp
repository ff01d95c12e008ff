// The light test of a node: what it says of which reading, and what it does in a real Slurm.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/json.h"
#include "burnin/agent/node/check/judge_node.h"
#include "burnin/agent/node/check/run_command.h"
#include "burnin/agent/node/check/slurm_node.h"
#include "burnin/criteria/light_check.h"
#include "inventory/load_profile.h"
#include "inventory/shipped.h"
#include "tests/agent/node_tree.h"
#include "tests/support/child.h"
#include "tests/support/real_part.h"
#include "tests/support/slurm.h"

namespace cupel::agent {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

JsonValue parsed(const std::string& text) {
  auto value = JsonValue::parse(text);
  EXPECT_TRUE(value) << value.error().what << text;
  return *std::move(value);
}

std::vector<std::string> judged(const std::string& expected, const std::string& facts,
                                const std::string& log = "{}", std::vector<unsigned> job = {}) {
  const auto expectations = parse_expectations(expected);
  EXPECT_TRUE(expectations) << expectations.error().what;
  std::vector<std::string> words;
  for (const auto& each : judge_node(*expectations, {parsed(facts), parsed(log), std::move(job)}))
    words.push_back(to_string(each));
  return words;
}

std::string gpu(const std::string& more) {
  return R"({"gpus": [{"index": 3, "pci": "0000:52:00.0", "memory": 85899345920, )" + more + "}]}";
}

TEST(NodeCheck, FindsNothingWrongWithWhatItDoesNotKnow) {
  EXPECT_THAT(judged("{}", "{}"), IsEmpty());
  EXPECT_THAT(judged("{}", gpu(R"("ecc": {"now": false, "pending": false})")), IsEmpty());
}

TEST(NodeCheck, NamesGpusThatTheDriverHasLost) {
  const std::string facts = R"({"pci": [
      {"address": "0000:1b:00.0", "kind": "gpu", "vendor": "0x10de"},
      {"address": "0000:52:00.0", "kind": "gpu", "vendor": "0x10de"}],
      "gpus": [{"index": 0, "pci": "0000:1b:00.0"}]})";

  EXPECT_THAT(judged("{}", facts),
              ElementsAre("1 of 2 GPUs answer, the driver has lost 0000:52:00.0"));
  EXPECT_THAT(judged(R"({"gpus": 8})", "{}"),
              ElementsAre("the NVIDIA driver answers for none of 8 GPUs"));
  EXPECT_THAT(judged(R"({"gpus": 0})", "{}"), IsEmpty());
}

struct CheckReading {
  const char* expected;
  std::string facts;
  const char* says;
};

TEST(NodeCheck, SaysWhatIsWrongWithWhichPart) {
  const CheckReading readings[] = {
      {"{}", gpu(R"("counters": {"ecc_uncorrected": 2})"),
       "gpu3: 2 uncorrected ECC errors since the driver was loaded"},
      {"{}", gpu(R"("counters": {"remap_pending": 1})"),
       "gpu3: 1 row remap waits for a reset of the GPU"},
      {"{}", gpu(R"("counters": {"remap_failed": 1})"), "gpu3: 1 row remaps failed"},
      {"{}", gpu(R"("fabric": {"state": "completed", "status": "insufficient resources"})"),
       "gpu3: the NVLink fabric could not be set up: insufficient resources"},
      {"{}",
       gpu(R"("fabric": {"state": "completed", "status": "success", "faults": ["route unhealthy"]})"),
       "gpu3: NVLink fabric: route unhealthy"},
      {R"({"nvlinks": 2})",
       gpu(R"("nvlinks": [{"link": 0, "active": true}, {"link": 1, "active": false}])"),
       "gpu3: 1 of 2 NVLinks are active"},
      {R"({"ecc": true})", gpu(R"("ecc": {"now": false, "pending": true})"), "gpu3: ECC is off"},
      {R"({"gpu_memory_gib": 100})", gpu(R"("uuid": "x")"), "gpu3: 80 GiB of memory, expected 100"},
      {R"({"gpu_pcie_width": 16})", gpu(R"("pcie_width": 8)"),
       "gpu3: PCIe link is x8, expected x16"},
      {"{}", gpu(R"("power": {"enforced": 350, "default": 700})"),
       "gpu3: power is capped at 350 W of 700"},
      {R"({"memory_gib": 2000})", R"({"memory": {"bytes": 1099511627776}})",
       "memory: 1024 GiB, expected 2000"},
      {"{}", R"({"edac": [{"dimms": [{"label": "A7", "uncorrected": 1}]}]})",
       "dimm A7: 1 uncorrected memory errors since the start"},
      {R"({"hcas": 2})", R"({"infiniband": [{"name": "mlx5_0"}]})", "1 of 2 HCAs are there"},
      {R"({"ports": [{"name": "mlx5_1", "gbits": 400}]})", R"({"infiniband": []})",
       "mlx5_1: the HCA is not there"},
      {R"({"ports": [{"name": "mlx5_0", "gbits": 400}]})",
       R"({"infiniband": [{"name": "mlx5_0", "ports": [{"port": 1, "state": "DOWN"}]}]})",
       "mlx5_0/1: the port is DOWN, expected ACTIVE"},
      {R"({"ports": [{"name": "mlx5_0", "gbits": 400}]})",
       R"({"infiniband": [{"name": "mlx5_0", "ports": [{"port": 1, "state": "ACTIVE", "gbits": 200}]}]})",
       "mlx5_0/1: 200 Gb/s, expected 400"},
      {"{}",
       R"({"infiniband": [{"name": "mlx5_0", "ports": [{"port": 1, "state": "INIT", "phys_state": "LinkUp"}]}]})",
       "mlx5_0/1: the link is up and no subnet manager has made it active"},
      {R"({"nvme": 2})", R"({"nvme": [{"name": "nvme0", "state": "live"}]})",
       "1 of 2 NVMe drives are there"},
      {"{}", R"({"nvme": [{"name": "nvme0", "state": "dead"}]})", "nvme0: the controller is dead"},
      {"{}", R"({"nvme": [{"name": "nvme0", "smart": {"warnings": 4}}]})",
       "nvme0: SMART critical warning 4"},
      {R"({"fabric_manager": true})", R"({"fabric_manager": {"state": "inactive"}})",
       "nvidia-fabricmanager is inactive"},
      {R"({"time_synchronised": true})", R"({"time": {"synchronised": false}})",
       "the clock is not synchronised"},
  };
  for (const auto& each : readings)
    EXPECT_THAT(judged(each.expected, each.facts), ElementsAre(each.says));
}

TEST(NodeCheck, TakesErrorsOfPartsFromTheKernelsLogAndNotThoseOfPrograms) {
  const std::string log = R"({"messages": [
      {"class": "xid", "weight": "error", "code": 79, "part": "gpu3", "detail": "GPU has fallen off the bus."},
      {"class": "xid", "weight": "information", "code": 13, "part": "gpu2"},
      {"class": "oom", "weight": "error", "part": ""},
      {"class": "hang", "weight": "error", "part": ""},
      {"class": "aer", "weight": "corrected", "part": "gpu1"},
      {"class": "mce", "weight": "error", "part": "CPU3", "detail": "\u001b[2J bank 5"}]})";

  const auto words = judged("{}", "{}", log);

  ASSERT_EQ(words.size(), 2);
  EXPECT_EQ(words[0], "gpu3: the kernel's log has Xid 79 (GPU has fallen off the bus.)");
  EXPECT_THAT(words[1], AllOf(HasSubstr("CPU3: the kernel's log has mce"), Not(HasSubstr("\x1b"))));
}

TEST(NodeCheck, LooksForMemoryInUseOnTheGpusOfTheJobAlone) {
  const auto facts = gpu(R"("memory_used": 40000000000)");

  EXPECT_THAT(judged("{}", facts), IsEmpty());  // somebody's job may run on it
  EXPECT_THAT(judged("{}", facts, "{}", {2}), IsEmpty());
  EXPECT_THAT(judged("{}", facts, "{}", {2, 3}),
              ElementsAre("gpu3: 37.3 GiB of its memory are in use, and no job is to use it"));
}

TEST(NodeCheck, LooksAtMountsWithoutTouchingThoseOfTheNetwork) {
  const NodeTree node;
  node.write("/proc/mounts",
             "/dev/sda1 / ext4 ro,relatime 0 0\n"
             "server:/x /mnt/shared nfs rw 0 0\n"
             "tmpfs /tmp tmpfs rw 0 0");
  node.write("/tmp/file", "");
  const auto expected = parse_expectations(
      R"({"mounts": ["/mnt/shared", "/scratch"], "free": {"/mnt/shared": 100, "/tmp": 100}})");

  std::vector<std::string> words;
  for (const auto& each : judge_file_systems(*expected, node.tree()))
    words.push_back(to_string(each));

  ASSERT_EQ(words.size(), 3) << ::testing::PrintToString(words);
  EXPECT_EQ(words[0], "/: is read-only");
  EXPECT_EQ(words[1], "/scratch: is not mounted");
  EXPECT_THAT(words[2], AllOf(HasSubstr("/tmp: "), HasSubstr(" % are free, expected 100 %")));
}

TEST(NodeCheck, RefusesExpectationsThatItDoesNotUnderstand) {
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"[]", "expected an object"},
           {R"({"gpu": 8})", "there is no key \"gpu\""},
           {R"({"gpus": "8"})", "gpus: expected a number"},
           {R"({"gpus": -1})", "gpus: expected a number"},
           {R"({"ecc": 1})", "ecc: expected true or false"},
           {R"({"ports": [{"name": "mlx5_0"}]})", "ports: expected a list of {name, gbits}"},
           {R"({"mounts": ["relative"]})", "mounts: expected a list of paths"},
           {R"({"free": {"/": 200}})", "free: expected per cent by path"}}) {
    const auto refused = parse_expectations(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_THAT(refused.error().what, HasSubstr(why));
  }
}

TEST(NodeCheck, UnderstandsWhatIsMadeOfEveryShippedProfile) {
  int profiles = 0;
  for (const auto& file : inventory::shipped_files()) {
    if (!file.path.starts_with("inventory/profiles/")) continue;
    std::vector<inventory::Problem> problems;
    const auto name = std::filesystem::path{file.path}.stem().string();
    const auto profile = inventory::ProfileSource{"/nowhere"}.load(name, problems);
    ASSERT_TRUE(profile) << to_string(problems);

    const auto made = parse_expectations(json::serialize(burnin::light_check_of(*profile)));

    ASSERT_TRUE(made) << name << ": " << made.error().what;
    ++profiles;
    if (name != "dgx-h100") continue;
    EXPECT_EQ(made->gpus, 8);
    EXPECT_EQ(made->nvlinks, 18);
    EXPECT_EQ(made->hcas, 12);
    EXPECT_EQ(made->ports.size(), 12u);
    EXPECT_EQ(made->memory_gib, 1945);
    EXPECT_EQ(made->ecc, true);
  }
  EXPECT_GT(profiles, 10);
}

TEST(SlurmOfTheCheck, ReadsStateAndReason) {
  const auto state = parse_slurm_state(
      "NodeName=n1 Arch=x86_64 CPUTot=2 State=IDLE+DRAIN ThreadsPerCore=1 "
      "Reason=cupel-check: gpu3: 2 errors [root@2026-11-25T10:00:00]");

  ASSERT_TRUE(state);
  EXPECT_EQ(state->name, "n1");
  EXPECT_TRUE(state->drained);
  EXPECT_FALSE(state->down);
  EXPECT_EQ(state->reason, "cupel-check: gpu3: 2 errors");
  EXPECT_TRUE(parse_slurm_state("NodeName=n1 State=DOWN*+DRAIN Reason=x")->down);
  EXPECT_FALSE(parse_slurm_state("Node n1 not found"));
  EXPECT_FALSE(parse_slurm_state("NodeName=a State=IDLE\nNodeName=b State=IDLE"));
}

TEST(SlurmOfTheCheck, TakesBackItsOwnDrainAndNobodyElses) {
  const auto drained = [](const char* reason, bool down = false) {
    return SlurmState{"n1", true, down, reason};
  };
  const SlurmState idle{"n1", false, false, ""};

  EXPECT_EQ(act_for(idle, false, false), SlurmAct::drain);
  EXPECT_EQ(act_for(idle, true, true), SlurmAct::nothing);
  EXPECT_EQ(act_for(drained("kim: new DIMMs"), false, true), SlurmAct::nothing);
  EXPECT_EQ(act_for(drained("kim: new DIMMs"), true, true), SlurmAct::nothing);
  EXPECT_EQ(act_for(drained("cupel: fail: gpu3 (run 1)"), true, true), SlurmAct::nothing);
  EXPECT_EQ(act_for(drained("cupel-check: gpu3: x"), true, true), SlurmAct::resume);
  EXPECT_EQ(act_for(drained("cupel-check: gpu3: x"), true, false), SlurmAct::nothing);
  EXPECT_EQ(act_for(drained("cupel-check: gpu3: x", true), true, true), SlurmAct::nothing);
}

TEST(SlurmOfTheCheck, WritesAReasonThatSlurmsToolsTake) {
  EXPECT_EQ(check_reason({"gpu3: 2 errors"}), "cupel-check: gpu3: 2 errors");
  EXPECT_EQ(check_reason({"a \"b\" 'c' `d`\n\x1b[2J"}), "cupel-check: a b c d[2J");
  const std::vector<std::string> many(100, std::string(60, 'x'));
  const auto reason = check_reason(many);
  EXPECT_LE(reason.size(), 240u);
  EXPECT_THAT(reason, HasSubstr("; +9"));
  EXPECT_LE(check_reason({std::string(5000, 'y')}).size(), 240u);
}

TEST(SlurmOfTheCheck, AsksForOneNodeOnly) {
  for (const auto* bad : {"ALL", "default", "n[1-9]", "-n", "a b", "a,b", "n1\n"})
    EXPECT_FALSE(slurm_name(bad)) << bad;
  EXPECT_EQ(*slurm_name("a01-n07"), "a01-n07");
}

TEST(RunCommand, EndsWhatTakesTooLongAndSaysWhatFailed) {
  const auto soon = std::chrono::steady_clock::now() + 200ms;
  const auto later = std::chrono::steady_clock::now() + 20s;

  EXPECT_EQ(run_command({"sleep", "60"}, soon).error().code, Code::kTimeout);
  EXPECT_EQ(run_command({"no-such-program-here"}, later).error().code, Code::kNotFound);
  const auto failed = run_command({"sh", "-c", "echo out; echo why >&2; exit 3"}, later);
  EXPECT_EQ(failed.error().code, Code::kFailed);
  EXPECT_THAT(failed.error().what, HasSubstr("why"));
  EXPECT_EQ(*run_command({"echo", "-n", "so"}, later), "so");
}

/// The program itself, on a tree of a machine that is well but for what a test writes.
class CheckProgram : public ::testing::Test {
 protected:
  CheckProgram() {
    node.write("/proc/sys/kernel/random/boot_id", "4f1c2b0a-0000-4000-8000-000000000001");
    node.write("/proc/mounts", "/dev/sda1 / ext4 rw 0 0");
    node.hca("mlx5_0", "pci0000:15/0000:18:00.0");
    log({"usb 1-1: new device"});
  }
  void log(const std::vector<std::string>& texts) const {
    std::string all;
    int at = 1;
    for (const auto& text : texts)
      all += "4," + std::to_string(at) + "," + std::to_string(at * 1'000'000) + ",-;" + text + "\n",
          ++at;
    node.write_bytes("/dev/kmsg", all);
  }
  std::vector<std::string> words(std::vector<std::string> more) const {
    std::vector<std::string> all{
        NODE_BINARY, "check",        "--root",         node.root(),
        "--nvml",    "libabsent.so", "--acknowledged", node.root() + "/known"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  testing::Ran check(std::vector<std::string> more = {},
                     std::vector<std::string> environment = {}) const {
    return testing::run(words(std::move(more)), std::move(environment), 60s);
  }
  static constexpr const char* kLost =
      "NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.";

  NodeTree node{};
};

TEST_F(CheckProgram, EndsWithZeroOnANodeThatIsWellAndWithOneWhereItIsNot) {
  const auto well = check();
  log({"usb 1-1: new device", kLost});
  const auto lost = check({"--json"});

  EXPECT_EQ(well.status, 0) << well.out << well.err;
  EXPECT_THAT(well.out, HasSubstr("well; counts were compared with nothing: no /etc/cupel/check"));
  EXPECT_EQ(lost.status, 1) << lost.err;
  const auto reported = parse_json(lost.out).value();
  EXPECT_EQ(find(reported, "well")->as_bool(), false);
  EXPECT_THAT(*text_at(find(reported, "complaints")->as_array().at(0), "what"),
              HasSubstr("Xid 79"));
}

TEST_F(CheckProgram, ForgetsWhatAPersonHasAcknowledgedAndNothingElse) {
  log({"usb 1-1: new device", kLost});
  ASSERT_EQ(check().status, 1);

  EXPECT_EQ(check({"--acknowledge"}).status, 0);
  EXPECT_EQ(check().status, 0);
  log({"usb 1-1: new device", kLost, kLost});
  EXPECT_EQ(check().status, 1);
}

TEST_F(CheckProgram, ComparesWithItsFileAndDoesNothingWhereThatIsWrong) {
  node.write("/check.json", R"({"hcas": 2, "made_of": "dgx-h100"})");
  const auto file = node.root() + "/check.json";

  const auto fewer = check({"--expect", file});
  node.write("/check.json", R"({"hcsa": 2})");
  const auto wrong = check({"--expect", file});
  const auto absent = check({"--expect", file + ".no"});

  EXPECT_EQ(fewer.status, 1);
  EXPECT_EQ(fewer.out, "1 of 2 HCAs are there\n");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("there is no key \"hcsa\"; nothing was done"));
  EXPECT_EQ(absent.status, 2);
}

TEST_F(CheckProgram, GivesUpOnAReadingThatHangsAndJudgesNothing) {
  const auto fifo = node.root() + "/lib.so";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);  // dlopen() of it never returns
  auto all = words({"--limit", "0.5"});
  *(std::ranges::find(all, "libabsent.so")) = fifo;

  const auto ran = testing::run(all, {}, 60s);

  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("reading the node: no answer in time; nothing was done"));
}

/// Of this machine, as it is: no more than a light test may need.
TEST(CheckProgramHere, NeedsLittleMemory) {
  const NodeTree empty;
  empty.write("/check.json", "{}");
  const auto expect = empty.root() + "/check.json";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::execl(NODE_BINARY, NODE_BINARY, "check", "--json", "--acknowledged", "/nowhere/known",
            "--expect", expect.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  ASSERT_EQ(::wait4(child, &status, 0, &used), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_LE(WEXITSTATUS(status), 1);
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
  EXPECT_LT(used.ru_maxrss, 30 * 1024);  // KiB
#endif
}

TEST_F(CheckProgram, DrainsItsNodeWithTheCauseAndTakesBackNoDrainButItsOwn) {
  CUPEL_NEEDS_REAL_PART(testing::LoopbackSlurm::installed(), "slurm-wlm or munge is not installed");
  const testing::LoopbackSlurm slurm{"n1", "NodeName=n1 CPUs=2 RealMemory=1000 State=UNKNOWN\n"};
  const std::vector<std::string> conf{"SLURM_CONF=" + slurm.configuration()};
  const auto in_slurm = [&](std::vector<std::string> more = {}) {
    std::vector<std::string> all{"--slurm", "--node", "n1", "--limit", "60"};
    all.insert(all.end(), more.begin(), more.end());
    return check(all, conf);
  };
  const auto scontrol = [&](std::vector<std::string> change) {
    std::vector<std::string> all{"scontrol", "update", "NodeName=n1"};
    all.insert(all.end(), change.begin(), change.end());
    EXPECT_EQ(testing::run(all, conf, 30s).status, 0);
  };
  ASSERT_THAT(slurm.state("n1"), HasSubstr("idle"));

  log({"usb 1-1: new device", kLost});
  EXPECT_EQ(in_slurm().status, 1);
  EXPECT_THAT(slurm.state("n1"), HasSubstr("drain"));
  EXPECT_THAT(slurm.reason("n1"), HasSubstr("cupel-check: "));
  EXPECT_THAT(slurm.reason("n1"), HasSubstr("Xid 79 (GPU has fallen off the bus.)"));

  log({"usb 1-1: new device"});
  EXPECT_EQ(in_slurm().status, 0);
  EXPECT_THAT(slurm.state("n1"), HasSubstr("drain"));  // nobody said that it may come back
  const auto resumed = in_slurm({"--resume"});
  EXPECT_THAT(resumed.out, HasSubstr("resumed n1, which an earlier check had drained"));
  EXPECT_THAT(slurm.state("n1"), HasSubstr("idle"));

  scontrol({"State=DRAIN", "Reason=kim: new DIMMs"});
  const auto others = in_slurm({"--resume"});
  EXPECT_EQ(others.status, 0);
  EXPECT_THAT(others.out, HasSubstr("n1 stays drained: kim: new DIMMs"));
  log({"usb 1-1: new device", kLost});
  EXPECT_EQ(in_slurm({"--resume"}).status, 1);
  EXPECT_EQ(slurm.reason("n1"), "kim: new DIMMs");
}

}  // namespace
}  // namespace cupel::agent
