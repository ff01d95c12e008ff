// What each kind of command does: POSIX XCU 2.9.
#include <cerrno>

#include "rehearsal/shell/builtins.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/parser.h"
#include "rehearsal/shell/program.h"
#include "rehearsal/shell/shell.h"

namespace cupel::rehearsal {

using Kind = Command::Kind;
using Flow = Shell::Flow;

Task<Flow> Shell::evaluate(CommandPtr command) {
  // A script that never waits must still let the loop breathe.
  constexpr int kTurnsBetweenYields = 64;
  if (++turns_ % kTurnsBetweenYields == 0) co_await process->yield();
  if (process->fatal() != 0) flow = Flow::exit;
  if (flow != Flow::normal) co_return flow;
  switch (command->kind) {
    case Kind::sequence:
      for (const auto& child : command->children) {
        co_await evaluate(child);
        if (flow != Flow::normal) break;
      }
      co_return flow;
    case Kind::both:
    case Kind::either: {
      ++unchecked_;
      co_await evaluate(command->children[0]);
      --unchecked_;
      const bool go_on = (status == 0) == (command->kind == Kind::both);
      if (flow == Flow::normal && go_on) co_await evaluate(command->children[1]);
      co_return flow;
    }
    case Kind::background:
      co_return co_await background(*command);
    case Kind::function:
      functions[command->name] = command->children[0];
      status = 0;
      co_return flow;
    case Kind::simple:
      co_await simple(*command);
      break;
    case Kind::pipeline:
      co_await pipeline(*command);
      break;
    case Kind::subshell:
      co_await fork_and_wait(command);
      break;
    default:
      co_return co_await compound(command);
  }
  if (!process->pending.empty()) co_await run_traps();
  const bool negated = command->kind == Kind::pipeline && command->negated;
  if (errexit && status != 0 && unchecked_ == 0 && !negated && flow == Flow::normal)
    flow = Flow::exit;
  co_return flow;
}

Task<Flow> Shell::compound(CommandPtr command) {
  const auto saved = process->files;
  const bool redirected = co_await redirect(command->redirects);
  if (!redirected) {
    process->files = saved;
    status = 2;
    co_return flow;
  }
  switch (command->kind) {
    case Kind::group:
      co_await evaluate(command->children[0]);
      break;
    case Kind::condition:
      co_await condition(*command);
      break;
    case Kind::loop:
      co_await loop(*command);
      break;
    case Kind::for_each:
      co_await for_each(*command);
      break;
    case Kind::match:
      co_await match(*command);
      break;
    default:
      break;
  }
  if (!command->redirects.empty()) process->files = saved;
  co_return flow;
}

Task<Flow> Shell::condition(const Command& command) {
  const auto& children = command.children;
  std::size_t i = 0;
  for (; i + 1 < children.size(); i += 2) {
    ++unchecked_;
    co_await evaluate(children[i]);
    --unchecked_;
    if (flow != Flow::normal) co_return flow;
    if (status == 0) {
      co_await evaluate(children[i + 1]);
      co_return flow;
    }
  }
  status = 0;
  if (i < children.size()) co_await evaluate(children[i]);
  co_return flow;
}

namespace {
/// After a turn of a loop: true if the loop is over.
bool leaves(Shell& shell) {
  if (shell.flow == Flow::leave_loop || shell.flow == Flow::next_turn) {
    if (--shell.levels > 0) return true;
    const bool leave = shell.flow == Flow::leave_loop;
    shell.flow = Flow::normal;
    return leave;
  }
  return shell.flow != Flow::normal;
}
}  // namespace

Task<Flow> Shell::loop(const Command& command) {
  int last = 0;
  ++loop_depth;
  for (;;) {
    ++unchecked_;
    co_await evaluate(command.children[0]);
    --unchecked_;
    if (flow != Flow::normal) {
      if (leaves(*this)) break;
      continue;
    }
    if ((status == 0) == command.negated) break;
    co_await evaluate(command.children[1]);
    last = status;
    if (leaves(*this)) break;
  }
  --loop_depth;
  if (flow == Flow::normal) status = last;
  co_return flow;
}

Task<Flow> Shell::for_each(const Command& command) {
  auto items = command.over_arguments ? arguments : std::vector<std::string>{};
  if (!command.over_arguments) items = co_await fields(command.words);
  if (flow != Flow::normal) co_return flow;
  status = 0;
  ++loop_depth;
  for (const auto& item : items) {
    assign(command.name, item);
    co_await evaluate(command.children[0]);
    if (leaves(*this)) break;
  }
  --loop_depth;
  co_return flow;
}

Task<Flow> Shell::match(const Command& command) {
  const auto subject = co_await text(command.words[0]);
  status = 0;
  for (const auto& item : command.items)
    for (const auto& each : item.patterns) {
      const auto requested = co_await pattern(each);
      if (flow != Flow::normal) co_return flow;
      if (!matches(requested, subject)) continue;
      co_await evaluate(item.body);
      co_return flow;
    }
  co_return flow;
}

namespace {
/// The body of a forked shell.
Task<int> subshell_body(std::shared_ptr<Shell> shell, CommandPtr command) {
  const bool parentheses = command->kind == Kind::subshell;
  if (parentheses) {
    auto inner = std::make_shared<Command>(*command);
    inner->kind = Kind::group;
    command = inner;
  }
  co_await shell->evaluate_last(command);
  co_await shell->run_traps();
  co_return shell->status;
}
}  // namespace

Task<Flow> Shell::fork_and_wait(CommandPtr command) {
  auto child = process->host.fork(process.get(), "sh");
  if (!child || call_depth > kDeepestCall) {
    co_await abort(2, "Cannot fork");
    co_return flow;
  }
  auto body = subshell_body(forked(child), std::move(command));
  process->host.start(child, std::move(body));
  status = co_await wait_for(child, false);
  co_return flow;
}

Task<Flow> Shell::background(const Command& command) {
  auto child = process->host.fork(process.get(), "sh");
  if (!child) {
    co_await abort(2, "Cannot fork");
    co_return flow;
  }
  // POSIX XCU 2.9.3.1: an asynchronous list reads nothing and is deaf to the keyboard.
  child->files[0] = open_inode(process->disk(), process->disk().find("/dev/null"), false);
  child->ignored.insert({2, 3});
  last_background = child->number;
  jobs[child->number] = child;
  auto body = subshell_body(forked(child), command.children[0]);
  process->host.start(child, std::move(body));
  status = 0;
  co_return flow;
}

Task<Flow> Shell::pipeline(const Command& command) {
  if (command.children.size() == 1) {
    ++unchecked_;
    co_await evaluate(command.children[0]);
    --unchecked_;
  } else {
    std::vector<ProcessPtr> children;
    OpenFilePtr input;
    for (std::size_t i = 0; i < command.children.size(); ++i) {
      auto child = process->host.fork(process.get(), "sh");
      if (!child) {
        co_await abort(2, "Cannot fork");
        break;
      }
      if (input) child->files[0] = std::exchange(input, nullptr);
      if (i + 1 < command.children.size()) {
        auto ends = make_pipe();
        child->files[1] = std::move(ends.writer);
        input = std::move(ends.reader);
      }
      auto body = subshell_body(forked(child), command.children[i]);
      process->host.start(child, std::move(body));
      children.push_back(std::move(child));
    }
    input.reset();
    for (const auto& child : children) status = co_await wait_for(child, false);
  }
  if (command.negated && flow == Flow::normal) status = status == 0 ? 1 : 0;
  co_return flow;
}

Task<Flow> Shell::simple(const Command& command) {
  const bool tail = std::exchange(tail_, false);
  substituted_ = false;
  const auto words = co_await fields(command.words);
  if (stopped()) co_return flow;
  std::vector<std::pair<std::string, std::string>> values;
  for (const auto& each : command.assignments) {
    auto value_of = co_await text(each.value);
    if (stopped()) co_return flow;
    values.emplace_back(each.name, std::move(value_of));
    if (words.empty()) assign(each.name, values.back().second);
  }
  // POSIX XCU 2.9.1: without a command, the status is that of the last substitution, or 0.
  if (words.empty() && !substituted_) status = 0;
  auto saved = process->files;
  const bool redirected = co_await redirect(command.redirects);
  if (!redirected) {
    process->files = saved;
    status = 2;
    co_return flow;
  }
  if (words.empty()) {
    process->files = saved;
    co_return flow;
  }
  const auto function = functions.find(words[0]);
  const auto* builtin = function == functions.end() ? find_builtin(words[0]) : nullptr;
  if (function == functions.end() && !builtin) {
    auto child_environment = environment();
    for (const auto& [key, value_of] : values) child_environment[key] = value_of;
    if (tail) {
      saved.clear();
      co_await become(words, std::move(child_environment));
      co_return flow;
    }
    co_await external(words, std::move(child_environment));
    process->files = saved;
    co_return flow;
  }
  using Variables = std::map<std::string, std::string>;
  const auto variables_before = values.empty() ? Variables{} : variables;
  for (const auto& [key, value_of] : values) assign(key, value_of);
  if (builtin)
    status = co_await builtin->run(*this, words);
  else
    co_await call(function->second, words);
  const bool lasting = builtin && builtin->special;
  for (const auto& [key, value_of] : values) {
    if (lasting) break;
    const auto old = variables_before.find(key);
    if (old == variables_before.end())
      variables.erase(key);
    else
      variables[key] = old->second;
  }
  // `exec` with nothing but redirections: they stay.
  const bool keeps = words[0] == "exec" && words.size() == 1;
  if (!keeps) process->files = saved;
  co_return flow;
}

Task<Flow> Shell::call(CommandPtr body, std::vector<std::string> words) {
  if (++call_depth > kDeepestCall) {
    --call_depth;
    co_await abort(2, "too many nested function calls");
    co_return flow;
  }
  words.erase(words.begin());
  auto saved = std::exchange(arguments, std::move(words));
  const int saved_loops = std::exchange(loop_depth, 0);
  locals.emplace_back();
  co_await evaluate(std::move(body));
  for (const auto& [key, old] : locals.back()) {
    if (old)
      variables[key] = *old;
    else
      variables.erase(key);
  }
  locals.pop_back();
  loop_depth = saved_loops;
  arguments = std::move(saved);
  --call_depth;
  if (flow == Flow::leave_function) flow = Flow::normal;
  co_return flow;
}

Task<void> Shell::external(std::vector<std::string> words,
                           std::map<std::string, std::string> child_environment) {
  const auto program = find_program(*process, words[0]);
  if (program.status == 127) {
    co_await fail(127, words[0] + ": not found");
    co_return;
  }
  if (program.status != 0) {
    co_await fail(program.status, words[0] + ": Permission denied");
    co_return;
  }
  std::string shown;
  for (const auto& word : words) shown += (shown.empty() ? "" : " ") + word;
  auto child = process->host.fork(process.get(), shown.substr(0, 256));
  if (!child) {
    co_await abort(2, "Cannot fork");
    co_return;
  }
  child->environment = std::move(child_environment);
  auto body = run_program(child, std::move(words), "sh");
  process->host.start(child, std::move(body));
  status = co_await wait_for(child, false);
}

/// As dash does at a subshell's end: `setsid x > f &` is one process, which `$!` names, and which
/// holds nothing open that was redirected.
Task<void> Shell::become(std::vector<std::string> words,
                         std::map<std::string, std::string> own_environment) {
  std::string shown;
  for (const auto& word : words) shown += (shown.empty() ? "" : " ") + word;
  process->command = shown.substr(0, 256);
  process->environment = std::move(own_environment);
  process->caught.clear();
  status = co_await run_program(process, std::move(words), "sh");
  flow = Flow::exit;
}

Task<Flow> Shell::evaluate_last(CommandPtr command) {
  auto last = command;
  if (last->kind == Kind::pipeline && last->children.size() == 1 && !last->negated)
    last = last->children[0];
  tail_ = last->kind == Kind::simple;
  co_return co_await evaluate(std::move(command));
}

Task<bool> Shell::redirect(const std::vector<Redirect>& redirects) {
  for (const auto& each : redirects) {
    auto target = co_await text(*each.target);
    if (stopped()) co_return false;
    const int error = co_await open(each, std::move(target));
    if (error != 0) co_return false;
  }
  co_return true;
}

Task<int> Shell::open(const Redirect& redirect, std::string target) {
  auto& files = process->files;
  if (redirect.kind == Redirect::Kind::here) {
    const auto pipe = std::make_shared<Pipe>();
    pipe->queue = std::move(target);
    pipe->writer_gone = true;
    files[redirect.descriptor] = pipe_reader(pipe);
    co_return 0;
  }
  if (redirect.kind == Redirect::Kind::duplicate) {
    if (target == "-") {
      files.erase(redirect.descriptor);
      co_return 0;
    }
    const auto number = target.size() == 1 ? target[0] - '0' : -1;
    const auto from = files.find(number);
    if (from == files.end()) {
      co_await fail(2, target + ": Bad file descriptor");
      co_return EBADF;
    }
    const auto file = from->second;
    files[redirect.descriptor] = file;
    co_return 0;
  }
  auto& disk = process->disk();
  auto place = disk.place(process->path(target));
  const bool reads = redirect.kind == Redirect::Kind::read;
  const char* verb = reads ? "open" : "create";
  int error = place.error;
  if (error == 0 && place.node && place.node->is_folder() && !reads) error = EISDIR;
  if (error == 0 && !place.node && (reads || target.empty())) error = ENOENT;
  if (error == 0 && !place.node && place.folder->kind != Inode::Kind::folder) error = ENOTDIR;
  if (error != 0) {
    const char* why = error == EISDIR    ? "Is a directory"
                      : error == ENOTDIR ? "Not a directory"
                      : reads            ? "No such file"
                                         : "Directory nonexistent";
    co_await fail(2, std::string{"cannot "} + verb + " " + target + ": " + why);
    co_return error;
  }
  if (!place.node) place.node = disk.make_file(place, 0666 & ~process->mask, process->now());
  if (redirect.kind == Redirect::Kind::write && place.node->kind == Inode::Kind::file)
    disk.truncate(*place.node, 0, process->now());
  files[redirect.descriptor] =
      open_inode(disk, place.node, redirect.kind == Redirect::Kind::append);
  co_return 0;
}

}  // namespace cupel::rehearsal
