#include "burnin/agent/node/watch/watch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/json.h"
#include "tests/agent/fake_nvml.h"
#include "tests/agent/node_tree.h"

namespace cupel::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

/// A pipe in the place of /dev/kmsg.
class KernelPipe {
 public:
  explicit KernelPipe(const NodeTree& node) {
    std::filesystem::create_directories(node.root() + "/dev");
    const auto path = node.root() + "/dev/kmsg";
    ::mkfifo(path.c_str(), 0600);
    file_ = Descriptor{::open(path.c_str(), O_RDWR | O_NONBLOCK)};
  }
  void say(const std::string& text) {
    const auto record = "4," + std::to_string(next_++) + ",1000000,-;" + text + "\n";
    ASSERT_EQ(::write(file_.number(), record.data(), record.size()),
              static_cast<ssize_t>(record.size()));
  }

 private:
  Descriptor file_;
  int next_ = 1;
};

/// Twelve HCAs, two sockets, fans and drives.
void put_machine(const NodeTree& node) {
  for (int i = 0; i < 12; ++i) {
    const auto bus = std::string{"0123456789ab"}.substr(static_cast<std::size_t>(i), 1);
    const auto place = "pci0000:15/0000:15:01.0/0000:a" + bus + ":00.0";
    node.pci(place, "0x020700", "0x15b3", "32.0 x16", "32.0 x16");
    node.write("/sys/devices/" + place + "/net/ib" + std::to_string(i) + "/address", "x");
    node.hca("mlx5_" + std::to_string(i), place);
  }
  for (int i = 0; i < 2; ++i) {
    const auto chip = "/sys/class/hwmon/hwmon" + std::to_string(i);
    node.write(chip + "/name", "coretemp");
    node.write(chip + "/temp1_label", "Package id " + std::to_string(i));
    node.write(chip + "/temp1_input", "5" + std::to_string(i) + "000");
    const auto cpu = "/sys/devices/system/cpu/cpu" + std::to_string(i);
    node.write(cpu + "/topology/physical_package_id", std::to_string(i));
    node.write(cpu + "/cpufreq/scaling_cur_freq", "3800000");
    const auto other = "/sys/devices/system/cpu/cpu" + std::to_string(i + 2);
    node.write(other + "/topology/physical_package_id", std::to_string(i));
    node.write(other + "/cpufreq/scaling_cur_freq", "800000");
    node.write("/sys/class/hwmon/hwmon2/fan" + std::to_string(i + 1) + "_input", "9000");
  }
  node.write("/sys/class/hwmon/hwmon2/name", "dell_smm");
  node.write("/sys/devices/system/edac/mc/mc0/ue_count", "0");
  node.write("/sys/devices/system/edac/mc/mc0/ce_count", "5");
}

struct Watched {
  std::vector<json::value> lines{};
  Watch::Say say() {
    return [this](const std::string& text) {
      auto line = parse_json(text);
      ASSERT_TRUE(line) << text;
      lines.push_back(*std::move(line));
    };
  }
  std::vector<const json::value*> of(std::string_view kind) const {
    std::vector<const json::value*> found;
    for (const auto& line : lines)
      if (text_at(line, "kind") == kind) found.push_back(&line);
    return found;
  }
};

/// The row of `list` of that part and name (or reason).
const json::value* row(const json::value& summary, std::string_view list, std::string_view part,
                       std::string_view name) {
  for (const auto& each : find(summary, list)->as_array()) {
    const bool same = text_at(each, "name") == name || text_at(each, "reason") == name ||
                      text_at(each, "class") == name;
    if (text_at(each, "part").value_or("") == part && same) return &each;
  }
  return nullptr;
}

TEST(Watch, SaysFirstWhatItWillSampleAndWhatItCannot) {
  const NodeTree node;
  const nvml::Library library{"libabsent.so"};
  Watched watched;
  Watch watch{node.tree(), library, {}, watched.say()};

  watch.begin();

  const auto& hello = watched.lines.at(0);
  EXPECT_EQ(text_at(hello, "kind"), "watch");
  EXPECT_TRUE(find(hello, "sampled")->as_object().empty());
  std::vector<std::string> facts;
  for (const auto& each : find(hello, "unknown")->as_array())
    facts.push_back(*text_at(each, "fact"));
  EXPECT_THAT(facts, ElementsAre("GPUs", "fabric ports", "CPU temperatures", "fans", "CPU clocks",
                                 "memory errors", "kernel messages"));
}

TEST(Watch, AddsUpWhatItSawOfEachPart) {
  const NodeTree node;
  put_machine(node);
  const Planted board;
  const nvml::Library library{FAKE_NVML_WHOLE};
  Watched watched;
  Watch watch{
      node.tree(), library, {.seconds = 3, .every = 1, .print = 1, .slow = 1}, watched.say()};
  watch.begin();

  for (int second = 0; second < 3; ++second) {
    board.plant(2, "power", 500'000 + 100'000 * second);
    board.plant(2, "temperature", 60 + second);
    board.plant(2, "field:82", 80 + second);
    board.plant(2, "throttle", second == 1 ? 0x44 : 0x4);
    board.plant(5, "field:4", second);
    node.write("/sys/class/infiniband/mlx5_3/ports/1/counters/port_xmit_data",
               std::to_string(1000 * second));
    node.write("/sys/class/infiniband/mlx5_3/ports/1/counters/symbol_error", second == 1   ? "7"
                                                                             : second == 2 ? "2"
                                                                                           : "0");
    watch.sample(second);
  }
  watch.end(3, false);

  EXPECT_EQ(watched.of("sample").size(), 3);
  const auto& second = find(*watched.of("sample")[1], "parts")->as_object();
  EXPECT_EQ(number_at(second.at("gpu2"), "power"), 600);
  EXPECT_EQ(second.at("gpu2").at("throttle"), (json::array{"power-cap", "hw-thermal"}));
  EXPECT_EQ(number_at(second.at("cpu1"), "temperature"), 51);
  EXPECT_EQ(number_at(second.at("cpu0"), "clock"), 3800);
  EXPECT_EQ(number_at(second.at("fan1"), "fan"), 9000);
  const auto& sum = watched.lines.back();
  EXPECT_TRUE(find(sum, "complete")->as_bool());
  const auto* power = row(sum, "values", "gpu2", "power");
  ASSERT_NE(power, nullptr);
  EXPECT_EQ(number_at(*power, "min"), 500);
  EXPECT_EQ(number_at(*power, "mean"), 600);
  EXPECT_EQ(number_at(*power, "max"), 700);
  EXPECT_EQ(number_at(*row(sum, "values", "gpu2", "temperature.memory"), "max"), 82);
  EXPECT_EQ(number_at(*row(sum, "counters", "gpu5", "ecc.uncorrected"), "grown"), 2);
  EXPECT_EQ(number_at(*row(sum, "counters", "mlx5_3", "sent"), "grown"), 8000);
  // It was set to nought between 7 and 2.
  EXPECT_EQ(number_at(*row(sum, "counters", "mlx5_3", "symbol_errors"), "grown"), 9);
  EXPECT_EQ(number_at(*row(sum, "counters", "mc0", "corrected"), "grown"), 0);
  EXPECT_EQ(number_at(*row(sum, "throttled", "gpu2", "hw-thermal"), "seconds"), 1);
  EXPECT_EQ(number_at(*row(sum, "throttled", "gpu2", "power-cap"), "seconds"), 3);
}

/// What a GPU said in the first line that nobody can tell of it.
std::vector<std::string> gaps_of(const json::value& hello, std::string_view gpu) {
  std::vector<std::string> facts;
  for (const auto& each : find(hello, "unknown")->as_array())
    if (const auto fact = *text_at(each, "fact"); fact.ends_with(gpu)) facts.push_back(fact);
  return facts;
}

TEST(Watch, ReadsTheLinksOfEachGenerationByItsOwnCounters) {
  const NodeTree node;
  const Planted board;
  for (unsigned gpu = 0; gpu < 4; ++gpu) board.plant(gpu, "nvlink", 5);
  const nvml::Library library{FAKE_NVML_WHOLE};
  Watched watched;
  Watch watch{node.tree(), library, {.seconds = 2, .every = 1, .slow = 1}, watched.say()};
  watch.begin();
  watch.sample(0);

  board.plant(1, "field:221", 12);     // symbol errors
  board.plant(1, "field:214", 1);      // recoveries that failed
  board.plant(1, "field:222", 0x30B);  // 3e-11
  board.plant(6, "field:45", 9);       // CRC errors in data
  watch.sample(1);
  watch.end(2, false);

  const auto& sum = watched.lines.back();
  EXPECT_EQ(number_at(*row(sum, "counters", "gpu1", "nvlink.errors.symbol"), "grown"), 12);
  EXPECT_EQ(number_at(*row(sum, "counters", "gpu1", "nvlink.recoveries.failed"), "grown"), 1);
  EXPECT_DOUBLE_EQ(number_at(*row(sum, "values", "gpu1", "nvlink.ber.symbol"), "max").value_or(0),
                   3e-11);
  EXPECT_EQ(row(sum, "counters", "gpu1", "nvlink.crc"), nullptr);
  EXPECT_EQ(number_at(*row(sum, "counters", "gpu6", "nvlink.crc.data"), "grown"), 9);
  EXPECT_EQ(row(sum, "counters", "gpu6", "nvlink.errors.symbol"), nullptr);
  EXPECT_THAT(gaps_of(watched.lines[0], "gpu1"), ElementsAre());
  EXPECT_THAT(gaps_of(watched.lines[0], "gpu6"), ElementsAre("nvlink.recoveries of gpu6"));
}

TEST(Watch, ReadsSlowThingsSeldomAndPrintsNoOftenerThanAsked) {
  const NodeTree node;
  put_machine(node);
  const nvml::Library library{FAKE_NVML_WHOLE};
  Watched watched;
  Watch watch{
      node.tree(), library, {.seconds = 30, .every = 1, .print = 5, .slow = 10}, watched.say()};
  watch.begin();

  for (int second = 0; second < 30; ++second) watch.sample(second);
  watch.end(30, false);

  EXPECT_EQ(watched.of("sample").size(), 6);
  const auto& sum = watched.lines.back();
  EXPECT_EQ(number_at(sum, "samples"), 30);
  EXPECT_EQ(number_at(*row(sum, "values", "gpu0", "power"), "count"), 30);
  EXPECT_EQ(number_at(*row(sum, "values", "gpu0", "remap.pending"), "count"), 3);
}

TEST(Watch, PrintsEachSampleAroundAFaultAndFewElsewhere) {
  const NodeTree node;
  put_machine(node);
  const Planted board;
  const nvml::Library library{FAKE_NVML_WHOLE};
  Watched watched;
  Watch watch{
      node.tree(), library, {.seconds = 300, .every = 1, .print = 100, .slow = 1}, watched.say()};
  watch.begin();

  for (int second = 0; second < 300; ++second) {
    if (second == 150) board.plant(5, "field:4", 3);  // uncorrected errors
    watch.sample(second);
  }
  watch.end(300, false);

  std::vector<double> near, far;
  for (const auto* line : watched.of("sample")) {
    const double at = number_at(*line, "seconds").value_or(-1);
    (at >= 120 && at <= 180 ? near : far).push_back(at);
  }
  EXPECT_EQ(near.size(), 61);
  EXPECT_THAT(far, ElementsAre(0, 100, 200));
  EXPECT_TRUE(std::ranges::is_sorted(near));
}

TEST(Watch, PrintsNoMoreForFaultsThanItsSizeAllows) {
  const NodeTree node;
  put_machine(node);
  const Planted board;
  const nvml::Library library{FAKE_NVML_WHOLE};
  Watched watched;
  std::size_t bytes = 0;
  const auto whole = watched.say();
  Watch watch{node.tree(),
              library,
              {.seconds = 259'200, .every = 1, .print = 432, .slow = 1},
              [&](const std::string& text) {
                bytes += text.size();
                whole(text);
              }};
  watch.begin();

  // All that may be printed around faults is, by the second of the three samples that are due.
  for (int second = 0; second < 900; ++second) {
    board.plant(5, "field:4", second);
    watch.sample(second);
  }

  const auto samples = static_cast<double>(watched.of("sample").size());
  const auto whole_size = static_cast<double>(bytes);
  EXPECT_GT(whole_size, 0.8e6);
  // A curve of 72 hours has 200 samples, of which three have been printed.
  EXPECT_LT(whole_size + 197 * whole_size / samples, 2e6);
}

TEST(Watch, SaysThatAGpuNoLongerAnswersAndAsksItNothingElse) {
  const NodeTree node;
  const Planted board;
  const nvml::Library library{FAKE_NVML_WHOLE};
  Watched watched;
  Watch watch{node.tree(), library, {.seconds = 2}, watched.say()};
  watch.begin();
  watch.sample(0);

  board.plant(4, "lost", 1);
  watch.sample(1);
  watch.end(2, false);

  const auto& sum = watched.lines.back();
  EXPECT_EQ(number_at(*row(sum, "values", "gpu4", "answers"), "min"), 0);
  EXPECT_EQ(number_at(*row(sum, "values", "gpu4", "answers"), "max"), 1);
  EXPECT_EQ(number_at(*row(sum, "values", "gpu4", "power"), "count"), 1);
  EXPECT_EQ(number_at(*row(sum, "values", "gpu3", "answers"), "min"), 1);
}

TEST(Watch, SamplesOfAnOldDriverWhatItHasAndNamesWhatItLacks) {
  const NodeTree node;
  const nvml::Library library{FAKE_NVML_LACKS};
  Watched watched;
  Watch watch{node.tree(), library, {}, watched.say()};
  watch.begin();

  watch.sample(0);

  const auto& gpu = find(*watched.of("sample")[0], "parts")->as_object().at("gpu0").as_object();
  EXPECT_EQ(gpu.at("throttle"), json::array{"idle"});
  EXPECT_FALSE(gpu.contains("temperature.memory"));
  std::vector<std::string> facts;
  for (const auto& each : find(watched.lines[0], "unknown")->as_array())
    facts.push_back(*text_at(each, "fact"));
  EXPECT_THAT(facts, Contains("temperature.memory of gpu0"));
  EXPECT_THAT(facts, Contains("NVLink's error counters of gpu0"));
  EXPECT_THAT(facts, Not(Contains("power of gpu0")));
}

TEST(Watch, JoinsKernelMessagesToTheirParts) {
  const NodeTree node;
  put_machine(node);
  KernelPipe kernel{node};
  const nvml::Library library{FAKE_NVML_WHOLE};
  Watched watched;
  Watch watch{node.tree(), library, {.seconds = 5}, watched.say()};
  watch.begin();

  kernel.say("NVRM: Xid (PCI:0000:61:00): 79, pid='<unknown>', GPU has fallen off the bus.");
  kernel.say("mlx5_core 0000:a7:00.0: poll_health: device's health compromised");
  kernel.say("systemd-networkd[1]: ib9: lost carrier");
  kernel.say("perf: interrupt took too long (2509 > 2500)");
  kernel.say("pcieport 0000:15:01.0: pciehp: Slot(8): Link Down");
  watch.listen(1);

  std::vector<std::string> reported;
  for (const auto* line : watched.of("message"))
    reported.push_back(*text_at(*line, "class") + " " + *text_at(*line, "part"));
  EXPECT_THAT(reported,
              ElementsAre("xid gpu3", "mlx5 mlx5_7", "link mlx5_9", "pcie pci 0000:15:01.0"));
  EXPECT_EQ(number_at(*watched.of("message")[0], "code"), 79);
}

TEST(Watch, CountsAFloodThatSaysNothingAndTellsOfItOnce) {
  const NodeTree node;
  put_machine(node);
  KernelPipe kernel{node};
  const nvml::Library library{"libabsent.so"};
  Watched watched;
  Watch watch{node.tree(), library, {.seconds = 1}, watched.say()};
  watch.begin();

  for (int i = 0; i < 100; ++i)
    kernel.say("mlx5_core 0000:a0:00.0: ACCESS_REG(0x805) failed, syndrome (0x305684), err(-22)");
  watch.listen(0);
  for (int i = 0; i < 100; ++i) kernel.say("NVRM: Xid (PCI:0000:61:00): 31, pid=7, MMU Fault");
  kernel.say("nvme nvme0: controller is down; will reset");
  watch.listen(0.5);
  watch.end(1, false);

  const auto& sum = watched.lines.back();
  const auto* flood = row(sum, "messages", "mlx5_0", "mlx5");
  ASSERT_NE(flood, nullptr);
  EXPECT_EQ(text_at(*flood, "weight"), "harmless");
  EXPECT_EQ(number_at(*flood, "count"), 100);
  EXPECT_EQ(number_at(*row(sum, "messages", "pci 0000:61:00.0", "xid"), "count"), 100);
  // One of the flood, nineteen Xids, and the drive's, since it is the first of its kind.
  EXPECT_EQ(watched.of("message").size(), 21);
  EXPECT_EQ(text_at(*watched.of("message").back(), "part"), "nvme0");
  EXPECT_EQ(number_at(sum, "messages_untold"), 81);
}

/// The program itself, its standard output in a pipe.
class Program {
 public:
  Program(const NodeTree& node, std::vector<std::string> words) {
    words.insert(words.begin(), {NODE_BINARY, "watch", "--root", node.root()});
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) ADD_FAILURE() << "no pipe";
    number_ = ::fork();
    if (number_ == 0) {
      ::dup2(ends[1], 1);
      ::close(ends[0]);
      ::close(ends[1]);
      std::vector<char*> pointers;
      for (auto& word : words) pointers.push_back(word.data());
      pointers.push_back(nullptr);
      ::execv(pointers[0], pointers.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    out_ = Descriptor{ends[0]};
  }

  /// False at the end of what it says.
  bool hear() {
    char buffer[4096];
    const auto got = ::read(out_.number(), buffer, sizeof buffer);
    if (got > 0) output_.append(buffer, static_cast<std::size_t>(got));
    return got > 0;
  }
  void tell(int signal) const { ::kill(number_, signal); }
  int wait() {
    while (hear()) {
    }
    int status = 0;
    ::waitpid(number_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  json::value last() const {
    const auto all = lines(output_);
    return all.empty() ? json::value{} : *parse_json(all.back());
  }

 private:
  std::string output_;
  Descriptor out_;
  pid_t number_ = 0;
};

TEST(Watch, EndsWithItsSummaryWhenItIsStopped) {
  const NodeTree node;
  put_machine(node);
  Program program{node, {"--nvml", FAKE_NVML_WHOLE, "--every", "0.05"}};
  ASSERT_TRUE(program.hear());

  program.tell(SIGTERM);

  EXPECT_EQ(program.wait(), 0);
  const auto sum = program.last();
  EXPECT_EQ(text_at(sum, "kind"), "summary");
  EXPECT_TRUE(find(sum, "stopped")->as_bool());
  EXPECT_FALSE(find(sum, "complete")->as_bool());
}

TEST(Watch, TakesLittleOfOneCore) {
  const NodeTree node;
  put_machine(node);
  // Twenty samples a second for two seconds: the work of forty seconds.
  Program program{
      node, {"--nvml", FAKE_NVML_WHOLE, "--seconds", "2", "--every", "0.05", "--slow", "0.5"}};

  ASSERT_EQ(program.wait(), 0);

  const auto sum = program.last();
  const double samples = number_at(sum, "samples").value_or(0);
  ASSERT_GE(samples, 20);
  const double each = number_at(sum, "cpu_seconds").value_or(1) / samples;
  // The program under test may be a sanitizer's, several times slower.
  EXPECT_LT(each, 0.01) << "one sample a second would take " << 100 * each << " % of a core";
  EXPECT_TRUE(find(sum, "complete")->as_bool());
}

TEST(Watch, RefusesWhatItDoesNotUnderstand) {
  const NodeTree node;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--seconds"},
                                                {"--seconds", "x"},
                                                {"--every", "0"},
                                                {"--every", "nan"},
                                                {"--nonsense", "1"},
                                                {"--seconds", "-1"}}) {
    Program program{node, words};

    EXPECT_EQ(program.wait(), 64) << words.front();
  }
}

}  // namespace
}  // namespace cupel::agent
