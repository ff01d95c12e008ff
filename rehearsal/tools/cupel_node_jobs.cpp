// `cupel-node start`, `tail`, `stop`, `tell`, `forget` and `list` of a virtual machine.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cerrno>

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/cupel_node.h"
#include "rehearsal/tools/nap.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

namespace json = boost::json;

constexpr VirtualTime kGraceAtLimit{10}, kGraceAtStop{5}, kBetweenBeats{10}, kBetweenLooks{1};
constexpr int kTerm = 15, kKill = 9, kEndedByLimit = 124;
constexpr int kUsage = 64, kCannotWrite = 73, kCutInput = 74, kStillRunning = 75;

struct Asked {
  std::map<std::string, std::string> set{};
  Arguments words{};
  Arguments behind{};

  double amount(const std::string& name, double otherwise) const {
    const auto found = set.find(name);
    return found == set.end() ? otherwise : number<double>(found->second).value_or(otherwise);
  }
  std::string folder() const {
    const auto found = set.find("--folder");
    return found == set.end() ? std::string{} : found->second;
  }
};

Asked asked_of(const Arguments& arguments) {
  Asked asked;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      asked.behind.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (!arguments[i].starts_with("--"))
      asked.words.push_back(arguments[i]);
    else if (i + 1 < arguments.size())
      asked.set[arguments[i]] = arguments[i + 1], ++i;
  }
  return asked;
}

Task<int> misused(ProcessPtr process, std::string what) {
  const auto line = "cupel-node: " + what + "\n";
  co_await process->print_error(line);
  co_return kUsage;
}

std::string content_of(Process& process, const std::string& path) {
  const auto node = process.disk().find(path);
  return node ? std::string{trimmed(node->content())} : std::string{};
}

bool exists(Process& process, const std::string& path) {
  return process.disk().find(path) != nullptr;
}

std::uint64_t size_of(Process& process, const std::string& path) {
  const auto node = process.disk().find(path);
  return node ? node->length() : 0;
}

/// A stream of a job, up to a limit; whoever writes over it wakes the keeper.
class Spool final : public OpenFile {
 public:
  Spool(FileSystem& disk, InodePtr node, std::uint64_t limit, std::weak_ptr<Process> keeper)
      : disk_{disk}, node_{std::move(node)}, limit_{limit}, keeper_{std::move(keeper)} {}

  Task<int> write(Process& process, std::string_view bytes) override {
    const auto room = limit_ - std::min(limit_, node_->size);
    const auto kept = bytes.substr(0, std::min<std::uint64_t>(bytes.size(), room));
    const bool fits = disk_.write(*node_, node_->size, kept, process.now());
    full = full || !fits || kept.size() < bytes.size();
    const auto keeper = keeper_.lock();
    if (full && keeper) keeper->wake();
    co_return 0;
  }

  bool full = false;

 private:
  FileSystem& disk_;
  InodePtr node_;
  std::uint64_t limit_;
  std::weak_ptr<Process> keeper_;
};

/// All that carry the job's name, wherever they went.
std::vector<ProcessPtr> family_of(Host& host, const std::string& folder) {
  std::vector<ProcessPtr> family;
  for (const auto& [pid, one] : host.processes()) {
    const auto mark = one->environment.find("CUPEL_JOB");
    if (mark != one->environment.end() && mark->second == folder) family.push_back(one);
  }
  return family;
}

void signal_family(Host& host, const std::string& folder, int which) {
  for (const auto& one : family_of(host, folder)) one->signal(which);
}

struct Order {
  std::string folder;
  VirtualTime limit{};
  std::uint64_t spool_limit = 0;
  Arguments command{};
  std::string input = "/dev/null";
};

struct Begun {
  ProcessPtr job{};
  std::shared_ptr<Spool> out{}, err{};
};

Begun begin(Process& keeper, const Order& order) {
  auto& host = keeper.host;
  auto& disk = keeper.disk();
  Begun begun;
  begun.job = host.fork(&keeper, order.command[0]);
  if (!begun.job) return begun;
  auto& job = *begun.job;
  job.session = job.group = job.number;
  job.folder = order.folder + "/work";
  job.environment["CUPEL_JOB"] = order.folder;
  const auto spool = [&](const char* name) {
    return std::make_shared<Spool>(disk, disk.put(order.folder + name, ""), order.spool_limit,
                                   keeper.weak_from_this());
  };
  begun.out = spool("/out");
  begun.err = spool("/err");
  job.files[0] = open_inode(disk, disk.find(order.input), false);
  job.files[1] = begun.out;
  job.files[2] = begun.err;
  disk.put(order.folder + "/group", std::to_string(job.number) + "\n");
  disk.put(order.folder + "/keeper", std::to_string(keeper.number) + "\n");
  auto body = run_program(begun.job, order.command, "cupel-node");
  host.start(begun.job, std::move(body));
  return begun;
}

/// Stands over the job until nothing of it is left; the supervisor and its guard in one.
Task<int> keep(ProcessPtr keeper, Order order) {
  auto& host = keeper->host;
  const auto& clock = host.machine().clock();
  keeper->caught.insert(kTerm);
  const auto deadline = clock.elapsed() + order.limit;
  const auto begun = begin(*keeper, order);
  if (!begun.job) co_return 73;
  auto kill_at = VirtualTime{0};
  bool over = false, reported = false, killed = false;
  while (!begun.job->ended()) {
    const auto now = clock.elapsed();
    keeper->disk().put(order.folder + "/beat", fmt::format("{:.1f}\n", now.count()));
    const bool ending = over || reported;
    if (begun.out->full || begun.err->full || keeper->fatal() != 0 || (ending && now >= kill_at)) {
      if (!std::exchange(killed, true)) signal_family(host, order.folder, kKill);
    } else if (!ending && (now >= deadline || !keeper->pending.empty())) {
      over = now >= deadline;
      reported = !over;
      kill_at = now + (over ? kGraceAtLimit : kGraceAtStop);
      if (over) keeper->disk().make_folders(order.folder + "/over");
      signal_family(host, order.folder, kTerm);
    }
    keeper->pending.clear();
    const auto next = ending || reported || over ? kill_at : deadline;
    const auto beat = now + std::max(kBetweenBeats, clock.shortest_nap());
    if (killed)
      co_await keeper->block();
    else
      co_await keeper->block_until(std::min(next, beat));
  }
  signal_family(host, order.folder, kKill);
  if (begun.out->full || begun.err->full) keeper->disk().make_folders(order.folder + "/full");
  const bool stopped = exists(*keeper, order.folder + "/stopped");
  const bool ended_for_us = keeper->fatal() != 0 || (reported && !stopped);
  if (ended_for_us) co_return 1;
  const int status = over ? kEndedByLimit : begun.job->exit_status();
  keeper->disk().put(order.folder + "/exit", std::to_string(status) + "\n");
  co_return 0;
}

struct Look {
  std::string state = "unknown";
  int status = 0;
  std::uint64_t out = 0, err = 0;
};

Look look(Process& process, const std::string& folder) {
  Look seen;
  if (!exists(process, folder + "/started")) return seen;
  const auto status = number<int>(content_of(process, folder + "/exit"));
  const auto keeper = number<int>(content_of(process, folder + "/keeper"));
  const bool same_boot = content_of(process, folder + "/boot") == process.host.boot_id();
  if (status)
    seen.state = "ended";
  else if (same_boot && (!keeper || process.host.process(*keeper)))
    seen.state = "running";
  else
    seen.state = "lost";
  seen.status = status.value_or(0);
  if (seen.state != "running" && exists(process, folder + "/stopped")) seen.state = "stopped";
  seen.out = size_of(process, folder + "/out");
  seen.err = size_of(process, folder + "/err");
  return seen;
}

std::string piece_of(Process& process, const std::string& path, double from, std::uint64_t size,
                     double most) {
  const auto first = static_cast<std::uint64_t>(from);
  if (size <= first) return {};
  const auto node = process.disk().find(path);
  if (!node) return {};
  return node->bytes.substr(first, static_cast<std::uint64_t>(most));
}

/// What the job is to read; 0, or what `start` ends with.
Task<int> keep_input(ProcessPtr process, std::string folder, double bytes) {
  std::string input;
  co_await process->read_all(0, input);
  if (static_cast<double>(input.size()) < bytes) co_return kCutInput;
  process->disk().make_folders(folder);
  if (save_text(*process, folder + "/input", input)) co_return 0;
  const auto line = "cupel-node: " + folder + "/input.part: No space left on device\n";
  co_await process->print_error(line);
  co_return kCannotWrite;
}

}  // namespace

Task<int> virtual_cupel_node_start(ProcessPtr process, Arguments arguments) {
  const auto asked = asked_of(arguments);
  const auto folder = asked.folder();
  const auto limit = asked.amount("--limit", 0);
  if (asked.words.size() != 1 || asked.behind.empty() || !folder.starts_with('/') || limit < 1) {
    auto work = misused(process, "start: NAME, --folder DIR, --limit SECONDS and -- COMMAND");
    co_return co_await std::move(work);
  }
  json::object message{{"kind", "start"}, {"name", asked.words[0]}, {"folder", folder}};
  message["started"] = !exists(*process, folder + "/started");
  const bool has_input = asked.set.contains("--input-bytes");
  if (message["started"].as_bool() && has_input) {
    const int status = co_await keep_input(process, folder, asked.amount("--input-bytes", 0));
    if (status != 0) co_return status;
    message["started"] = !exists(*process, folder + "/started");
  }
  if (message["started"].as_bool()) {
    auto& disk = process->disk();
    disk.make_folders(folder + "/started");
    disk.make_folders(folder + "/work");
    disk.put(folder + "/boot", process->host.boot_id() + "\n");
    disk.put(folder + "/program", "/opt/cupel/bin/cupel-node\n");
    disk.put(folder + "/job",
             fmt::format("{}\n{:.0f}\n{:.0f}\n", asked.words[0], limit, process->host.epoch()));
    const auto keeper = process->host.fork(process.get(), "cupel-node");
    if (!keeper) co_return 73;
    keeper->session = keeper->group = keeper->number;
    keeper->files.clear();
    Order order{folder, VirtualTime{limit},
                static_cast<std::uint64_t>(asked.amount("--spool-limit", 16 << 20)), asked.behind};
    if (has_input) order.input = folder + "/input";
    auto body = keep(keeper, std::move(order));
    process->host.start(keeper, std::move(body));
  }
  const auto line = json::serialize(message) + "\n";
  co_await process->say(line);
  co_return 0;
}

Task<int> virtual_cupel_node_tail(ProcessPtr process, Arguments arguments) {
  const auto asked = asked_of(arguments);
  const auto folder = asked.folder();
  const auto from = asked.amount("--from", 0), errors_from = asked.amount("--errors-from", 0);
  const auto most = asked.amount("--most", 4 << 20);
  auto seen = look(*process, folder);
  for (auto left = asked.amount("--wait", 0); left >= 1; --left) {
    const bool news = seen.state != "running" || static_cast<double>(seen.out) > from ||
                      static_cast<double>(seen.err) > errors_from;
    if (news || process->fatal() != 0) break;
    co_await process->sleep(nap_of(process->host.machine(), kBetweenLooks));
    seen = look(*process, folder);
  }
  const auto out = piece_of(*process, folder + "/out", from, seen.out, most);
  const auto err = piece_of(*process, folder + "/err", errors_from, seen.err, most);
  // "kind" goes first, as the real program has it.
  const json::object line{{"kind", "job"},
                          {"state", seen.state},
                          {"exit", seen.status},
                          {"out_size", seen.out},
                          {"err_size", seen.err},
                          {"out_bytes", out.size()},
                          {"err_bytes", err.size()},
                          {"over_limit", exists(*process, folder + "/over")},
                          {"over_spool", exists(*process, folder + "/full")}};
  const auto text = json::serialize(line) + "\n" + out + err;
  co_await process->say(text);
  co_return 0;
}

Task<int> virtual_cupel_node_stop(ProcessPtr process, Arguments arguments) {
  const auto folder = asked_of(arguments).folder();
  auto seen = look(*process, folder);
  if (seen.state == "running") {
    process->disk().make_folders(folder + "/stopped");
    const auto keeper = number<int>(content_of(*process, folder + "/keeper"));
    if (keeper) process->host.signal(*keeper, kTerm);
    constexpr int kMostNaps = 20;
    for (int naps = 0; naps < kMostNaps && seen.state == "running"; ++naps) {
      co_await process->sleep(nap_of(process->host.machine(), kBetweenLooks));
      seen = look(*process, folder);
    }
  }
  signal_family(process->host, folder, kKill);
  const json::object message{
      {"kind", "stop"}, {"folder", folder}, {"state", look(*process, folder).state}};
  const auto line = json::serialize(message) + "\n";
  co_await process->say(line);
  co_return 0;
}

Task<int> virtual_cupel_node_tell(ProcessPtr process, Arguments arguments) {
  const auto folder = asked_of(arguments).folder();
  std::string word;
  co_await process->read_all(0, word);
  if (exists(*process, folder + "/started")) process->disk().put(folder + "/word", word);
  co_return 0;
}

Task<int> virtual_cupel_node_forget(ProcessPtr process, Arguments arguments) {
  const auto folder = asked_of(arguments).folder();
  if (look(*process, folder).state == "running") co_return kStillRunning;
  process->disk().remove_tree(folder);
  co_return 0;
}

Task<int> virtual_cupel_node_list(ProcessPtr process, Arguments arguments) {
  const auto asked = asked_of(arguments);
  const auto reported = asked.set.find("--base");
  const std::string base = reported == asked.set.end() ? "/var/lib/cupel-node" : reported->second;
  const auto above = process->disk().find(base);
  if (!above || !above->is_folder()) co_return 0;
  std::string text;
  for (const auto& [name, node] : above->entries) {
    const auto folder = base + "/" + name;
    const auto job = content_of(*process, folder + "/job");
    if (job.empty()) continue;
    const auto seen = look(*process, folder);
    const json::object line{
        {"kind", "job"},       {"folder", folder},    {"name", split(job, '\n')[0]},
        {"state", seen.state}, {"exit", seen.status}, {"out_size", seen.out},
        {"err_size", seen.err}};
    text += json::serialize(line) + "\n";
  }
  co_await process->say(text);
  co_return 0;
}

}  // namespace cupel::rehearsal
