// Tools that say what system this is.
#include <fmt/format.h>

#include <ctime>

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/system_tree.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

const Hardware& hardware(const ProcessPtr& process) { return process->host.machine().hardware(); }

Task<int> kernel_name(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "asnrvmopi");
  std::string text;
  const auto add = [&](char letter, std::string_view value) {
    const bool selected =
        options.has(letter) || options.has('a') || (letter == 's' && options.set.empty());
    if (selected) text += (text.empty() ? "" : " ") + std::string{value};
  };
  add('s', "Linux");
  add('n', process->host.machine().host_name());
  add('r', kKernelRelease);
  add('v', kKernelVersion);
  add('m', "x86_64");
  add('o', "GNU/Linux");
  text += "\n";
  co_await process->say(text);
  co_return 0;
}

Task<int> host_name(ProcessPtr process, Arguments) {
  const auto line = process->host.machine().host_name() + "\n";
  co_await process->say(line);
  co_return 0;
}

Task<int> user(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "ungG");
  const bool name = arguments[0].ends_with("whoami") || options.has('n');
  if (name)
    co_await process->say("root\n");
  else if (!options.set.empty())
    co_await process->say("0\n");
  else
    co_await process->say("uid=0(root) gid=0(root) groups=0(root)\n");
  co_return 0;
}

Task<int> date(ProcessPtr process, Arguments arguments) {
  std::string format = "%a %b %e %H:%M:%S UTC %Y";
  double when = process->now();
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i].starts_with('+')) format = arguments[i].substr(1);
    if (arguments[i].starts_with("-I") || arguments[i].starts_with("--iso-8601"))
      format = "%Y-%m-%dT%H:%M:%S+00:00";
    if (arguments[i] == "-d" && i + 1 < arguments.size() && arguments[i + 1].starts_with('@'))
      when = number<double>(std::string_view{arguments[++i]}.substr(1)).value_or(when);
  }
  const auto nanoseconds =
      fmt::format("{:09d}", static_cast<long>((when - std::floor(when)) * 1e9));
  for (auto at = format.find("%N"); at != format.npos; at = format.find("%N"))
    format.replace(at, 2, nanoseconds);
  for (auto at = format.find("%3N"); at != format.npos; at = format.find("%3N"))
    format.replace(at, 3, nanoseconds.substr(0, 3));
  const auto seconds = static_cast<std::time_t>(when);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char buffer[256] = "";
  for (auto at = format.find("%s"); at != format.npos; at = format.find("%s"))
    format.replace(at, 2, std::to_string(seconds));
  const auto size = std::strftime(buffer, sizeof buffer, format.c_str(), &parts);
  const auto line = std::string{buffer, size} + "\n";
  co_await process->say(line);
  co_return 0;
}

/// "39G", "1.7T": at most three digits, rounded up. Source: coreutils, human_readable().
std::string human(double bytes) {
  constexpr std::string_view kUnits = "BKMGTP";
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  const bool tenths = unit > 0 && bytes < 9.95;
  const auto digits = tenths ? fmt::format("{:.1f}", std::ceil(bytes * 10) / 10)
                             : fmt::format("{:.0f}", std::ceil(bytes));
  return unit == 0 ? digits : digits + kUnits[unit];
}

Task<int> space(ProcessPtr process, Arguments arguments) {
  const auto options =
      parse_options(arguments, "khPB:mTt:", {{"output", 'o'}, {"block-size", 'B'}});
  const double total = FileSystem::shown_bytes(), used = process->disk().shown_used();
  double unit = 1024;
  if (options.has('m')) unit = 1048576;
  if (options.has('B')) unit = parse_size(options.value('B')).value_or(1024);
  if (options.has('B') && options.value('B') == "1") unit = 1;
  if (options.has('o') && options.value('o') == "avail") {
    const auto text = fmt::format("{:>12}\n{:>12.0f}\n", "Avail", (total - used) / unit);
    co_await process->say(text);
    co_return 0;
  }
  if (options.has('h')) {
    const auto text = fmt::format(
        "{:<14}  Size  Used Avail Use% Mounted on\n{:<14} {:>5} {:>5} {:>5} {:>3.0f}% /\n",
        "Filesystem", "/dev/md0", human(total), human(used), human(total - used),
        used / total * 100);
    co_await process->say(text);
    co_return 0;
  }
  const auto text = fmt::format(
      "{:<14} {:>12} {:>12} {:>12} {:>4} Mounted on\n{:<14} {:>12.0f} {:>12.0f} {:>12.0f} "
      "{:>3.0f}% /\n",
      "Filesystem", options.has('P') ? "1024-blocks" : "1K-blocks", "Used", "Available", "Use%",
      "/dev/md0", total / unit, used / unit, (total - used) / unit, used / total * 100);
  co_await process->say(text);
  co_return 0;
}

std::string utc(double when, const char* format) {
  const auto seconds = static_cast<std::time_t>(when);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char buffer[64] = "";
  return {buffer, std::strftime(buffer, sizeof buffer, format, &parts)};
}

/// "5 min", " 2:05", "3 days,  2:05". Source: procps 4.0, library/uptime.c.
std::string lasted(double seconds) {
  const auto minutes = static_cast<long>(seconds / 60), days = minutes / 1440;
  std::string text;
  if (days > 0) text = fmt::format("{} day{}, ", days, days == 1 ? "" : "s");
  const auto hours = minutes / 60 % 24;
  return text + (hours > 0 ? fmt::format("{:2d}:{:02d}", hours, minutes % 60)
                           : fmt::format("{} min", minutes % 60));
}

/// "1 week, 2 days, 5 minutes", as `uptime -p` has it.
std::string in_words(double seconds) {
  struct Unit {
    const char* name;
    long minutes;
  };
  constexpr std::array<Unit, 4> kUnits{
      {{"week", 10080}, {"day", 1440}, {"hour", 60}, {"minute", 1}}};
  auto left = static_cast<long>(seconds / 60);
  std::string text;
  for (const auto& unit : kUnits) {
    const auto count = left / unit.minutes;
    left %= unit.minutes;
    if (count == 0) continue;
    text +=
        fmt::format("{}{} {}{}", text.empty() ? "" : ", ", count, unit.name, count == 1 ? "" : "s");
  }
  return text.empty() ? "0 minutes" : text;
}

Task<int> uptime(ProcessPtr process, Arguments arguments) {
  const double now = process->now();
  const double since_boot = now - process->host.booted_at();
  auto text = fmt::format("{} up {},  0 user,  load average: 0.08, 0.03, 0.01\n",
                          utc(now, " %H:%M:%S"), lasted(since_boot));
  if (arguments.size() > 1 && arguments[1] == "-p") text = "up " + in_words(since_boot) + "\n";
  if (arguments.size() > 1 && arguments[1] == "-s")
    text = utc(process->host.booted_at(), "%Y-%m-%d %H:%M:%S\n");
  co_await process->say(text);
  co_return 0;
}

Task<int> processors(ProcessPtr process, Arguments) {
  const auto line = fmt::format("{}\n", hardware(process).threads());
  co_await process->say(line);
  co_return 0;
}

Task<int> memory(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "bkmght");
  const double unit = options.has('b')   ? 1
                      : options.has('m') ? 1048576
                      : options.has('g') ? 1073741824
                                         : 1024;
  const double total = hardware(process).memory_bytes() * 0.985 / unit;
  const auto text = fmt::format(
      "{:>20} {:>11} {:>11} {:>11} {:>11} {:>11}\nMem:  {:>14.0f} {:>11.0f} {:>11.0f} {:>11} "
      "{:>11.0f} {:>11.0f}\n"
      "Swap: {:>14} {:>11} {:>11}\n",
      "total", "used", "free", "shared", "buff/cache", "available", total, total * 0.01,
      total * 0.98, 0, total * 0.01, total * 0.98, 0, 0, 0);
  co_await process->say(text);
  co_return 0;
}

Task<int> restart(ProcessPtr process, Arguments) {
  process->host.machine().press(Reset::graceful_restart);
  co_return 0;
}

Task<int> turn_off(ProcessPtr process, Arguments) {
  process->host.machine().press(Reset::graceful_shutdown);
  co_return 0;
}

Task<int> configuration(ProcessPtr process, Arguments arguments) {
  const auto name = arguments.size() > 1 ? arguments[1] : "";
  std::string line = "undefined\n";
  if (name == "_NPROCESSORS_ONLN" || name == "_NPROCESSORS_CONF")
    line = fmt::format("{}\n", hardware(process).threads());
  if (name == "PAGE_SIZE" || name == "PAGESIZE") line = "4096\n";
  if (name == "CLK_TCK") line = "100\n";
  co_await process->say(line);
  co_return 0;
}

Task<int> cpu_list(ProcessPtr process, Arguments) {
  const auto& machine = hardware(process);
  const auto text = fmt::format(
      "Architecture:            x86_64\nCPU(s):                  {}\nModel name:              {}\n"
      "Thread(s) per core:      {}\nCore(s) per socket:      {}\nSocket(s):               {}\nNUMA "
      "node(s):            {}\n",
      machine.threads(), machine.cpus.empty() ? "unknown" : machine.cpus[0].model,
      machine.threads_of_core, machine.cpus.empty() ? 1 : machine.cpus[0].cores,
      machine.cpus.size(), machine.cpus.size());
  co_await process->say(text);
  co_return 0;
}

constexpr auto kTools =
    std::to_array<Tool>({{"uname", kernel_name},
                         {"hostname", host_name},
                         {"id", user},
                         {"whoami", user},
                         {"date", date},
                         {"df", space},
                         {"uptime", uptime},
                         {"nproc", processors},
                         {"free", memory},
                         {"reboot", restart},
                         {"poweroff", turn_off},
                         {"shutdown", turn_off},
                         {"getconf", configuration},
                         {"lscpu", cpu_list},
                         {"modprobe", [](ProcessPtr, Arguments) -> Task<int> { co_return 0; }},
                         {"mount", [](ProcessPtr, Arguments) -> Task<int> { co_return 0; }},
                         {"logger", [](ProcessPtr, Arguments) -> Task<int> { co_return 0; }}});

}  // namespace

std::span<const Tool> system_tools() { return kTools; }

}  // namespace cupel::rehearsal
