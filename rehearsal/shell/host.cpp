#include "rehearsal/shell/host.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "rehearsal/shell/cloud_seed.h"
#include "rehearsal/shell/shell.h"
#include "rehearsal/shell/system_tree.h"

namespace cupel::rehearsal {

Host::Host(asio::any_io_executor executor, Machine& machine)
    : executor_{executor}, machine_{machine} {
  machine_.subscribe([this](Machine::Event event) {
    if (event == Machine::Event::booted) boot();
    if (event == Machine::Event::went_down) kill_all();
    if (event == Machine::Event::refitted) {
      if (planted_) plant_system(*this);
      gpus_.refit();
    }
    disk_.set_full(find_fault(machine_.faults(), FaultKind::disk_full) != nullptr);
    if (event == Machine::Event::powered && machine_.power() == Power::off) gpus_.power_was_away();
  });
}

double Host::epoch() const {
  constexpr double kYear = 365.25 * 86400;
  const auto* wrong = find_fault(machine_.faults(), FaultKind::node_clock_wrong);
  const double off = wrong == nullptr ? 0 : wrong->amount.value_or(-30) * kYear;
  return machine_.clock().epoch() + off;
}

FileSystem& Host::disk() {
  if (!std::exchange(planted_, true)) plant_disk(*this);
  return disk_;
}

void Host::boot() {
  const auto h = sha256_hex(
      fmt::format("{}/{}/{}", machine_.name(), machine_.boots(), machine_.clock().epoch()));
  boot_id_ = fmt::format("{}-{}-{}-{}-{}", h.substr(0, 8), h.substr(8, 4), h.substr(12, 4),
                         h.substr(16, 4), h.substr(20, 12));
  booted_at_ = machine_.clock().epoch();
  for (const auto& gpu : machine_.hardware().gpus) gpus_.settings(gpu.name);
  if (machine_.boots() > 1) gpus_.restart();
  for (const auto* volatile_folder : {"/tmp", "/run", "/dev/shm"}) {
    disk().remove_tree(volatile_folder);
    disk().make_folders(volatile_folder)->mode = 01777;
  }
  plant_system(*this);
  if (!seed_.empty()) heed_seed(*this, std::exchange(seed_, {}));
}

void Host::install(std::map<std::string, std::string> seed, const std::string& host_key) {
  machine_.install_system(seeded_name(seed));
  for (const auto* folder : {"/root", "/home", "/etc", "/var", "/opt", "/srv", "/usr/local"})
    disk_.remove_tree(folder);
  planted_ = false;
  disk().put("/etc/ssh/ssh_host_ed25519_key.pub",
             host_key + " root@" + machine_.host_name() + "\n");
  seed_ = std::move(seed);
}

ProcessPtr Host::fork(Process* parent, std::string command) {
  if (running_ >= kMostProcesses || !machine_.up()) return nullptr;
  constexpr int kLargestNumber = 4194304;
  do {
    next_number_ = next_number_ >= kLargestNumber ? 1000 : next_number_ + 1;
  } while (processes_.contains(next_number_));
  auto process = std::make_shared<Process>(*this, executor_, next_number_);
  process->command = std::move(command);
  if (parent) {
    process->parent = parent->number;
    process->group = parent->group;
    process->session = parent->session;
    process->folder = parent->folder;
    process->mask = parent->mask;
    process->environment = parent->environment;
    process->files = parent->files;
    process->ignored = parent->ignored;
  } else {
    process->parent = 1;
    process->group = process->session = process->number;
  }
  return process;
}

namespace {
Task<void> live(ProcessPtr process, Task<int> body, std::optional<int>& status) {
  status = co_await std::move(body);
  process->files.clear();
}
}  // namespace

void Host::start(const ProcessPtr& process, Task<int> body) {
  processes_[process->number] = process;
  ++running_;
  plant_process(*this, process);
  auto status = std::make_shared<std::optional<int>>();
  // A tool that throws is a bug of ours, yet one node's bug must not end the whole rack: it looks
  // as if the program had crashed.
  static constexpr int kCrashed = 134;
  asio::co_spawn(executor_, live(process, std::move(body), *status),
                 [this, process, status](std::exception_ptr bug) {
                   finished(process, bug ? kCrashed : status->value_or(kCrashed));
                 });
}

void Host::finished(const ProcessPtr& process, int status) {
  process->files.clear();
  process->exit_status_ = process->fatal_ != 0 ? 128 + process->fatal_ : status;
  processes_.erase(process->number);
  --running_;
  disk_.remove_tree("/proc/" + std::to_string(process->number));
  if (const auto parent = this->process(process->parent)) parent->wake();
  if (const auto reported = std::exchange(process->on_exit, nullptr))
    reported(*process->exit_status_);
}

ProcessPtr Host::process(int number) const {
  const auto found = processes_.find(number);
  return found == processes_.end() ? nullptr : found->second;
}

bool Host::signal(int target, int which) {
  if (target > 0) {
    const auto one = process(target);
    if (one) one->signal(which);
    return one != nullptr;
  }
  bool any = false;
  const auto all = processes_;
  for (const auto& [number, one] : all)
    if (one->group == -target) {
      one->signal(which);
      any = true;
    }
  return any;
}

void Host::kill_all() {
  const auto all = processes_;
  for (const auto& [number, one] : all) one->signal(9);
}

ProcessPtr Host::run(std::string command_line, OpenFilePtr in, OpenFilePtr out, OpenFilePtr err,
                     std::map<std::string, std::string> environment,
                     std::function<void(int status)> on_exit) {
  auto process = fork(nullptr, "sh -c " + command_line.substr(0, 64));
  if (!process) return nullptr;
  process->environment = {{"HOME", "/root"},
                          {"USER", "root"},
                          {"LOGNAME", "root"},
                          {"SHELL", "/bin/sh"},
                          {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
                          {"PWD", "/root"}};
  for (auto& [name, value] : environment) process->environment[name] = std::move(value);
  process->files = {{0, std::move(in)}, {1, std::move(out)}, {2, std::move(err)}};
  process->on_exit = std::move(on_exit);
  auto body = run_shell(process, ShellStart{.name = "sh", .script = std::move(command_line)});
  start(process, std::move(body));
  return process;
}

}  // namespace cupel::rehearsal
