// Tools that start, end or wait for processes.
#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/shell/builtins.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/shell.h"
#include "rehearsal/tools/nap.h"
#include "rehearsal/tools/sets.h"

namespace cupel::rehearsal {
namespace {

Task<int> wait_for(Process& process, ProcessPtr child) {
  while (!child->ended() && process.fatal() == 0) co_await process.block();
  co_return child->ended() ? child->exit_status() : 128 + process.fatal();
}

/// The rest of the arguments as a program in a child. nullptr where there are too many processes.
ProcessPtr start_child(Process& process, Arguments arguments, std::string complainer) {
  auto child = process.host.fork(&process, arguments[0]);
  if (!child) return nullptr;
  auto body = run_program(child, std::move(arguments), std::move(complainer));
  process.host.start(child, std::move(body));
  return child;
}

Task<int> yes(ProcessPtr, Arguments) { co_return 0; }
Task<int> no(ProcessPtr, Arguments) { co_return 1; }

Task<int> sleep(ProcessPtr process, Arguments arguments) {
  VirtualTime span{0};
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const auto one = arguments[i] == "infinity" ? VirtualTime{1e9} : parse_span(arguments[i]);
    if (!one) {
      const auto line = "sleep: invalid time interval '" + arguments[i] + "'\n";
      co_await process->print_error(line);
      co_return 1;
    }
    span += *one;
  }
  co_await process->sleep(nap_of(process->host.machine(), span));
  co_return 0;
}

Task<int> shell(ProcessPtr process, Arguments arguments) {
  ShellStart start{.name = arguments[0]};
  bool command = false, input = false;
  std::size_t i = 1;
  for (; i < arguments.size() && arguments[i].size() > 1 && arguments[i][0] == '-'; ++i) {
    if (arguments[i] == "--") {
      ++i;
      break;
    }
    for (const char c : arguments[i].substr(1)) {
      if (c == 'c') command = true;
      if (c == 's') input = true;
      if (c == 'e') start.errexit = true;
      if (c == 'u') start.nounset = true;
      if (c == 'x') start.trace = true;
    }
  }
  const auto rest = [&] {
    if (i < arguments.size())
      start.arguments.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
  };
  if (command) {
    if (i >= arguments.size()) {
      co_await process->print_error("sh: 0: -c requires an argument\n");
      co_return 2;
    }
    start.script = arguments[i++];
    if (i < arguments.size()) start.name = arguments[i++];
    rest();
  } else if (!input && i < arguments.size()) {
    const auto file = arguments[i++];
    const auto node = process->disk().find(process->path(file));
    if (!node || node->is_folder()) {
      const auto line = "sh: 0: cannot open " + file + ": No such file\n";
      co_await process->print_error(line);
      co_return 2;
    }
    start.name = file;
    start.script = node->content();
    rest();
  } else {
    start.from_input = true;
    rest();
  }
  co_return co_await run_shell(process, std::move(start));
}

Task<int> new_session(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options({"setsid"}, "");
  std::size_t i = 1;
  bool wait = false, fork = false;
  for (; i < arguments.size() && arguments[i].starts_with('-'); ++i) {
    wait |= arguments[i] == "-w" || arguments[i] == "--wait";
    fork |= arguments[i] == "-f" || arguments[i] == "--fork";
  }
  Arguments rest{arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end()};
  if (rest.empty()) co_return 1;
  // setsid(2) is refused to the leader of a group: setsid(1) forks then, and only then.
  if (process->group == process->number || fork) {
    auto child = process->host.fork(process.get(), rest[0]);
    if (!child) co_return 1;
    child->session = child->group = child->number;
    auto body = run_program(child, std::move(rest), "setsid");
    process->host.start(child, std::move(body));
    if (!wait) co_return 0;
    co_return co_await wait_for(*process, child);
  }
  process->session = process->group = process->number;
  process->command = rest[0];
  co_return co_await run_program(process, std::move(rest), "setsid");
}

/// `nice`, `ionice`, `sudo`, `stdbuf`, `numactl`: options with or without values, then a
/// command.
Task<int> pass_through(ProcessPtr process, Arguments arguments) {
  constexpr std::array<std::string_view, 9> kValued{"-u", "-g", "-c", "-p", "-C",
                                                    "-h", "-o", "-e", "-i"};
  std::size_t i = 1;
  const bool sudo = arguments[0].ends_with("sudo"), nice = arguments[0].ends_with("nice");
  for (; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    if (word == "--") {
      ++i;
      break;
    }
    if (sudo && word.contains('=') && !word.starts_with('-')) {
      process->environment[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
      continue;
    }
    if (!word.starts_with('-')) break;
    const bool value =
        (sudo && (word == "-u" || word == "-g" || word == "-C" || word == "-p")) ||
        (!sudo && ((std::ranges::find(kValued, std::string_view{word}) != kValued.end()) ||
                   (nice && word == "-n")));
    if (value) ++i;
  }
  if (i >= arguments.size()) co_return sudo&& arguments.size() > 1 ? 0 : 1;
  Arguments rest{arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end()};
  co_return co_await run_program(process, std::move(rest), arguments[0]);
}

/// `numactl -H`, as numactl 2.0.16 prints it.
std::string numa_nodes(const Hardware& hardware) {
  const auto nodes = std::max<std::size_t>(hardware.cpus.size(), 1);
  const int cores = hardware.cores(), each = cores / static_cast<int>(nodes);
  const double mib = hardware.memory_bytes() / 1048576 / static_cast<double>(nodes);
  auto text = nodes == 1 ? std::string{"available: 1 nodes (0)\n"}
                         : fmt::format("available: {} nodes (0-{})\n", nodes, nodes - 1);
  std::string distances = "node distances:\nnode ";
  for (std::size_t i = 0; i < nodes; ++i) distances += fmt::format("{:3} ", i);
  for (std::size_t i = 0; i < nodes; ++i) {
    text += fmt::format("node {} cpus:", i);
    for (const int thread : {0, cores})
      for (int core = 0; core < each; ++core)
        text += fmt::format(" {}", thread + static_cast<int>(i) * each + core);
    text += fmt::format("\nnode {0} size: {1:.0f} MB\nnode {0} free: {2:.0f} MB\n", i, mib * 0.985,
                        mib * 0.97);
    distances += fmt::format("\n{:3}: ", i);
    for (std::size_t j = 0; j < nodes; ++j) distances += i == j ? " 10 " : " 21 ";
  }
  return text + distances + "\n";
}

Task<int> numa_control(ProcessPtr process, Arguments arguments) {
  const bool shows =
      arguments.size() == 2 && (arguments[1] == "-H" || arguments[1] == "--hardware");
  if (!shows) co_return co_await pass_through(process, std::move(arguments));
  const auto text = numa_nodes(process->host.machine().hardware());
  co_await process->say(text);
  co_return 0;
}

Task<int> environment(ProcessPtr process, Arguments arguments) {
  std::size_t i = 1;
  for (; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    if (word == "-i" || word == "-") {
      process->environment.clear();
    } else if (word == "-u" && i + 1 < arguments.size()) {
      process->environment.erase(arguments[++i]);
    } else if (word == "-C" && i + 1 < arguments.size()) {
      process->folder = process->path(arguments[++i]);
    } else if (word == "--") {
      ++i;
      break;
    } else if (const auto equals = word.find('='); equals != word.npos) {
      process->environment[word.substr(0, equals)] = word.substr(equals + 1);
    } else {
      break;
    }
  }
  if (i < arguments.size()) {
    Arguments rest{arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end()};
    co_return co_await run_program(process, std::move(rest), "env");
  }
  std::string all;
  for (const auto& [key, value] : process->environment) all += key + "=" + value + "\n";
  co_await process->say(all);
  co_return 0;
}

Task<int> timeout(ProcessPtr process, Arguments arguments) {
  int which = 15;
  std::optional<VirtualTime> kill_after;
  bool foreground = false, preserve = false;
  std::size_t i = 1;
  for (; i < arguments.size() && arguments[i].starts_with('-'); ++i) {
    auto word = arguments[i];
    const auto value = [&](std::string_view short_name, std::string_view long_name) {
      if (word == short_name || word == long_name)
        return i + 1 < arguments.size() ? arguments[++i] : std::string{};
      if (word.starts_with(std::string{long_name} + "=")) return word.substr(long_name.size() + 1);
      return word.substr(2);
    };
    if (word == "--") {
      ++i;
      break;
    }
    if (word == "--foreground")
      foreground = true;
    else if (word == "--preserve-status" || word == "-p")
      preserve = true;
    else if (word.starts_with("-k") || word.starts_with("--kill-after"))
      kill_after = parse_span(value("-k", "--kill-after"));
    else if (word.starts_with("-s") || word.starts_with("--signal"))
      which = signal_number(value("-s", "--signal")).value_or(15);
  }
  const auto span = i < arguments.size() ? parse_span(arguments[i]) : std::nullopt;
  if (!span || i + 1 >= arguments.size()) {
    co_await process->print_error("timeout: invalid time interval or missing operand\n");
    co_return 125;
  }
  Arguments rest{arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end()};
  // timeout(1) makes itself the leader of a group, so that it can end the whole family.
  if (!foreground && process->group != process->number) process->group = process->number;
  const auto found = find_program(*process, rest[0]);
  // From before the child runs: what it sleeps must not be over before this has begun to count.
  const auto& clock = process->host.machine().clock();
  auto until = clock.elapsed() + *span;
  const auto child = start_child(*process, std::move(rest), "timeout");
  if (!child) co_return 125;
  if (found.status != 0) co_return co_await wait_for(*process, child);
  const auto end_family = [&](int signal) {
    child->signal(signal);
    if (foreground) return;
    const auto family = process->host.processes();
    for (const auto& [number, one] : family)
      if (one->group == process->group && one != process) one->signal(signal);
  };
  const bool limited = span->count() > 0;
  bool timed_out = false, killed = false;
  while (!child->ended()) {
    if (process->fatal() != 0) {
      end_family(process->fatal());
      co_return 128 + process->fatal();
    }
    if (!limited || (timed_out && (killed || !kill_after))) {
      co_await process->block();
      continue;
    }
    if (clock.elapsed() < until) {
      co_await process->block_until(until);
      continue;
    }
    killed = timed_out;
    end_family(timed_out ? 9 : which);
    timed_out = true;
    if (kill_after) until = clock.elapsed() + *kill_after;
  }
  if (!timed_out || preserve) co_return child->exit_status();
  co_return killed || which == 9 ? 137 : 124;
}

Task<int> kill(ProcessPtr process, Arguments arguments) {
  int which = 15;
  std::size_t i = 1;
  if (arguments.size() > 1 && arguments[1] == "-l") {
    co_await process->say(
        "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM\n");
    co_return 0;
  }
  if (i < arguments.size() && arguments[i] == "-s" && i + 1 < arguments.size()) {
    which = signal_number(arguments[i + 1]).value_or(-1);
    i += 2;
  } else if (i < arguments.size() && arguments[i].size() > 1 && arguments[i][0] == '-' &&
             arguments[i] != "--") {
    which = signal_number(std::string_view{arguments[i]}.substr(1)).value_or(-1);
    ++i;
  }
  if (i < arguments.size() && arguments[i] == "--") ++i;
  if (which < 0 || i >= arguments.size()) {
    co_await process->print_error("sh: 1: kill: Illegal argument\n");
    co_return 2;
  }
  int status = 0;
  for (; i < arguments.size(); ++i) {
    const auto target = number<int>(arguments[i]);
    const bool own_group = target && *target == 0;
    const bool there = target && process->host.signal(own_group ? -process->group : *target, which);
    if (there) continue;
    co_await process->print_error("sh: 1: kill: No such process\n");
    status = 1;
  }
  co_return status;
}

Task<int> processes(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "o:p:eAaxufg:s:C:", {{"no-headers", 'H'}});
  auto columns = options.value('o', "pid,comm");
  const bool headers = !columns.contains('=');
  std::erase(columns, '=');
  const auto requested = number<int>(options.value('p'));
  std::string text = headers ? "    PID COMMAND\n" : "";
  bool any = false;
  for (const auto& [pid, one] : process->host.processes()) {
    if (requested && *requested != pid) continue;
    any = true;
    std::string line;
    for (const auto column : split(columns, ',')) {
      if (!line.empty()) line += " ";
      if (column == "pid")
        line += fmt::format("{:>7}", pid);
      else if (column == "ppid")
        line += fmt::format("{:>7}", one->parent);
      else if (column == "pgid" || column == "pgrp")
        line += fmt::format("{:>7}", one->group);
      else if (column == "sid" || column == "sess")
        line += fmt::format("{:>7}", one->session);
      else if (column == "stat" || column == "state" || column == "s")
        line += "S";
      else if (column == "lstart")
        line += "Thu Jan  1 00:00:00 1970";
      else
        line += one->command;
    }
    text += line + "\n";
  }
  co_await process->say(text);
  co_return any ? 0 : 1;
}

Task<int> locked(ProcessPtr process, Arguments arguments) {
  // One shell at a time is enough for a node whose only user is a controller: the lock is granted.
  std::size_t i = 1;
  while (i < arguments.size() && arguments[i].starts_with('-')) i += arguments[i] == "-w" ? 2 : 1;
  if (i + 1 >= arguments.size()) co_return 0;
  Arguments rest{arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end()};
  if (rest[0] == "-c") rest = {"sh", "-c", rest.size() > 1 ? rest[1] : ""};
  co_return co_await run_program(process, std::move(rest), "flock");
}

Task<int> test(ProcessPtr process, Arguments arguments) {
  std::string complaint;
  const int status = test_command(*process, arguments, complaint);
  complaint += complaint.empty() ? "" : "\n";
  co_await process->print_error(complaint);
  co_return status;
}

Task<int> echo(ProcessPtr process, Arguments arguments) {
  const auto text = echo_text(arguments);
  const int error = co_await process->write(1, text);
  co_return error == 0 ? 0 : 1;
}

Task<int> print(ProcessPtr process, Arguments arguments) {
  std::string text, complaint;
  const bool good = printf_text(arguments, text, complaint);
  co_await process->write(1, text);
  co_return good ? 0 : 1;
}

constexpr std::array<Tool, 20> kTools{{{"true", yes},
                                       {"false", no},
                                       {"sleep", sleep},
                                       {"sh", shell},
                                       {"dash", shell},
                                       {"setsid", new_session},
                                       {"nice", pass_through},
                                       {"sudo", pass_through},
                                       {"stdbuf", pass_through},
                                       {"numactl", numa_control},
                                       {"env", environment},
                                       {"timeout", timeout},
                                       {"kill", kill},
                                       {"ps", processes},
                                       {"flock", locked},
                                       {"test", test},
                                       {"[", test},
                                       {"echo", echo},
                                       {"printf", print}}};

}  // namespace

std::span<const Tool> process_tools() { return kTools; }

}  // namespace cupel::rehearsal
