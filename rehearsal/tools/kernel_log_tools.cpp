// dmesg of util-linux 2.38 and journalctl of systemd 252: two ways to print the kernel's log.
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "base/json.h"
#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/kernel_log.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

constexpr std::array<std::string_view, 8> kLevels{"emerg", "alert",  "crit", "err",
                                                  "warn",  "notice", "info", "debug"};

std::string formatted(double seconds, const char* format) {
  const auto whole = static_cast<std::time_t>(std::floor(seconds));
  std::tm parts{};
  gmtime_r(&whole, &parts);
  char text[64] = "";
  const auto size = std::strftime(text, sizeof text, format, &parts);
  return {text, size};
}

int micros_of(double seconds) {
  return static_cast<int>(std::floor((seconds - std::floor(seconds)) * 1e6));
}

/// "err,warn", "err+" (and worse): which levels; nothing where one is no level.
std::optional<std::array<bool, 8>> read_levels(std::string_view names) {
  std::array<bool, 8> levels{};
  for (const auto part : split(names, ',')) {
    auto name = trimmed(part);
    const bool and_worse = name.ends_with('+');
    if (and_worse) name.remove_suffix(1);
    const auto* found = std::ranges::find(kLevels, name);
    if (found == kLevels.end()) return std::nullopt;
    const auto level = static_cast<std::size_t>(found - kLevels.begin());
    for (std::size_t i = and_worse ? 0 : level; i <= level; ++i) levels[i] = true;
  }
  return levels;
}

enum class Stamp { since_boot, human, iso, none };

struct DmesgRequest {
  Stamp stamp = Stamp::since_boot;
  bool raw = false, decoded = false, quiet = false;
  std::array<bool, 8> levels{true, true, true, true, true, true, true, true};
  std::string wrong{};
};

DmesgRequest read_dmesg(const Arguments& arguments) {
  DmesgRequest request;
  const auto options = parse_options(arguments, "Tl:kxrtHLuPf:wWSeZ:",
                                     {{"ctime", 'T'},
                                      {"level", 'l'},
                                      {"kernel", 'k'},
                                      {"decode", 'x'},
                                      {"raw", 'r'},
                                      {"notime", 't'},
                                      {"nopager", 'P'},
                                      {"time-format", 'Z'},
                                      {"facility", 'f'},
                                      {"color", 'L'},
                                      {"human", 'H'},
                                      {"userspace", 'u'}});
  if (!options.unknown.empty())
    request.wrong = options.unknown.starts_with("--")
                        ? fmt::format("unrecognized option '{}'", options.unknown)
                        : fmt::format("invalid option -- '{}'", options.unknown.substr(1));
  if (options.has('T')) request.stamp = Stamp::human;
  if (options.has('t')) request.stamp = Stamp::none;
  request.raw = options.has('r');
  request.decoded = options.has('x');
  request.quiet = options.has('u');
  if (options.has('Z')) {
    const auto format = options.value('Z');
    if (format == "iso") request.stamp = Stamp::iso;
    if (format == "ctime") request.stamp = Stamp::human;
    if (format == "notime") request.stamp = Stamp::none;
  }
  if (options.has('l')) {
    const auto levels = read_levels(options.value('l'));
    if (!levels) request.wrong = fmt::format("unknown level '{}'", options.value('l'));
    if (levels) request.levels = *levels;
  }
  return request;
}

std::string stamp_of(const KernelLine& line, Stamp stamp, double booted) {
  switch (stamp) {
    case Stamp::since_boot:
      return fmt::format("[{:>12.6f}] ", line.at);
    case Stamp::human:
      return formatted(booted + line.at, "[%a %b %e %H:%M:%S %Y] ");
    case Stamp::iso:
      return formatted(booted + line.at, "%Y-%m-%dT%H:%M:%S") +
             fmt::format(",{:06d}+00:00 ", micros_of(booted + line.at));
    case Stamp::none:
      return {};
  }
  return {};
}

Task<int> dmesg(ProcessPtr process, Arguments arguments) {
  // util-linux tells --time-format by name alone: it has no letter.
  for (auto& word : arguments)
    if (word == "--time-format") word = "-Z";
  const auto request = read_dmesg(arguments);
  if (!request.wrong.empty()) {
    const auto text = "dmesg: " + request.wrong + "\nTry 'dmesg --help' for more information.\n";
    co_await process->print_error(text);
    co_return 1;
  }
  std::string text;
  for (const auto& line : kernel_lines(process->host)) {
    const auto level = static_cast<std::size_t>(line.priority);
    if (request.quiet || !request.levels[level]) continue;
    if (request.raw) text += fmt::format("<{}>", line.priority);
    if (request.decoded) text += fmt::format("kern  :{:<6}: ", kLevels[level]);
    text +=
        stamp_of(line, request.raw ? Stamp::since_boot : request.stamp, process->host.booted_at()) +
        line.text + "\n";
  }
  co_await process->say(text);
  co_return 0;
}

struct JournalRequest {
  std::string output = "short", grep{}, unit{}, wrong{};
  std::size_t last = 100000;
  int priority = 7;
  bool kernel = false;
};

JournalRequest read_journal(const Arguments& arguments) {
  JournalRequest request;
  const auto options = parse_options(arguments, "kbo:n:p:g:u:qrxeaS:U:t:",
                                     {{"dmesg", 'k'},
                                      {"boot", 'b'},
                                      {"output", 'o'},
                                      {"lines", 'n'},
                                      {"priority", 'p'},
                                      {"grep", 'g'},
                                      {"unit", 'u'},
                                      {"quiet", 'q'},
                                      {"since", 'S'},
                                      {"until", 'U'},
                                      {"no-pager", 'a'},
                                      {"identifier", 't'},
                                      {"utc", 'a'},
                                      {"no-hostname", 'a'}});
  request.wrong = options.unknown;
  request.output = options.value('o', "short");
  request.grep = options.value('g');
  request.unit = options.value('u');
  request.kernel = options.has('k');
  if (options.has('n')) request.last = number<std::size_t>(options.value('n')).value_or(10);
  if (options.has('p')) {
    const auto name = options.value('p');
    const auto* found =
        std::ranges::find(kLevels, name == "warning" ? "warn" : std::string_view{name});
    request.priority = number<int>(name).value_or(
        found == kLevels.end() ? 7 : static_cast<int>(found - kLevels.begin()));
  }
  return request;
}

std::string journal_line(const KernelLine& line, const JournalRequest& request, Host& host) {
  const double when = host.booted_at() + line.at;
  if (request.output == "cat") return line.text + "\n";
  if (request.output.starts_with("json")) {
    std::string boot = host.boot_id();
    std::erase(boot, '-');
    const json::object entry{{"__REALTIME_TIMESTAMP", fmt::format("{:.0f}", when * 1e6)},
                             {"__MONOTONIC_TIMESTAMP", fmt::format("{:.0f}", line.at * 1e6)},
                             {"_BOOT_ID", boot},
                             {"_HOSTNAME", host.machine().name()},
                             {"_TRANSPORT", "kernel"},
                             {"SYSLOG_FACILITY", "0"},
                             {"SYSLOG_IDENTIFIER", "kernel"},
                             {"PRIORITY", std::to_string(line.priority)},
                             {"MESSAGE", line.text}};
    return json::serialize(entry) + "\n";
  }
  auto stamp = formatted(when, "%b %d %H:%M:%S");
  if (request.output == "short-iso") stamp = formatted(when, "%Y-%m-%dT%H:%M:%S+0000");
  if (request.output == "short-precise")
    stamp = formatted(when, "%b %d %H:%M:%S") + fmt::format(".{:06d}", micros_of(when));
  if (request.output == "short-monotonic") stamp = fmt::format("[{:>12.6f}]", line.at);
  return stamp + " " + host.machine().name() + " kernel: " + line.text + "\n";
}

Task<int> journalctl(ProcessPtr process, Arguments arguments) {
  const auto request = read_journal(arguments);
  if (!request.wrong.empty()) {
    const auto text =
        request.wrong.starts_with("--")
            ? fmt::format("journalctl: unrecognized option '{}'\n", request.wrong)
            : fmt::format("journalctl: invalid option -- '{}'\n", request.wrong.substr(1));
    co_await process->print_error(text);
    co_return 1;
  }
  std::vector<std::string> lines;
  // A unit's own log is nothing that the kernel says.
  if (request.unit.empty())
    for (const auto& line : kernel_lines(process->host)) {
      const bool selected = line.priority <= request.priority &&
                            (request.grep.empty() || line.text.contains(request.grep));
      if (selected) lines.push_back(journal_line(line, request, process->host));
    }
  std::string text;
  const auto first = lines.size() - std::min(lines.size(), request.last);
  for (std::size_t i = first; i < lines.size(); ++i) text += lines[i];
  if (lines.empty()) text = "-- No entries --\n";
  co_await process->say(text);
  co_return lines.empty() && !request.grep.empty() ? 1 : 0;
}

constexpr auto kTools = std::to_array<Tool>({{"dmesg", dmesg}, {"journalctl", journalctl}});

}  // namespace

std::span<const Tool> kernel_log_tools() { return kTools; }

}  // namespace cupel::rehearsal
