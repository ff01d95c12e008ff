// `cupel-node stage` of a virtual machine: the program's own stages, over this machine's files, its
// tools and the rack's time. Where a stage waits, it is suspended, and this node's loop goes on.
#include <algorithm>
#include <functional>

#include "base/text.h"
#include "burnin/agent/node/stages/stage.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/cupel_node.h"

namespace cupel::rehearsal {
namespace {

constexpr int kUsage = 64, kKill = 9, kKilledAtLimit = 124, kNoProcess = 126;

/// The machine's disk as the stages read it.
class VirtualTree final : public agent::Tree {
 public:
  explicit VirtualTree(const FileSystem& disk) : disk_{disk} {}

  using Tree::bytes;
  std::optional<std::string> bytes(std::string_view path, std::size_t most) const override {
    const auto node = disk_.find(path);
    const bool readable = node && !node->is_folder() && node->kind != Inode::Kind::device;
    if (!readable) return std::nullopt;
    return node->content().substr(0, most);
  }
  std::vector<std::string> names(std::string_view folder) const override {
    std::vector<std::string> found;
    const auto node = disk_.find(folder);
    if (!node) return found;
    for (const auto& [name, entry] : node->entries)
      if (!name.starts_with('.') && found.size() < kMostNames) found.push_back(name);
    std::ranges::sort(found, agent::comes_before);
    return found;
  }
  std::optional<std::string> resolved(std::string_view path) const override {
    auto real = disk_.real_path(path);
    return real.empty() ? std::nullopt : std::optional{std::move(real)};
  }
  bool exists(std::string_view path) const override { return disk_.find(path) != nullptr; }
  std::optional<agent::TreeEntry> entry(std::string_view path) const override {
    const auto node = disk_.find(path, false);
    if (!node) return std::nullopt;
    const char kind = node->is_folder()                   ? 'd'
                      : node->kind == Inode::Kind::link   ? 'l'
                      : node->kind == Inode::Kind::device ? '?'
                                                          : '-';
    return agent::TreeEntry{kind, node->mode, 0};  // everything is root's
  }
  unsigned user() const override { return 0; }

 private:
  const FileSystem& disk_;
};

/// One stream of a tool, up to what the stage keeps.
class KeptStream final : public OpenFile {
 public:
  explicit KeptStream(std::size_t most, std::function<void(std::string&)> shorten = {})
      : most_{most}, shorten_{std::move(shorten)} {}

  Task<int> write(Process&, std::string_view bytes) override {
    const auto kept = bytes.substr(0, most_ - text.size());
    text += kept;
    cut = cut || kept.size() < bytes.size();
    if (shorten_) shorten_(text);
    co_return 0;
  }

  std::string text{};
  bool cut = false;

 private:
  std::size_t most_;
  std::function<void(std::string&)> shorten_;
};

/// Keeps what the stage waits for until the loop below has done it.
class VirtualPrograms final : public agent::Programs {
 public:
  explicit VirtualPrograms(const Process& process) : process_{process} {}

  std::string folder_of(const std::string& name) const override {
    const auto path = process_.environment.find("PATH");
    if (path == process_.environment.end()) return {};
    for (const auto folder : split(path->second, ':'))
      if (!folder.empty() && find_program(process_, std::string{folder} + "/" + name).status == 0)
        return std::string{folder};
    return {};
  }

  const agent::Command* command = nullptr;
  agent::Wait<agent::Ran>* wait = nullptr;

 private:
  bool begin(const agent::Command& asked, agent::Wait<agent::Ran>& from) override {
    command = &asked;
    wait = &from;
    return false;
  }
  const Process& process_;
};

class VirtualClock final : public agent::StageClock {
 public:
  explicit VirtualClock(const Clock& clock) : clock_{clock} {}

  std::chrono::milliseconds now() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.elapsed());
  }

  std::chrono::milliseconds span{};
  agent::Wait<Passed>* wait = nullptr;

 private:
  bool begin(std::chrono::milliseconds asked, agent::Wait<Passed>& from) override {
    span = asked;
    wait = &from;
    return false;
  }
  const Clock& clock_;
};

class KeptLines final : public agent::StageLines {
 public:
  void write(const agent::JsonLine& line) override { text += line.text(); }
  std::string text{};
};

/// All that the tool started, wherever its streams are.
void end_group(Process& tool) {
  tool.signal(kKill);
  tool.host.signal(-tool.number, kKill);
}

ProcessPtr start_tool(Process& process, const agent::Command& command,
                      const std::shared_ptr<KeptStream>& out,
                      const std::shared_ptr<KeptStream>& err) {
  auto tool = process.host.fork(&process, command.argv[0]);
  if (!tool) return nullptr;
  const auto input = std::make_shared<Pipe>();
  input->queue = command.input;
  input->writer_gone = true;
  tool->group = tool->number;
  tool->files = {{0, pipe_reader(input)}, {1, out}, {2, err}};
  for (const auto& [name, value] : command.environment) tool->environment[name] = value;
  auto body = run_program(tool, command.argv, command.argv[0]);
  process.host.start(tool, std::move(body));
  return tool;
}

/// As node_programs.cpp does it with real processes.
Task<agent::Ran> run_tool(ProcessPtr process, agent::Command command) {
  const auto out = std::make_shared<KeptStream>(command.most, command.shorten);
  const auto err = std::make_shared<KeptStream>(command.most);
  // From before the tool runs: what it sleeps must not be over before this has begun to count.
  const auto& clock = process->host.machine().clock();
  const auto until = clock.elapsed() + VirtualTime{command.limit};
  const auto tool = start_tool(*process, command, out, err);
  agent::Ran ran{.status = kNoProcess, .cpus = command.cpus};
  if (!tool) co_return ran;
  while (!tool->ended() && process->fatal() == 0 && clock.elapsed() < until)
    co_await process->block_until(until);
  ran.late = !tool->ended() && process->fatal() == 0;
  end_group(*tool);
  while (!tool->ended()) co_await process->block();
  ran.status = ran.late ? kKilledAtLimit : tool->exit_status();
  ran.out = std::move(out->text);
  ran.err = std::move(err->text);
  ran.cut = out->cut || err->cut;
  co_return ran;
}

/// Does what the stage waits for, and resumes it. False where this process is to end.
Task<bool> go_on(ProcessPtr process, VirtualPrograms& programs, VirtualClock& clock) {
  if (auto* wait = std::exchange(programs.wait, nullptr)) {
    auto ran = co_await run_tool(process, *programs.command);
    wait->answer(std::move(ran));
    if (process->fatal() == 0) wait->resume();
  } else if (auto* pause = std::exchange(clock.wait, nullptr)) {
    const auto span =
        std::max(VirtualTime{clock.span}, process->host.machine().clock().shortest_nap());
    co_await process->sleep(span);
    if (process->fatal() == 0) pause->resume();
  }
  co_return process->fatal() == 0;
}

}  // namespace

Task<int> virtual_cupel_node_stage(ProcessPtr process, Arguments arguments) {
  if (arguments.size() != 3) {
    co_await process->complain("usage: cupel-node stage NAME < ORDER\n");
    co_return kUsage;
  }
  std::string order;
  co_await process->read_all(0, order);
  const VirtualTree tree{process->disk()};
  VirtualPrograms programs{*process};
  VirtualClock clock{process->host.machine().clock()};
  KeptLines lines;
  agent::Node node{tree, programs, clock, lines};
  auto work = agent::run_stage(node, arguments[2], std::move(order));
  work.start();
  while (!work.done()) {
    const auto text = std::exchange(lines.text, {});
    co_await process->say(text);
    const bool goes_on = co_await go_on(process, programs, clock);
    if (!goes_on) co_return 128 + process->fatal();
  }
  co_await process->say(lines.text);
  co_return work.result();
}

}  // namespace cupel::rehearsal
