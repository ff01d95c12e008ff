#include "burnin/agent/node/job/process_tree.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/common/json_line.h"
#include "burnin/agent/common/small_file.h"
#include "burnin/agent/node/job/folder.h"

namespace cupel::agent {
namespace {

using std::chrono::milliseconds;

struct Entry {
  pid_t parent = 0;
  char state = '?';
};

/// /proc/PID/stat: the name may hold blanks and parentheses, so the last one counts (proc(5)).
std::optional<Entry> entry_of(const std::string& pid) {
  const auto stat = read_small("/proc/" + pid + "/stat", 8192);
  if (!stat) return std::nullopt;
  const std::string_view text{*stat};
  const auto end = text.rfind(')');
  if (end == text.npos) return std::nullopt;
  const auto fields = words(text.substr(end + 1));
  if (fields.size() < 2) return std::nullopt;
  const auto parent = number<pid_t>(fields[1]);
  if (!parent) return std::nullopt;
  return Entry{*parent, fields[0][0]};
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> all;
  for (const auto& name : names_in("/proc", 4'000'000))
    if (const auto pid = number<pid_t>(name)) all.push_back(*pid);
  return all;
}

bool is_ours(const std::string& control_group) {
  return control_group.starts_with("/sys/fs/cgroup/") && !control_group.contains("/../") &&
         control_group.contains("/cupel-job-");
}

/// Until that process has gone, or the time is over. Without pidfd_open(2) (before 5.3) a while.
void wait_for_end(pid_t pid, milliseconds patience) {
  const Descriptor process{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
  pollfd waiting{process.number(), POLLIN, 0};
  ::poll(&waiting, 1, static_cast<int>(patience.count()));
}

constexpr milliseconds kBetweenLooks{100};

/// Whether it carries "NAME=VALUE" in its environment, as it was started.
bool carries(pid_t pid, const std::string& mark) {
  const auto environment = read_small("/proc/" + std::to_string(pid) + "/environ", 8u << 20);
  if (!environment) return false;
  const auto all = split(*environment, '\0');
  return std::ranges::find(all, mark) != all.end();
}

bool is_living(pid_t pid) {
  const auto entry = entry_of(std::to_string(pid));
  return entry && entry->state != 'Z' && entry->state != 'X';
}

/// Of this process, which has one thread. One file to read, where a look at every process of a
/// large node takes longer; a kernel may lack it (CONFIG_PROC_CHILDREN). It may miss one while
/// another ends (proc(5)): kill_descendants() takes that when the last has ended.
std::vector<pid_t> children() {
  const auto list =
      read_small("/proc/self/task/" + std::to_string(::getpid()) + "/children", 1u << 20);
  std::vector<pid_t> all;
  if (!list) {
    for (const auto pid : all_processes())
      if (const auto entry = entry_of(std::to_string(pid)); entry && entry->parent == ::getpid())
        all.push_back(pid);
    return all;
  }
  for (const auto word : words(*list))
    if (const auto pid = number<pid_t>(word)) all.push_back(*pid);
  return all;
}

/// All that lives of a command whose first process is `child`. Takes the exit statuses of what it
/// left to us and has ended: nobody else waits for those.
std::vector<pid_t> family_of(pid_t child, const std::string& mark, const std::set<pid_t>& others) {
  std::vector<pid_t> all;
  for (const auto each : children()) {
    if (others.contains(each)) continue;
    const bool living = is_living(each);
    if (!living && each != child) ::waitpid(each, nullptr, WNOHANG);
    if (!living || (each != child && !carries(each, mark))) continue;
    all.push_back(each);
    const auto below = descendants(each);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

}  // namespace

std::vector<pid_t> descendants(pid_t ancestor) {
  std::multimap<pid_t, pid_t> children;
  std::map<pid_t, char> states;
  for (const auto pid : all_processes()) {
    const auto entry = entry_of(std::to_string(pid));
    if (!entry) continue;
    children.emplace(entry->parent, pid);
    states[pid] = entry->state;
  }
  std::vector<pid_t> below{ancestor};
  for (std::size_t i = 0; i < below.size(); ++i) {
    const auto [first, last] = children.equal_range(below[i]);
    for (auto child = first; child != last; ++child) below.push_back(child->second);
  }
  below.erase(below.begin());
  std::erase_if(below, [&](pid_t pid) { return states[pid] == 'Z' || states[pid] == 'X'; });
  return below;
}

std::vector<pid_t> strays(const std::string& folder) {
  const auto mark = "CUPEL_JOB=" + folder;
  std::vector<pid_t> found;
  for (const auto pid : all_processes())
    if (pid != ::getpid() && carries(pid, mark)) found.push_back(pid);
  return found;
}

std::string make_control_group(const std::string& name) {
  const auto mounts = read_small("/proc/self/mountinfo", 4u << 20);
  const auto own = read_small("/proc/self/cgroup");
  if (!mounts || !own) return {};
  std::string at, ours;
  for (const auto line : lines(*mounts)) {
    const auto fields = words(line);
    if (line.contains(" - cgroup2 ") && fields.size() > 4) at = fields[4];
  }
  for (const auto line : lines(*own))
    if (line.starts_with("0::/")) ours = line.substr(3);
  if (at.empty() || ours.empty()) return {};
  if (ours == "/") ours.clear();
  const auto path = at + ours + "/" + name;
  const bool made = is_ours(path) && ::mkdir(path.c_str(), 0755) == 0;
  return made ? path : std::string{};
}

bool join_control_group(const std::string& path) {
  const Descriptor file{::open((path + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC)};
  return file && write_all(file.number(), "0\n");
}

void kill_control_group(const std::string& path) {
  if (!is_ours(path)) return;
  const Descriptor file{::open((path + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC)};
  if (file && write_all(file.number(), "1\n")) return;
  const auto members = read_small(path + "/cgroup.procs");
  if (!members) return;
  for (const auto line : lines(*members))
    if (const auto pid = number<pid_t>(line); pid && *pid > 1) ::kill(*pid, SIGKILL);
}

int shell_status(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void reap(Watched& watched) {
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
    if (pid == watched.pid) watched.status = shell_status(status);
}

bool kill_descendants(Watched& watched, const std::string& control_group, milliseconds patience) {
  const auto until = since_boot() + patience;
  for (;;) {
    kill_control_group(control_group);
    const auto left = descendants(::getpid());
    for (const auto pid : left) ::kill(pid, SIGKILL);
    reap(watched);
    if (left.empty()) break;
    if (since_boot() > until) return false;
    wait_for_end(left.front(), kBetweenLooks);
  }
  if (is_ours(control_group)) ::rmdir(control_group.c_str());
  return true;
}

bool kill_family(pid_t child, const std::string& mark, const std::set<pid_t>& others,
                 milliseconds patience) {
  const auto until = since_boot() + patience;
  for (;;) {
    const auto left = family_of(child, mark, others);
    for (const auto pid : left) ::kill(pid, SIGKILL);
    if (left.empty()) return true;
    if (since_boot() > until) return false;
    wait_for_end(left.front(), kBetweenLooks);
  }
}

bool kill_strays(const std::string& folder, const std::string& control_group,
                 milliseconds patience) {
  const auto until = since_boot() + patience;
  for (;;) {
    kill_control_group(control_group);
    const auto left = strays(folder);
    for (const auto pid : left) ::kill(pid, SIGKILL);
    if (left.empty()) break;
    if (since_boot() > until) return false;
    wait_for_end(left.front(), kBetweenLooks);
  }
  if (is_ours(control_group)) ::rmdir(control_group.c_str());
  return true;
}

}  // namespace cupel::agent
