// Every NVMe drive at once: by a scratch file on each of their mounted file systems, and those that
// hold nothing as the devices themselves. One that holds something, and is not in use, is read.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "burnin/agent/node/stages/file_test.h"
#include "burnin/agent/node/stages/nvme_drives.h"
#include "burnin/agent/node/stages/nvme_guards.h"

namespace cupel::agent {
namespace {

constexpr std::chrono::seconds kAskLimit{120};
constexpr std::array<std::string_view, 3> kRawWords{"no", "yes", "force"};
constexpr std::uint64_t kMostRuntime = 86'400, kMostLimit = 100 * 86'400;
constexpr std::uint64_t kLeast = 16ull << 20, kMost = 16ull << 40;

struct Order {
  std::vector<std::string> drives{};  // none: all
  std::string raw{};
  std::uint64_t bytes = 0, runtime = 0;
  std::chrono::seconds limit{};
};

/// A drive that is written or read itself. `serial`: whose it was when the stage began.
struct Target {
  NvmeDrive drive{};
  std::string serial{};
};

/// What is tested, and by what.
struct Plan {
  std::vector<std::string> drives{};
  std::set<std::string> mounts{};
  std::vector<Target> writes{};
  std::vector<NvmeDrive> reads{};
};

/// One fio that was started.
struct Test {
  int number = 0;      // as Programs::start() gave it
  std::string name{};  // "fio", "fio-cached" (without O_DIRECT), "read"
  std::string part{};  // the mount or the drive
  Command command{};
};

/// All that lives until the last fio has ended.
struct Tests {
  std::vector<Test> started{};
  std::vector<std::unique_ptr<ScratchFolder>> folders{};
  std::vector<std::unique_ptr<HeldDevice>> devices{};
};

NvmeDrive drive_of(const Node& node, const std::string& name) {
  for (const auto& space : node.tree.names("/sys/block"))
    if (space.starts_with(name + "n")) return {name, space, node.tree.real("/dev/" + space)};
  return {name, {}, {}};
}

/// `asked`: it should have been written. Its words are longer than a name may be.
void report_untested(const Node& node, const std::string& drive, bool asked,
                     const std::string& why) {
  node.lines.evidence(asked ? "untested" : "aside", drive, {}, {.status = 0, .out = why});
}

/// Where a file may be written; the last, where there are several.
std::string place_of(const std::vector<std::string>& mounts) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '.' || c == '_' || c == '-';
  };
  std::string place;
  for (const auto& each : mounts)
    if (each.starts_with('/') && !each.starts_with("/boot") && std::ranges::all_of(each, plain))
      place = each;
  return place;
}

/// Why a drive is not written itself; `held`: it is not in use, and what it holds speaks against
/// it.
struct Refusal {
  std::string why{};
  bool held = false;
};

Work<Refusal> refusal_of(Node& node, NvmeDrive drive, std::string serial, std::string raw) {
  if (auto why = stranger(node, drive, serial); !why.empty()) co_return Refusal{why};
  if (auto why = co_await in_use(node, drive); !why.empty()) co_return Refusal{why};
  if (raw == "force") co_return Refusal{};
  auto why = co_await content(node, drive);
  const bool held = !why.empty();
  co_return Refusal{std::move(why), held};
}

Work<bool> plan_drive(Node& node, const Order& order, std::string name, Plan& plan) {
  const auto drive = drive_of(node, name);
  if (drive.space.empty()) {
    report_untested(node, name, true, "it has no name space, or is not there");
    co_return false;
  }
  const auto mounts = co_await mounts_on(node, drive);
  if (!mounts) {
    report_untested(node, name, true, "lsblk cannot tell whether it is mounted");
    co_return false;
  }
  if (const auto place = place_of(*mounts); !place.empty()) {
    plan.mounts.insert(place);
    node.lines.note("place " + name, place);
    co_return true;
  }
  const bool asked = order.raw != "no" || !order.drives.empty();
  const auto refusal = co_await refusal_of(node, drive, {}, order.raw);
  if (refusal.held && order.raw != "no") plan.reads.push_back(drive);
  if (!refusal.why.empty())
    report_untested(node, name, asked, refusal.why);
  else if (order.raw == "no")
    report_untested(node, name, asked, "no file system of it is mounted, and raw is no");
  else
    plan.writes.push_back({drive, serial_of(node, name)});
  co_return true;
}

/// A drive that does not answer is a finding: the job ends at its own limit.
Work<bool> read_health(Node& node, const Plan& plan, const Order& order, std::string evidence) {
  if (!node.programs.has("smartctl")) co_return false;
  for (const auto& drive : plan.drives) {
    const Command command{.argv = {"smartctl", "-j", "-A", node.tree.real("/dev/" + drive)},
                          .limit = order.limit};
    const auto ran = co_await node.programs.run(command);
    node.lines.evidence(evidence, drive, command, ran);
  }
  co_return true;
}

void add_random_job(Command& command, const std::string& name, std::uint64_t runtime) {
  add_timed_job(command, name, runtime, {"--bs=4k", "--iodepth=64"});
}

Command writing(const Order& order, const std::string& engine, const std::string& file, bool direct,
                bool create) {
  auto command = fio({"--filename=" + file, direct ? "--direct=1" : "--direct=0",
                      create ? "--allow_file_create=1" : "--allow_file_create=0",
                      "--size=" + std::to_string(order.bytes), "--ioengine=" + engine},
                     order.limit);
  add_timed_job(command, "write", order.runtime, {"--bs=1m", "--iodepth=16", "--end_fsync=1"});
  add_verification(command, {"--bs=1m", "--iodepth=16"});
  add_timed_job(command, "read", order.runtime, {"--bs=1m", "--iodepth=16"});
  add_random_job(command, "randread", order.runtime);
  add_random_job(command, "randwrite", order.runtime);
  return command;
}

Command reading(const Order& order, const std::string& engine, const std::string& device) {
  auto command = fio({"--readonly", "--filename=" + device, "--direct=1", "--ioengine=" + engine},
                     order.limit);
  add_timed_job(command, "read", order.runtime, {"--bs=1m", "--iodepth=16"});
  add_random_job(command, "randread", order.runtime);
  return command;
}

void start(const Node& node, Tests& tests, std::string name, std::string part, Command command) {
  const int number = node.programs.start(command);
  tests.started.push_back({number, std::move(name), std::move(part), std::move(command)});
}

Scratch::Made make_folder(const Node& node, const Order& order, const std::string& mount) {
  const auto room = node.scratch.look(mount);
  if (!room) return {nullptr, "there is no folder " + mount};
  if (auto why = too_small(*room, order.bytes); !why.empty()) return {nullptr, std::move(why)};
  return node.scratch.make(*room, "cupel-nvme");
}

/// A file system that is full, or that the kernel made read-only, is its drives' alone.
void start_file(const Node& node, const Order& order, const std::string& engine,
                const std::string& mount, Tests& tests) {
  auto made = make_folder(node, order, mount);
  const bool direct = made.folder && made.folder->takes_direct();
  if (made.folder && !made.folder->enter())
    made = {nullptr, "the scratch folder in " + mount + " cannot be entered"};
  if (!made.folder)
    return node.lines.evidence("short", mount, {}, {.status = 0, .out = std::move(made.why)});
  start(node, tests, direct ? "fio" : "fio-cached", mount,
        writing(order, engine, "./file", direct, true));
  tests.folders.push_back(std::move(made.folder));
}

/// The device is opened exclusively, and stays so until fio has ended. Everything that speaks
/// against writing is asked again while nobody else can mount it or make a file system on it.
Work<bool> start_device(Node& node, const Order& order, std::string engine, Target target,
                        Tests& tests) {
  const auto& [name, space, device] = target.drive;
  auto held = node.scratch.hold("/dev/" + space, target.serial);
  const auto refusal = co_await refusal_of(node, target.drive, target.serial, order.raw);
  if (!refusal.why.empty()) {
    report_untested(node, name, true, refusal.why);
    co_return false;
  }
  if (!held.device) {
    report_untested(node, name, true, device + " is not touched: " + held.why);
    co_return false;
  }
  node.lines.note("place " + name, device);
  node.lines.note("writes " + name, device + " serial " + target.serial);
  tests.devices.push_back(std::move(held.device));
  start(node, tests, "fio", name, writing(order, engine, device, true, false));
  co_return true;
}

Work<bool> wait_for_all(Node& node, const Order& order, const Tests& tests) {
  std::map<int, Ran> ended;
  while (ended.size() < tests.started.size()) {
    auto next = co_await node.programs.first_end(order.limit);
    if (next) ended.emplace(next->number, std::move(next->ran));
  }
  for (const auto& each : tests.started)
    node.lines.evidence(each.name, each.part, each.command, ended[each.number]);
  co_return true;
}

Work<std::string> engine_of(Node& node) {
  const auto engines =
      co_await node.programs.run({.argv = {"fio", "--enghelp"}, .limit = kAskLimit});
  co_return engines.out.contains("libaio") ? "libaio" : "psync";
}

Work<bool> burn(Node& node, const Order& order, const Plan& plan) {
  const auto engine = co_await engine_of(node);
  node.lines.asked("many-in-flight", engine == "libaio" ? 1 : 0);
  co_await read_health(node, plan, order, "smart-before");
  Tests tests;
  for (const auto& mount : plan.mounts) start_file(node, order, engine, mount, tests);
  for (const auto& target : plan.writes) co_await start_device(node, order, engine, target, tests);
  for (const auto& drive : plan.reads)
    start(node, tests, "read", drive.name, reading(order, engine, drive.device));
  co_await wait_for_all(node, order, tests);
  co_await read_health(node, plan, order, "smart-after");
  co_return true;
}

/// Which of the tools without which nothing is proven the node lacks.
std::string lacking(const Node& node, const Order& order) {
  for (const auto* tool : {"fio", "lsblk"})
    if (!node.programs.has(tool)) return tool;
  for (const auto* tool : {"blkid", "wipefs"})
    if (order.raw != "no" && !node.programs.has(tool)) return tool;
  return {};
}

}  // namespace

Work<GaveUp> run_nvme(Node& node, const JsonValue& json) {
  OrderReader reader{json};
  const auto drives = drives_of(json);
  Order order{.raw = reader.word("raw", kRawWords),
              .bytes = reader.amount("bytes", kLeast, kMost),
              .runtime = reader.amount("runtime", 1, kMostRuntime)};
  order.limit = std::chrono::seconds{reader.amount("limit", 1, kMostLimit)};
  if (!reader.why().empty()) co_return reader.why();
  if (!drives) co_return "the order has no list of drives like nvme0";
  order.drives = *drives;
  if (order.raw == "force" && order.drives.empty())
    co_return "raw: force overwrites what drives hold: name them in drives";
  if (const auto tool = lacking(node, order); !tool.empty())
    co_return tool + " is not installed on the node";
  node.lines.asked("bytes", static_cast<double>(order.bytes));
  node.lines.asked("seconds", static_cast<double>(order.runtime));
  Plan plan{.drives = order.drives.empty() ? all_drives(node) : order.drives};
  if (plan.drives.empty()) co_return "the node has no NVMe drive";
  for (const auto& name : plan.drives) co_await plan_drive(node, order, name, plan);
  co_await burn(node, order, plan);
  co_return {};
}

}  // namespace cupel::agent
