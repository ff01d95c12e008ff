#include "burnin/agent/node/stages/settings_guard.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::agent {
namespace {

using namespace settings_place;
using Words = std::vector<std::string>;

constexpr std::chrono::seconds kToolLimit{120};
constexpr std::string_view kUnits = "/etc/systemd/system";
constexpr std::string_view kTimer = "cupel-settings.timer", kService = "cupel-settings.service";

std::string unit_file(std::string_view unit) {
  return std::string{kUnits} + "/" + std::string{unit};
}

Work<Ran> systemctl(Node& node, std::string asked) {
  Command command{.argv = {"systemctl"}, .limit = kToolLimit};
  for (const auto word : words(asked)) command.argv.emplace_back(word);
  auto ran = co_await node.programs.run(command);
  co_return ran;
}

/// A word that a unit file takes as it is. Source: systemd.service(5), "COMMAND LINES".
bool is_plain(std::string_view word) {
  return std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"/._-:=+"}.contains(c);
  });
}

/// systemd's PATH may lack where the tools lie. env(1) starts the copy: where SELinux is enforced,
/// systemd itself may run nothing below /var/lib.
Words restore_command(const Node& node, const std::string& program) {
  std::string path;
  for (const auto* tool : {"nvidia-smi", "systemctl"})
    if (const auto folder = node.programs.folder_of(tool); !folder.empty() && is_plain(folder))
      path += folder + ":";
  Words words{"/usr/bin/env", "PATH=" + path + "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
              program, "restore-settings", "--timer"};
  if (const auto root = node.tree.real("/"); root != "/")
    words.insert(words.end(), {"--root", root});
  return words;
}

std::string joined(const Words& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// OnBootSec= that is over fires at once, and finds that nothing is due. Source: systemd.timer(5).
std::string timer_text(std::uint64_t seconds) {
  return "[Timer]\nOnActiveSec=" + std::to_string(seconds) +
         "\nOnBootSec=2min\nOnUnitInactiveSec=10min\nAccuracySec=1s\n"
         "[Install]\nWantedBy=timers.target\n";
}

std::string service_text(const Node& node) {
  return "[Unit]\nDescription=Cupel: set back the settings of a run that did not\n"
         "[Service]\nType=oneshot\nExecStart=" +
         joined(restore_command(node, node.tree.real(kProgram))) + "\n";
}

/// A folder of units that another user may write to is not used: who writes there is root.
std::string why_no_units(const Node& node) {
  if (!node.tree.exists(kUnits)) return "there is no folder " + std::string{kUnits};
  return node.settings.unsafe(std::string{kUnits});
}

Work<std::string> lay_on_disk(Node& node, std::uint64_t seconds) {
  auto why = why_no_units(node);
  if (!why.empty()) co_return why;
  const auto service = node.settings.replace(unit_file(kService), service_text(node));
  if (!service) co_return service.error().what;
  const auto timer = node.settings.replace(unit_file(kTimer), timer_text(seconds));
  if (!timer) co_return timer.error().what;
  co_await systemctl(node, "daemon-reload");
  const auto enabled = co_await systemctl(node, "enable --now cupel-settings.timer");
  if (enabled.status != 0) co_return "systemctl enable --now: " + first_line(enabled);
  const auto active = co_await systemctl(node, "is-active --quiet cupel-settings.timer");
  co_return active.status == 0 ? "" : "the timer was enabled, and is not active";
}

/// `program`: cupel-node, where it starts.
Work<std::string> lay_for_this_boot(Node& node, std::uint64_t seconds, std::string program) {
  if (!node.programs.has("systemd-run")) co_return "systemd-run is not installed on the node";
  Command command{.argv = {"systemd-run", "--quiet", "--collect", "--unit=cupel-settings",
                           "--on-active=" + std::to_string(seconds), "--on-unit-inactive=600",
                           "--timer-property=AccuracySec=1s", "--property=Type=oneshot"},
                  .limit = kToolLimit};
  for (auto& word : restore_command(node, program)) command.argv.push_back(std::move(word));
  const auto ran = co_await node.programs.run(command);
  co_return ran.status == 0 ? "" : "systemd-run: " + first_line(ran);
}

/// Proven to start: /var may be mounted so that no program there does.
Work<std::string> keep_copy(Node& node) {
  const auto kept = node.settings.keep_program(std::string{kProgram});
  if (!kept) co_return kept.error().what;
  const auto program = node.tree.real(kProgram);
  const Command command{.argv = {program, "--version"}, .limit = kToolLimit};
  const auto ran = co_await node.programs.run(command);
  co_return ran.status == 0 ? "" : program + " does not start: " + first_line(ran);
}

void remove_units(const Node& node) {
  for (const auto unit : {kTimer, kService}) node.settings.remove(unit_file(unit));
}

/// Of which systemd knows: it is informed that they are gone, or it would refuse others of their
/// name.
Work<bool> drop_units(Node& node) {
  if (!has_guard(node)) co_return false;
  co_await systemctl(node, "disable cupel-settings.timer");
  remove_units(node);
  co_await systemctl(node, "stop cupel-settings.timer");
  co_await systemctl(node, "daemon-reload");
  co_return true;
}

Result<void> write_due(const Node& node, std::uint64_t seconds) {
  const auto now = node.settings.now();
  const auto due = now + static_cast<std::int64_t>(seconds);
  return node.settings.replace(std::string{kUntil},
                               std::to_string(now) + " " + std::to_string(due) + "\n");
}

}  // namespace

Work<Guard> lay_guard(Node& node, std::uint64_t seconds) {
  const auto lasts = std::to_string(seconds);
  remove_units(node);
  Guard guard;
  if (const auto written = write_due(node, seconds); !written)
    guard.why = written.error().what;
  else
    guard.why = co_await keep_copy(node);
  if (!guard.why.empty()) {
    // The copy cannot be kept, or does not start: the program that was brought does, for this boot.
    const auto folder = node.programs.folder_of("cupel-node");
    std::string why = "cupel-node is in no folder of PATH";
    if (!folder.empty()) why = co_await lay_for_this_boot(node, seconds, folder + "/cupel-node");
    if (why.empty())
      guard.lasts = lasts + ", unless it is restarted";
    else
      guard.why += "; " + why;
    co_return guard;
  }
  node.settings.remove(std::string{kScript});
  guard.why = co_await lay_on_disk(node, seconds);
  if (guard.why.empty()) {
    guard.lasts = lasts;
    co_return guard;
  }
  co_await drop_units(node);
  remove_units(node);
  const auto why = co_await lay_for_this_boot(node, seconds, node.tree.real(kProgram));
  if (why.empty())
    guard.lasts = lasts + ", unless it is restarted";
  else
    guard.why += "; " + why;
  co_return guard;
}

Work<bool> stop_guards_work(Node& node) {
  const auto ran = co_await systemctl(node, "stop cupel-settings.service");
  co_return ran.status == 0;
}

Work<bool> stop_guard(Node& node) {
  const auto ran = co_await systemctl(node, "stop cupel-settings.timer cupel-settings.service");
  co_return ran.status == 0;
}

Work<bool> remove_guard(Node& node) {
  for (const auto path : {kScript, kUntil, kProgram}) node.settings.remove(std::string{path});
  const bool dropped = co_await drop_units(node);
  if (!dropped) co_await systemctl(node, "stop cupel-settings.timer");
  co_return dropped;
}

bool has_guard(const Node& node) { return node.tree.exists(unit_file(kTimer)); }

bool is_guard_due(const Node& node) {
  const auto text = node.settings.read(std::string{kUntil});
  const auto times = text ? words(*text) : std::vector<std::string_view>{};
  if (times.size() != 2) return true;
  const auto begun = number<std::int64_t>(times[0]), due = number<std::int64_t>(times[1]);
  const auto now = node.settings.now();
  return !begun || !due || now >= *due || now < *begun;
}

}  // namespace cupel::agent
