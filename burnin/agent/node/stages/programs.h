#pragma once
// The tools of a node, as a stage runs them: an argv each, never a shell. A node starts processes
// (node/node_programs.h), a virtual rack answers from its physics, a test from a table.
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "burnin/agent/node/stages/work.h"

namespace cupel::agent {

struct Command {
  std::vector<std::string> argv{};
  std::string input{};  // of standard input
  /// Added to our own environment, or in place of what stands there.
  std::vector<std::pair<std::string, std::string>> environment{};
  std::chrono::seconds limit{120};  // then it is killed
  std::size_t most = 2u << 20;      // bytes of each stream that are kept
  std::vector<int> cpus{};          // that it may run on, in order; none: those of cupel-node
  /// Of a tool that prints more than is kept: leaves out of its standard output so far what nobody
  /// needs. Called whenever there is more.
  std::function<void(std::string& out)> shorten{};
};

/// Of a command that has ended, or was ended.
struct Ran {
  int status = -1;  // exit status, 128 + signal; 124: killed at its limit; 127: no such program
  std::string out{};
  std::string err{};
  bool cut = false;   // one stream was longer than what is kept
  bool late = false;  // killed at its limit
  /// Where the command names CPUs: those that the kernel gives it. Where they are others it was not
  /// run.
  std::vector<int> cpus{};
};

/// One of those that start() began, once it has ended.
struct Ended {
  int number = 0;  // as start() gave it
  Ran ran{};
};

class Programs {
 public:
  Programs() = default;
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;
  virtual ~Programs() = default;

  /// The folder of PATH in which it lies, without a slash at its end; empty where none has it.
  virtual std::string folder_of(const std::string& name) const = 0;
  bool has(const std::string& name) const { return !folder_of(name).empty(); }

  /// Runs it to its end, beside those that were started. Nothing that it started outlives it.
  Wait<Ran> run(Command command) {
    return Wait<Ran>{[this, asked = std::move(command)](Wait<Ran>& wait) {  //
      return begin(asked, wait);
    }};
  }

  /// Starts it, and gives its number at once. It runs to its end, to its limit or to stop(), and
  /// never longer than the stage. What can't be started has ended, as run() reports it. To wait
  /// while any runs, use first_end() and not the clock: a tool whose output nobody reads stands
  /// still.
  virtual int start(const Command& command) = 0;

  /// Kills it with all that it started, and lets the others run: what it had printed. 137 where it
  /// had not ended before.
  Wait<Ran> stop(int number) {
    return Wait<Ran>{[this, number](Wait<Ran>& wait) { return begin_stop(number, wait); }};
  }

  /// The first of those started that has ended, each once; nothing where `span` passes before.
  Wait<std::optional<Ended>> first_end(std::chrono::milliseconds span) {
    return Wait<std::optional<Ended>>{[this, span](Wait<std::optional<Ended>>& wait) {  //
      return begin_first_end(span, wait);
    }};
  }

 private:
  /// As Wait::Begin. `command` lives until the wait is resumed.
  virtual bool begin(const Command& command, Wait<Ran>& wait) = 0;
  virtual bool begin_first_end(std::chrono::milliseconds span,
                               Wait<std::optional<Ended>>& wait) = 0;
  virtual bool begin_stop(int number, Wait<Ran>& wait) = 0;
};

}  // namespace cupel::agent
