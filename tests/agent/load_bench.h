#pragma once
// A stage that starts several tools at once, on a node of a test's own: tools that take time, and a
// clock on which time passes only while the stage waits.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "burnin/agent/node/stages/stage.h"
#include "tests/agent/node_tree.h"
#include "tests/burnin/stages.h"

namespace cupel::agent {

class WaitedClock final : public StageClock {
 public:
  std::chrono::milliseconds now() const override { return time; }
  std::chrono::milliseconds time{};

 private:
  bool begin(std::chrono::milliseconds span, Wait<Passed>& wait) override {
    time += span;
    wait.answer({});
    return true;
  }
};

/// Answers by how a command line begins, when that tool's time has passed: time passes only while
/// the stage waits.
class TimedPrograms final : public Programs {
 public:
  explicit TimedPrograms(WaitedClock& clock) : clock_{clock} {}

  /// In place of what the same line gave before.
  void add(const std::string& begins, Ran ran, std::chrono::seconds lasts = {}) {
    std::erase_if(tools_, [&](const Tool& each) { return each.begins == begins; });
    tools_.push_back({begins, std::move(ran), lasts, {}});
  }
  /// What the one that was added last prints so long after its start, behind what it prints at
  /// once.
  void prints(std::chrono::seconds after, std::string text) {
    tools_.back().later.push_back({after, std::move(text)});
  }
  bool is_idle() const { return running_.empty(); }
  std::string folder_of(const std::string& name) const override {
    const bool known = std::ranges::any_of(
        tools_, [&](const Tool& each) { return (each.begins + " ").starts_with(name + " "); });
    return known ? "/usr/bin" : "";
  }
  int start(const Command& command) override {
    const auto& tool = find(command);
    const bool late = tool.lasts > command.limit;
    Running one{++last_,  clock_.time,     clock_.time + std::min(tool.lasts, command.limit),
                tool.ran, command.shorten, tool.later};
    if (late) one.ran.status = 124;
    one.ran.late = one.ran.late || late;
    if (one.shorten) one.shorten(one.ran.out);
    running_.push_back(std::move(one));
    return last_;
  }
  std::vector<std::string> asked{};
  std::function<void()> passes = [] {};  // whenever time has passed

 private:
  struct Tool {
    std::string begins{};
    Ran ran{.status = 127};
    std::chrono::seconds lasts{};
    std::vector<std::pair<std::chrono::seconds, std::string>> later{};
  };
  struct Running {
    int number = 0;
    std::chrono::milliseconds begin{}, end{};
    Ran ran{};
    std::function<void(std::string& out)> shorten{};
    std::vector<std::pair<std::chrono::seconds, std::string>> later{};
  };

  const Tool& find(const Command& command) {
    static const Tool none;
    std::string line;
    for (const auto& word : command.argv) line += (line.empty() ? "" : " ") + word;
    asked.push_back(line);
    const auto found = std::ranges::find_if(
        tools_, [&](const Tool& each) { return line.starts_with(each.begins); });
    return found == tools_.end() ? none : *found;
  }
  bool begin(const Command& command, Wait<Ran>& wait) override {
    const auto& tool = find(command);
    clock_.time += std::min(tool.lasts, command.limit);
    auto ran = tool.lasts > command.limit ? Ran{.status = 124, .late = true} : tool.ran;
    if (command.shorten) command.shorten(ran.out);
    wait.answer(std::move(ran));
    return true;
  }
  bool begin_first_end(std::chrono::milliseconds span, Wait<std::optional<Ended>>& wait) override {
    const auto first = std::ranges::min_element(running_, {}, &Running::end);
    const bool ends = first != running_.end() && first->end < clock_.time + span;
    clock_.time = ends ? std::max(clock_.time, first->end) : clock_.time + span;
    for (auto& each : running_) print_later(each);
    passes();
    if (!ends) return true;
    wait.answer(Ended{first->number, std::move(first->ran)});
    running_.erase(first);
    return true;
  }

  bool begin_stop(int number, Wait<Ran>& wait) override {
    const auto found = std::ranges::find(running_, number, &Running::number);
    EXPECT_NE(found, running_.end()) << "it has ended before";
    if (found == running_.end()) return true;
    found->ran.status = 137;
    wait.answer(std::move(found->ran));
    running_.erase(found);
    return true;
  }
  void print_later(Running& one) const {
    while (!one.later.empty() && one.begin + one.later.front().first <= clock_.time) {
      one.ran.out += one.later.front().second;
      one.later.erase(one.later.begin());
      if (one.shorten) one.shorten(one.ran.out);
    }
  }

  WaitedClock& clock_;
  std::vector<Tool> tools_{};
  std::vector<Running> running_{};
  int last_ = 0;
};

class PrintedLines final : public StageLines {
 public:
  void write(const JsonLine& line) override { text += line.text(); }
  std::string text{};
};

struct LoadBench {
  NodeTree files{};
  WaitedClock clock{};
  TimedPrograms programs{clock};
  PrintedLines lines{};
  std::string job{};
  Scratch* scratch = &no_scratch();

  int run(const std::string& stage, const std::string& order) {
    const auto tree = files.tree();
    Node node{tree, programs, clock, lines, *scratch};
    node.job = job;
    auto work = run_stage(node, stage, order);
    work.start();
    return work.result();
  }
  Result<burnin::Findings> found(const std::string& stage, const std::string& order) {
    const int status = run(stage, order);
    return burnin::parsed(stage, {lines.text, "", status});
  }
};

}  // namespace cupel::agent
