#pragma once
// One running shell: its variables, functions and options, and what it does with a tree. It runs in
// a virtual process and starts virtual processes; nothing of the host is within its reach.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rehearsal/shell/process.h"
#include "rehearsal/shell/syntax.h"

namespace cupel::rehearsal {

/// How `sh` was called.
struct ShellStart {
  std::string name = "sh";  // $0
  std::string script{};
  std::vector<std::string> arguments{};
  bool errexit = false, nounset = false, trace = false;
  bool from_input = false;  // read the script from standard input
};

/// A field of an expanded word: which of its characters were quoted decides about globbing.
struct Field {
  std::string text{};
  std::string mask{};  // 'q' where quoted, ' ' where not
  bool quotes = false;

  void add(std::string_view more, bool quoted) {
    text += more;
    mask.append(more.size(), quoted ? 'q' : ' ');
  }
};

class Shell {
 public:
  /// What stops a list of commands.
  enum class Flow { normal, exit, leave_loop, next_turn, leave_function };

  static constexpr std::size_t kLongestScript = 1u << 20;
  static constexpr std::size_t kLongestValue = 8u << 20;
  static constexpr int kDeepestCall = 64;

  Shell(ProcessPtr process, const ShellStart& start);

  Task<int> run(std::string script);

  // What the built-in commands see of it.
  ProcessPtr process;
  std::map<std::string, std::string> variables{};
  std::set<std::string> exported{};
  std::set<std::string> read_only{};
  std::map<std::string, CommandPtr> functions{};
  std::map<int, std::string> traps{};  // 0: EXIT
  std::vector<std::string> arguments{};
  std::string name{};
  bool errexit = false, nounset = false, trace = false, noglob = false;
  int status = 0;
  int last_background = 0;
  int loop_depth = 0, levels = 0;  // levels: how many loops a break still has to leave
  int call_depth = 0;
  std::map<int, ProcessPtr> jobs{};
  Flow flow = Flow::normal;
  bool subshell = false;
  std::vector<std::map<std::string, std::optional<std::string>>> locals{};

  std::optional<std::string> value(const std::string& name_of) const;
  void assign(const std::string& name_of, std::string value_of);
  /// Waits for a child. 128 + signal if this shell was asked to stop meanwhile.
  Task<int> wait_for(ProcessPtr child, bool breakable);
  Task<void> run_traps();
  Task<Flow> evaluate(CommandPtr command);
  /// The only thing that is left to do: a program takes this process over.
  Task<Flow> evaluate_last(CommandPtr command);
  Task<Flow> evaluate_text(std::string script);
  /// "sh: 1: what" on standard error, and `code` as the status.
  Task<void> fail(int code, std::string what);
  /// As fail(), and the shell ends, as POSIX XCU 2.8.1 says of errors of expansion and syntax.
  Task<void> abort(int code, std::string what);
  bool stopped() const { return flow != Flow::normal || process->fatal() != 0; }

  // Expansion.
  Task<std::vector<std::string>> fields(const std::vector<Word>& words);
  Task<std::string> text(const Word& word);
  Task<std::string> pattern(const Word& word);
  std::vector<std::string> globbed(const Field& field) const;

 private:
  friend struct Expander;
  Task<Flow> simple(const Command& command);
  Task<Flow> pipeline(const Command& command);
  Task<Flow> condition(const Command& command);
  Task<Flow> loop(const Command& command);
  Task<Flow> for_each(const Command& command);
  Task<Flow> match(const Command& command);
  Task<Flow> background(const Command& command);
  Task<Flow> fork_and_wait(CommandPtr command);
  Task<Flow> compound(CommandPtr command);
  Task<Flow> call(CommandPtr body, std::vector<std::string> words);
  Task<void> external(std::vector<std::string> words,
                      std::map<std::string, std::string> environment);
  Task<void> become(std::vector<std::string> words, std::map<std::string, std::string> environment);
  Task<bool> redirect(const std::vector<Redirect>& redirects);
  Task<int> open(const Redirect& redirect, std::string target);
  Task<std::string> substitute(CommandPtr script);
  std::map<std::string, std::string> environment() const;
  /// A shell for a child process, with a copy of all this one knows.
  std::shared_ptr<Shell> forked(ProcessPtr child) const;

  int turns_ = 0;
  bool tail_ = false;         // the next simple command is the last one
  bool substituted_ = false;  // since a simple command began
  int unchecked_ = 0;         // in a condition, where a failure does not end a `set -e` shell
};

/// A shell as the body of a process.
Task<int> run_shell(ProcessPtr process, ShellStart start);

/// fnmatch(3) on a pattern in which quoted characters stand behind a backslash.
bool matches(std::string_view pattern, std::string_view text);

/// POSIX arithmetic on 64-bit integers. Errors: kInvalid.
Result<std::int64_t> arithmetic(std::string_view expression, Shell& shell);

}  // namespace cupel::rehearsal
