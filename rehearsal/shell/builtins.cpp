#include "rehearsal/shell/builtins.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/parser.h"
#include "rehearsal/shell/program.h"

namespace cupel::rehearsal {
namespace {

using Words = std::vector<std::string>;
using Flow = Shell::Flow;

Task<int> colon(Shell&, const Words&) { co_return 0; }
Task<int> no(Shell&, const Words&) { co_return 1; }

Task<int> say_echo(Shell& shell, const Words& words) {
  const auto text = echo_text(words);
  const int error = co_await shell.process->write(1, text);
  co_return error == 0 ? 0 : 1;
}

Task<int> say_printf(Shell& shell, const Words& words) {
  std::string text, complaint;
  const bool good = printf_text(words, text, complaint);
  const int error = co_await shell.process->write(1, text);
  if (!complaint.empty()) co_await shell.fail(1, "printf: " + complaint);
  co_return good&& error == 0 ? 0 : 1;
}

Task<int> test(Shell& shell, const Words& words) {
  std::string complaint;
  const int status = test_command(*shell.process, words, complaint);
  if (!complaint.empty()) co_await shell.fail(status, words[0] + ": " + complaint);
  co_return status;
}

Task<int> change_folder(Shell& shell, const Words& words) {
  std::size_t at = 1;
  bool physical = false;
  for (; at < words.size() && (words[at] == "-P" || words[at] == "-L"); ++at)
    physical = words[at] == "-P";
  if (at + 1 < words.size() && words[at] == "--") ++at;
  auto to = at < words.size() ? words[at] : shell.value("HOME").value_or("/");
  if (to == "-") to = shell.value("OLDPWD").value_or("/");
  auto path = shell.process->path(to);
  if (physical) path = shell.process->disk().real_path(path);
  const auto node = shell.process->disk().find(path);
  if (!node || !node->is_folder()) {
    co_await shell.fail(2, "cd: can't cd to " + to);
    co_return 2;
  }
  shell.assign("OLDPWD", shell.process->folder);
  shell.process->folder = path;
  shell.assign("PWD", path);
  co_return 0;
}

Task<int> where(Shell& shell, const Words& words) {
  const bool physical = words.size() > 1 && words[1] == "-P";
  const auto& folder = shell.process->folder;
  const auto line = (physical ? shell.process->disk().real_path(folder) : folder) + "\n";
  co_await shell.process->say(line);
  co_return 0;
}

Task<int> leave(Shell& shell, const Words& words) {
  const int code = words.size() > 1 ? number<int>(words[1]).value_or(2) & 255 : shell.status;
  shell.flow = Flow::exit;
  co_return code;
}

Task<int> leave_function(Shell& shell, const Words& words) {
  const int code = words.size() > 1 ? number<int>(words[1]).value_or(2) & 255 : shell.status;
  shell.flow = shell.call_depth > 0 ? Flow::leave_function : Flow::exit;
  co_return code;
}

Task<int> leave_loop(Shell& shell, const Words& words) {
  if (shell.loop_depth == 0) co_return 0;
  const int requested = words.size() > 1 ? number<int>(words[1]).value_or(1) : 1;
  shell.levels = std::clamp(requested, 1, shell.loop_depth);
  shell.flow = words[0] == "break" ? Flow::leave_loop : Flow::next_turn;
  co_return 0;
}

Task<int> export_names(Shell& shell, const Words& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "-p") continue;
    const auto equals = words[i].find('=');
    const auto key = words[i].substr(0, equals);
    if (equals != std::string::npos) shell.assign(key, words[i].substr(equals + 1));
    if (words[0] == "export")
      shell.exported.insert(key);
    else
      shell.read_only.insert(key);
  }
  co_return 0;
}

Task<int> declare_local(Shell& shell, const Words& words) {
  if (shell.locals.empty()) {
    co_await shell.abort(2, "local: not in a function");
    co_return 2;
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    const auto key = words[i].substr(0, equals);
    shell.locals.back().try_emplace(key, shell.value(key));
    if (equals != std::string::npos) shell.assign(key, words[i].substr(equals + 1));
  }
  co_return 0;
}

Task<int> unset(Shell& shell, const Words& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "-v") continue;
    if (words[i] == "-f" && i + 1 < words.size()) {
      shell.functions.erase(words[++i]);
      continue;
    }
    shell.variables.erase(words[i]);
    shell.exported.erase(words[i]);
  }
  co_return 0;
}

Task<int> set_options(Shell& shell, const Words& words) {
  std::size_t i = 1;
  for (; i < words.size(); ++i) {
    const auto& word = words[i];
    if (word == "--") {
      shell.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      co_return 0;
    }
    if (word.size() < 2 || (word[0] != '-' && word[0] != '+')) break;
    const bool on = word[0] == '-';
    for (const char c : word.substr(1)) {
      if (c == 'e') shell.errexit = on;
      if (c == 'u') shell.nounset = on;
      if (c == 'x') shell.trace = on;
      if (c == 'f') shell.noglob = on;
      if (c == 'o' && i + 1 < words.size()) {
        const auto& option = words[++i];
        if (option == "errexit") shell.errexit = on;
        if (option == "nounset") shell.nounset = on;
        if (option == "noglob") shell.noglob = on;
        if (option == "pipefail") {
          co_await shell.abort(2, "set: Illegal option -o pipefail");  // as dash says it
          co_return 2;
        }
      }
    }
  }
  if (i < words.size())
    shell.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  co_return 0;
}

Task<int> shift(Shell& shell, const Words& words) {
  const auto count = words.size() > 1 ? number<std::size_t>(words[1]).value_or(1) : 1;
  if (count > shell.arguments.size()) {
    co_await shell.abort(2, "shift: can't shift that many");
    co_return 2;
  }
  shell.arguments.erase(shell.arguments.begin(),
                        shell.arguments.begin() + static_cast<std::ptrdiff_t>(count));
  co_return 0;
}

Task<int> trap(Shell& shell, const Words& words) {
  std::size_t i = 1;
  if (i < words.size() && words[i] == "--") ++i;
  if (i >= words.size()) co_return 0;
  const bool reset = words[i] == "-" || (words.size() == i + 1 && signal_number(words[i]));
  const auto action = words[i];
  if (words[i] == "-" || !reset) ++i;
  for (; i < words.size(); ++i) {
    const auto signal = signal_number(words[i]);
    if (!signal) {
      co_await shell.fail(1, "trap: " + words[i] + ": bad trap");
      co_return 1;
    }
    auto& process = *shell.process;
    process.ignored.erase(*signal);
    process.caught.erase(*signal);
    shell.traps.erase(*signal);
    if (reset) continue;
    shell.traps[*signal] = action;
    if (*signal == 0) continue;
    (action.empty() ? process.ignored : process.caught).insert(*signal);
  }
  co_return 0;
}

Task<int> evaluate(Shell& shell, const Words& words) {
  std::string script;
  for (std::size_t i = 1; i < words.size(); ++i) script += (i > 1 ? " " : "") + words[i];
  if (++shell.call_depth > Shell::kDeepestCall) {
    co_await shell.abort(2, "nested too deeply");
    co_return 2;
  }
  shell.status = 0;
  co_await shell.evaluate_text(std::move(script));
  --shell.call_depth;
  co_return shell.status;
}

Task<int> source(Shell& shell, const Words& words) {
  const auto node =
      words.size() > 1 ? shell.process->disk().find(shell.process->path(words[1])) : nullptr;
  if (!node) {
    co_await shell.abort(2, words.size() > 1 ? ".: " + words[1] + ": not found" : ".: no file");
    co_return 2;
  }
  if (++shell.call_depth > Shell::kDeepestCall) {
    co_await shell.abort(2, "nested too deeply");
    co_return 2;
  }
  shell.status = 0;
  co_await shell.evaluate_text(node->content());
  --shell.call_depth;
  if (shell.flow == Flow::leave_function) shell.flow = Flow::normal;
  co_return shell.status;
}

Task<int> replace(Shell& shell, const Words& words) {
  if (words.size() == 1) co_return 0;
  Words rest{words.begin() + 1, words.end()};
  for (auto& key : shell.exported) {
    const auto value = shell.value(key);
    if (value) shell.process->environment[key] = *value;
  }
  shell.process->command = rest[0];
  const auto caught = std::exchange(shell.process->caught, {});
  const int status = co_await run_program(shell.process, std::move(rest), "sh");
  shell.traps.clear();
  shell.flow = Flow::exit;
  co_return status;
}

Task<int> read_line(Shell& shell, const Words& words) {
  bool raw = false;
  Words names;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "-r")
      raw = true;
    else
      names.push_back(words[i]);
  }
  std::string line;
  bool ended = false;
  for (;;) {
    std::string byte;
    const int error = co_await shell.process->read(0, byte, 1);
    if (error != 0 || byte.empty()) {
      ended = true;
      break;
    }
    if (byte == "\n") break;
    if (byte == "\\" && !raw) {
      std::string after;
      co_await shell.process->read(0, after, 1);
      if (after != "\n") line += after;
      continue;
    }
    line += byte;
  }
  const auto separators = shell.value("IFS").value_or(" \t\n");
  std::string blanks;
  for (const char c : separators)
    if (c == ' ' || c == '\t' || c == '\n') blanks += c;
  std::string_view rest{line};
  const auto trim_front = [&] {
    while (!rest.empty() && blanks.contains(rest.front())) rest.remove_prefix(1);
  };
  trim_front();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i + 1 == names.size()) {
      while (!rest.empty() && blanks.contains(rest.back())) rest.remove_suffix(1);
      shell.assign(names[i], std::string{rest});
      break;
    }
    const auto end = std::min(rest.find_first_of(separators), rest.size());
    shell.assign(names[i], std::string{rest.substr(0, end)});
    rest.remove_prefix(end);
    trim_front();
    if (!rest.empty() && separators.contains(rest.front()) && !blanks.contains(rest.front())) {
      rest.remove_prefix(1);
      trim_front();
    }
  }
  co_return ended ? 1 : 0;
}

Task<int> wait(Shell& shell, const Words& words) {
  if (words.size() == 1) {
    while (!shell.jobs.empty()) {
      const auto child = shell.jobs.begin()->second;
      const int status = co_await shell.wait_for(child, true);
      if (shell.process->interrupted()) co_return status;
      shell.jobs.erase(child->number);
    }
    co_return 0;
  }
  int status = 127;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto job = shell.jobs.find(number<int>(words[i]).value_or(0));
    status = 127;
    if (job == shell.jobs.end()) continue;
    const auto child = job->second;
    status = co_await shell.wait_for(child, true);
    if (shell.process->interrupted()) co_return status;
    shell.jobs.erase(child->number);
  }
  co_return status;
}

Task<int> set_mask(Shell& shell, const Words& words) {
  if (words.size() == 1) {
    const auto line = fmt::format("{:04o}\n", shell.process->mask);
    co_await shell.process->say(line);
    co_return 0;
  }
  unsigned mask = 0;
  std::from_chars(words[1].data(), words[1].data() + words[1].size(), mask, 8);
  shell.process->mask = mask & 0777;
  co_return 0;
}

Task<int> command(Shell& shell, const Words& words) {
  if (words.size() > 2 && (words[1] == "-v" || words[1] == "-V")) {
    const auto& sought = words[2];
    std::string line = sought + "\n";
    if (!find_builtin(sought) && !shell.functions.contains(sought)) {
      const auto program = find_program(*shell.process, sought);
      if (program.status != 0) co_return 127;
      if (!sought.contains('/')) line = "/usr/bin/" + line;
    }
    co_await shell.process->say(line);
    co_return 0;
  }
  Words rest{words.begin() + 1, words.end()};
  if (rest.empty()) co_return 0;
  if (rest[0] == "-p") rest.erase(rest.begin());
  const auto* builtin = find_builtin(rest[0]);
  if (builtin) {
    const int status = co_await builtin->run(shell, rest);
    co_return status;
  }
  std::string script;
  for (const auto& word : rest) script += shell_quoted(word) + " ";
  auto functions = std::exchange(shell.functions, {});
  co_await shell.evaluate_text(std::move(script));
  shell.functions = std::move(functions);
  co_return shell.status;
}

Task<int> kill(Shell& shell, const Words& words) {
  const auto* tool = find_tool("kill");
  co_return co_await tool->run(shell.process, words);
}

constexpr std::array<Builtin, 32> kBuiltins{{{".", true, source},
                                             {":", true, colon},
                                             {"[", false, test},
                                             {"break", true, leave_loop},
                                             {"cd", false, change_folder},
                                             {"command", false, command},
                                             {"continue", true, leave_loop},
                                             {"echo", false, say_echo},
                                             {"eval", true, evaluate},
                                             {"exec", true, replace},
                                             {"exit", true, leave},
                                             {"export", true, export_names},
                                             {"false", false, no},
                                             {"kill", false, kill},
                                             {"local", true, declare_local},
                                             {"printf", false, say_printf},
                                             {"pwd", false, where},
                                             {"read", false, read_line},
                                             {"readonly", true, export_names},
                                             {"return", true, leave_function},
                                             {"set", true, set_options},
                                             {"shift", true, shift},
                                             {"test", false, test},
                                             {"trap", true, trap},
                                             {"true", false, colon},
                                             {"ulimit", false, colon},
                                             {"umask", false, set_mask},
                                             {"unset", true, unset},
                                             {"wait", false, wait},
                                             {"hash", false, colon},
                                             {"alias", false, colon},
                                             {"unalias", false, colon}}};

}  // namespace

const Builtin* find_builtin(std::string_view name) {
  const auto found = std::ranges::find(kBuiltins, name, &Builtin::name);
  return found == kBuiltins.end() ? nullptr : &*found;
}

}  // namespace cupel::rehearsal
