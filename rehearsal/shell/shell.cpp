#include "rehearsal/shell/shell.h"

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/parser.h"

namespace cupel::rehearsal {

Shell::Shell(ProcessPtr in, const ShellStart& start)
    : process{std::move(in)},
      arguments{start.arguments},
      name{start.name},
      errexit{start.errexit},
      nounset{start.nounset},
      trace{start.trace} {
  for (const auto& [key, value_of] : process->environment) {
    variables[key] = value_of;
    exported.insert(key);
  }
  variables["IFS"] = " \t\n";
  exported.erase("IFS");
}

std::shared_ptr<Shell> Shell::forked(ProcessPtr child) const {
  auto shell = std::make_shared<Shell>(*this);
  shell->process = std::move(child);
  shell->subshell = true;
  shell->flow = Flow::normal;
  shell->jobs.clear();
  shell->call_depth = call_depth + 1;
  // A trap is not inherited by a subshell; an ignored signal is.
  std::erase_if(shell->traps, [](const auto& trap) { return !trap.second.empty(); });
  return shell;
}

std::optional<std::string> Shell::value(const std::string& of) const {
  if (of == "?") return std::to_string(status);
  if (of == "$") {
    // POSIX: in a subshell, $$ is still the number of the shell it came from.
    const auto known = variables.find("$");
    return known == variables.end() ? std::to_string(process->number) : known->second;
  }
  if (of == "!")
    return last_background == 0 ? std::nullopt : std::optional{std::to_string(last_background)};
  if (of == "#") return std::to_string(arguments.size());
  if (of == "-") return std::string{errexit ? "e" : ""} + (nounset ? "u" : "");
  if (of == "0") return name;
  if (of == "@" || of == "*") {
    if (arguments.empty()) return std::nullopt;
    std::string all;
    for (const auto& argument : arguments) all += (all.empty() ? "" : " ") + argument;
    return all;
  }
  if (const auto index = number<std::size_t>(of))
    return *index >= 1 && *index <= arguments.size() ? std::optional{arguments[*index - 1]}
                                                     : std::nullopt;
  const auto found = variables.find(of);
  return found == variables.end() ? std::nullopt : std::optional{found->second};
}

void Shell::assign(const std::string& to, std::string value_of) {
  if (read_only.contains(to)) return;
  variables[to] = std::move(value_of);
}

std::map<std::string, std::string> Shell::environment() const {
  std::map<std::string, std::string> all;
  for (const auto& key : exported) {
    const auto found = variables.find(key);
    if (found != variables.end()) all[key] = found->second;
  }
  return all;
}

Task<int> Shell::wait_for(ProcessPtr child, bool breakable) {
  while (!child->ended()) {
    if (process->fatal() != 0) co_return 128 + process->fatal();
    if (breakable && !process->pending.empty()) co_return 128 + process->pending.front();
    co_await process->block();
  }
  co_return child->exit_status();
}

Task<void> Shell::run_traps() {
  while (!process->pending.empty() && flow == Flow::normal) {
    const int signal = process->pending.front();
    process->pending.erase(process->pending.begin());
    const auto trap = traps.find(signal);
    if (trap == traps.end() || trap->second.empty()) continue;
    const int before = status;
    const auto script = trap->second;
    co_await evaluate_text(script);
    if (flow == Flow::normal) status = before;
  }
}

Task<Shell::Flow> Shell::evaluate_text(std::string script) {
  if (script.size() > kLongestScript) {
    co_await abort(2, "script is too long");
    co_return flow;
  }
  const auto tree = parse_script(script);
  if (!tree) {
    co_await abort(2, tree.error().what);
    co_return flow;
  }
  const auto root = tree.value();
  co_return co_await evaluate(root);
}

Task<void> Shell::fail(int code, std::string what) {
  const auto line = name + ": 1: " + what + "\n";
  co_await process->print_error(line);
  status = code;
}

Task<void> Shell::abort(int code, std::string what) {
  co_await fail(code, std::move(what));
  flow = Flow::exit;
}

Task<int> Shell::run(std::string script) {
  variables["$"] = std::to_string(process->number);
  co_await evaluate_text(std::move(script));
  const auto trap = traps.find(0);
  if (trap != traps.end() && process->fatal() == 0) {
    const int before = status;
    const auto text_of = trap->second;
    traps.erase(trap);
    flow = Flow::normal;
    co_await evaluate_text(text_of);
    if (flow == Flow::normal) status = before;
  }
  co_return status;
}

Task<int> run_shell(ProcessPtr process, ShellStart start) {
  const auto shell = std::make_shared<Shell>(process, start);
  auto script = std::move(start.script);
  if (start.from_input) {
    const int error = co_await process->read_all(0, script);
    if (error != 0) co_return 2;
  }
  co_return co_await shell->run(std::move(script));
}

}  // namespace cupel::rehearsal
