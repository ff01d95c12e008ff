// `cupel-node stage` of a virtual machine: the program's own stages, over this machine's files, its
// tools and the rack's time. Where a stage waits, it is suspended, and this node's loop goes on.
#include <algorithm>
#include <functional>

#include "base/text.h"
#include "burnin/agent/node/stages/stage.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/cupel_node.h"
#include "rehearsal/tools/nap.h"
#include "rehearsal/tools/virtual_settings.h"

namespace cupel::rehearsal {
namespace {

constexpr int kUsage = 64, kKill = 9, kKilledAtLimit = 124, kNoProcess = 126, kKilled = 137;

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

/// What the stage has printed, and its reader has not got yet.
class KeptLines final : public agent::StageLines {
 public:
  void write(const agent::JsonLine& line) override { text += line.text(); }
  std::string text{};
};

/// One tool that was started, in a process group of its own.
struct Tool {
  Tool(const agent::Command& command, VirtualTime when)
      : out{std::make_shared<KeptStream>(command.most, command.shorten)},
        err{std::make_shared<KeptStream>(command.most)},
        until{when},
        ran{.cpus = command.cpus} {}

  bool runs_over(VirtualTime now) const { return !ended && (process->ended() || now >= until); }

  ProcessPtr process{};
  std::shared_ptr<KeptStream> out, err;
  VirtualTime until;  // its limit
  bool ended = false;
  agent::Ran ran;
};

/// As node_programs.cpp does it with real processes. Keeps what the stage waits for until the loop
/// below has done it.
class VirtualPrograms final : public agent::Programs {
 public:
  VirtualPrograms(ProcessPtr process, KeptLines& lines)
      : process_{std::move(process)}, lines_{lines} {}

  std::string folder_of(const std::string& name) const override {
    const auto path = process_->environment.find("PATH");
    if (path == process_->environment.end()) return {};
    for (const auto folder : split(path->second, ':'))
      if (!folder.empty() && find_program(*process_, std::string{folder} + "/" + name).status == 0)
        return std::string{folder};
    return {};
  }
  int start(const agent::Command& command) override {
    // From before the tool runs: what it sleeps must not be over before this has begun to count.
    auto& tool = tools_.try_emplace(++last_, heard(command), now() + command.limit).first->second;
    begin_tool(tool, command);
    return last_;
  }
  /// Gives the reader what the stage has printed so far.
  Task<void> print();

  /// Does what the stage waits for, and resumes it unless this process is to end. False where it
  /// waits for no tool.
  Task<bool> go_on();
  Task<void> end_all();

 private:
  struct Asked {
    int number = 0;  // 0: any
    bool stops = false;
    std::optional<VirtualTime> until{};
    agent::Wait<agent::Ran>* ran = nullptr;
    agent::Wait<std::optional<agent::Ended>>* first = nullptr;
  };

  bool begin(const agent::Command& command, agent::Wait<agent::Ran>& wait) override {
    asked_ = {.number = start(command), .ran = &wait};
    return false;
  }
  bool begin_first_end(std::chrono::milliseconds span,
                       agent::Wait<std::optional<agent::Ended>>& wait) override {
    asked_ = {.until = now() + VirtualTime{span}, .first = &wait};
    return false;
  }

  bool begin_stop(int number, agent::Wait<agent::Ran>& wait) override {
    const bool is_there = tools_.contains(number);
    if (is_there) asked_ = {.number = number, .stops = true, .ran = &wait};
    return !is_there;
  }

  VirtualTime now() const { return process_->host.machine().clock().elapsed(); }
  agent::Command heard(agent::Command command);
  void begin_tool(Tool& tool, const agent::Command& command);
  Task<void> end(Tool& tool, std::optional<int> status);
  Task<void> end_those_over();
  Task<int> attend(int number, std::optional<VirtualTime> until);
  int first_ended(int number) const;
  agent::Ran take(int number) { return std::move(tools_.extract(number).mapped().ran); }

  ProcessPtr process_;
  KeptLines& lines_;
  std::map<int, Tool> tools_{};
  Asked asked_{};
  int last_ = 0;
};

class VirtualClock final : public agent::StageClock {
 public:
  explicit VirtualClock(const Machine& machine) : machine_{machine} {}

  std::chrono::milliseconds now() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(machine_.clock().elapsed());
  }

  std::chrono::milliseconds until_next_look(std::chrono::milliseconds asked) const override {
    return std::chrono::ceil<std::chrono::milliseconds>(nap_of(machine_, asked));
  }

  std::chrono::milliseconds span{};
  agent::Wait<Passed>* wait = nullptr;

 private:
  bool begin(std::chrono::milliseconds asked, agent::Wait<Passed>& from) override {
    span = asked;
    wait = &from;
    return false;
  }
  const Machine& machine_;
};

/// A folder on the machine's disk. There is nobody to exchange it.
class VirtualFolder final : public agent::ScratchFolder {
 public:
  VirtualFolder(Process& process, std::string path)
      : process_{process}, path_{std::move(path)}, name_{agent::last_name(path_)} {}
  VirtualFolder(const VirtualFolder&) = delete;
  VirtualFolder& operator=(const VirtualFolder&) = delete;
  /// KILL and a power failure leave it there, as on a node.
  ~VirtualFolder() override {
    if (process_.fatal() == kKill) return;
    process_.disk().remove_tree(path_);
    process_.folder = "/";
  }

  const std::string& name() const override { return name_; }
  bool takes_direct() const override { return true; }
  bool enter() override {
    process_.folder = path_;
    return true;
  }

 private:
  Process& process_;
  std::string path_, name_;
};

class VirtualScratch final : public agent::Scratch {
 public:
  explicit VirtualScratch(Process& process) : process_{process} {}

  std::optional<Room> look(const std::string& folder) const override {
    const auto& disk = process_.disk();
    const auto node = disk.find(folder);
    if (!node || !node->is_folder()) return std::nullopt;
    const auto free = disk.shown_bytes() - disk.shown_used();
    return Room{disk.real_path(folder), static_cast<std::uint64_t>(free / 1024), 0, node->number};
  }
  Made make(const Room& room, std::string_view kind) override {
    const agent::ScratchName made{process_.host.machine().host_name(),
                                  static_cast<std::uint64_t>(process_.now()), process_.number};
    remove_leftovers(room, kind, made.host);
    const auto path = room.below(made.text(kind, "virtual"));
    const auto place = process_.disk().place(path);
    if (place.error != 0 || place.node) return {nullptr, "make the folder " + path + ": refused"};
    process_.disk().make_folder(place, 0700, process_.now());
    return {std::make_unique<VirtualFolder>(process_, path), {}};
  }

  /// The first drive is the system's, and in use unless an image runs.
  Held hold(const std::string& device, const std::string& serial) override {
    const auto& drives = process_.host.machine().hardware().drives;
    const auto drive = std::ranges::find_if(
        drives, [&](const Drive& each) { return device == "/dev/" + each.name + "n1"; });
    if (drive == drives.end()) return {nullptr, "No such file or directory"};
    if (drive == drives.begin() && !process_.host.machine().up_from_image())
      return {nullptr, "it is in use (O_EXCL)"};
    if (drive->serial != serial)
      return {nullptr, "its serial number is '" + drive->serial + "', not '" + serial + "'"};
    return {std::make_unique<agent::HeldDevice>(), {}};
  }

 private:
  void remove_leftovers(const Room& room, std::string_view kind, const std::string& host) {
    const auto node = process_.disk().find(room.path);
    if (!node) return;
    std::vector<std::string> gone;
    for (const auto& [name, entry] : node->entries) {
      const auto read = agent::ScratchName::read(name, kind);
      const bool ours = read && read->host == host && entry->is_folder();
      if (ours && !process_.host.process(read->process)) gone.push_back(name);
    }
    for (const auto& name : gone) process_.disk().remove_tree(room.below(name));
  }
  Process& process_;
};

/// What the stage prints while it looks at a tool's output goes out before the tool has ended.
agent::Command VirtualPrograms::heard(agent::Command command) {
  if (command.shorten)
    command.shorten = [this, shorten = std::move(command.shorten)](std::string& out) {
      shorten(out);
      if (!lines_.text.empty()) process_->wake();
    };
  return command;
}

Task<void> VirtualPrograms::print() {
  while (!lines_.text.empty()) {
    const auto text = std::exchange(lines_.text, {});
    co_await process_->say(text);
  }
}

void VirtualPrograms::begin_tool(Tool& tool, const agent::Command& command) {
  tool.process = process_->host.fork(process_.get(), command.argv[0]);
  if (!tool.process) {
    tool.ran.status = kNoProcess;
    tool.ended = true;
    return;
  }
  const auto input = std::make_shared<Pipe>();
  input->queue = command.input;
  input->writer_gone = true;
  tool.process->group = tool.process->number;
  tool.process->files = {{0, pipe_reader(input)}, {1, tool.out}, {2, tool.err}};
  for (const auto& [name, value] : command.environment) tool.process->environment[name] = value;
  auto body = run_program(tool.process, command.argv, command.argv[0]);
  process_->host.start(tool.process, std::move(body));
}

/// With all that the tool started, wherever its streams are.
Task<void> VirtualPrograms::end(Tool& tool, std::optional<int> status) {
  tool.process->signal(kKill);
  tool.process->host.signal(-tool.process->number, kKill);
  while (!tool.process->ended()) co_await process_->block();
  tool.ran.status = status.value_or(tool.process->exit_status());
  tool.ran.out = std::move(tool.out->text);
  tool.ran.err = std::move(tool.err->text);
  tool.ran.cut = tool.out->cut || tool.err->cut;
  tool.ended = true;
}

Task<void> VirtualPrograms::end_those_over() {
  for (auto& [number, tool] : tools_) {
    if (!tool.runs_over(now())) continue;
    tool.ran.late = !tool.process->ended();
    co_await end(tool, tool.ran.late ? std::optional{kKilledAtLimit} : std::nullopt);
  }
}

Task<void> VirtualPrograms::end_all() {
  for (auto& [number, tool] : tools_)
    if (!tool.ended) co_await end(tool, std::nullopt);
}

int VirtualPrograms::first_ended(int number) const {
  for (const auto& [each, tool] : tools_)
    if (tool.ended && (number == 0 || each == number)) return each;
  return 0;
}

/// Until that one or, for 0, any has ended, or until that time: 0.
Task<int> VirtualPrograms::attend(int number, std::optional<VirtualTime> until) {
  while (true) {
    co_await print();
    co_await end_those_over();
    if (!lines_.text.empty()) continue;  // printed while one was ended
    const int ended = first_ended(number);
    if (ended != 0 || process_->fatal() != 0 || (until && now() >= *until)) co_return ended;
    auto next = until;
    for (const auto& [each, tool] : tools_)
      if (!tool.ended) next = std::min(next.value_or(tool.until), tool.until);
    co_await process_->block_until(next.value_or(now()));
  }
}

Task<bool> VirtualPrograms::go_on() {
  const auto asked = std::exchange(asked_, {});
  if (asked.ran == nullptr && asked.first == nullptr) co_return false;
  if (asked.stops)
    if (auto& tool = tools_.at(asked.number); !tool.ended) co_await end(tool, kKilled);
  const int number = co_await attend(asked.number, asked.until);
  if (process_->fatal() != 0) co_return true;
  if (asked.ran != nullptr) {
    asked.ran->answer(take(number));
    asked.ran->resume();
  } else {
    if (number != 0) asked.first->answer(agent::Ended{number, take(number)});
    asked.first->resume();
  }
  co_return true;
}

/// Does what the stage waits for, and resumes it. False where this process is to end.
Task<bool> go_on(ProcessPtr process, VirtualPrograms& programs, VirtualClock& clock) {
  const bool waited = co_await programs.go_on();
  if (!waited)
    if (auto* pause = std::exchange(clock.wait, nullptr)) {
      co_await process->sleep(nap_of(process->host.machine(), clock.span));
      if (process->fatal() == 0) pause->resume();
    }
  co_return process->fatal() == 0;
}

Task<int> do_stage(ProcessPtr process, std::string name, std::string order) {
  const VirtualTree tree{process->disk()};
  KeptLines lines;
  VirtualPrograms programs{process, lines};
  VirtualClock clock{process->host.machine()};
  VirtualScratch scratch{*process};
  VirtualSettings settings{*process};
  agent::Node node{tree, programs, clock, lines, scratch, {}, settings};
  if (const auto job = process->environment.find("CUPEL_JOB"); job != process->environment.end())
    node.job = job->second;
  auto work = agent::run_stage(node, std::move(name), std::move(order));
  work.start();
  while (!work.done()) {
    co_await programs.print();
    const bool goes_on = co_await go_on(process, programs, clock);
    if (goes_on) continue;
    co_await programs.end_all();
    co_return 128 + process->fatal();
  }
  co_await programs.end_all();
  co_await programs.print();
  co_return work.result();
}

}  // namespace

Task<int> virtual_cupel_node_stage(ProcessPtr process, Arguments arguments) {
  if (arguments.size() != 3) {
    co_await process->print_error("usage: cupel-node stage NAME < ORDER\n");
    co_return kUsage;
  }
  std::string order;
  co_await process->read_all(0, order);
  co_return co_await do_stage(process, arguments[2], std::move(order));
}

Task<int> virtual_cupel_node_restore_settings(ProcessPtr process, Arguments arguments) {
  const bool by_timer = arguments.size() == 3 && arguments[2] == "--timer";
  if (arguments.size() > 2 && !by_timer) {
    co_await process->print_error("usage: cupel-node restore-settings [--timer]\n");
    co_return kUsage;
  }
  std::string order = by_timer ? R"({"by":"timer"})" : R"({"by":"hand"})";
  co_return co_await do_stage(process, "settings-restore", std::move(order));
}

}  // namespace cupel::rehearsal
