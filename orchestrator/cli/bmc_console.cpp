// `cupel bmc NODE console`: somebody at a machine's serial console.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/regular_file.h"
#include "base/text.h"
#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/cli/interrupt.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/terminal.h"
#include "orchestrator/console/console_session.h"
#include "orchestrator/console/recorder.h"

namespace cupel::cli {
namespace {

using console::SessionEnd;
using inventory::Node;

constexpr std::chrono::seconds kOpenPatience{60};
constexpr std::size_t kRecordLimit = 64u << 20;

struct Console {
  std::string record{};
  std::string escape = "~";
};

/// A file that grows to a limit, and no further.
class Record {
 public:
  static Result<std::unique_ptr<Record>> open(const std::string& file) {
    // Of a pipe, open(2) would wait for a reader.
    constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    const int fd = ::open(file.c_str(), kFlags, 0600);
    if (fd < 0)
      return Error{Code::kInvalid, "cannot record to " + file + ": " + std::strerror(errno)};
    std::unique_ptr<Record> record{new Record{fd}};
    TRY(within("cannot record", check_regular(fd, file)));
    return record;
  }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  ~Record() { ::close(fd_); }

  Result<void> append(std::string_view bytes) {
    if (written_ + bytes.size() > kRecordLimit)
      return Error{Code::kStorage, "recording stopped: the file has its limit of 64 MiB"};
    while (!bytes.empty()) {
      const auto size = ::write(fd_, bytes.data(), bytes.size());
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0)
        return Error{Code::kStorage, std::string{"recording stopped: "} + std::strerror(errno)};
      written_ += static_cast<std::size_t>(size);
      bytes.remove_prefix(static_cast<std::size_t>(size));
    }
    return ok();
  }

 private:
  explicit Record(int fd) : fd_{fd} {}
  int fd_;
  std::size_t written_ = 0;
};

Result<std::optional<char>> escape_of(const std::string& word) {
  if (word == "none") return std::nullopt;
  if (word.size() == 1 && printable(word) == word && word != " ") return word.front();
  return Error{Code::kInvalid, "--escape takes one character, or none"};
}

Task<Result<SessionEnd>> talk_to(Connections& connections, const Node& node,
                                 console::ConsoleSession how) {
  const auto bmc = connections.bmc(node);
  auto opened = co_await bmc->console.open(Deadline::in(kOpenPatience));
  if (!opened) {
    co_await bmc->log_out();
    co_return std::move(opened).error();
  }
  // Raw only once there is something to talk to.
  std::optional<RawTerminal> terminal{std::in_place, STDIN_FILENO};
  how.interactive = terminal->is_terminal();
  if (how.interactive) {
    const auto hint =
        how.escape ? fmt::format("{}. ends, {}? helps", *how.escape, *how.escape) : "no escape";
    say(stderr, "[console of {}: {}]\r\n", node.name, hint);
  }
  auto ended = co_await console::run_console_session(**opened, std::move(how));
  terminal.reset();
  co_await (*opened)->close();
  co_await bmc->log_out();
  co_return ended;
}

Exit conclude(const Context& context, const Node& node, const Stopped<Result<SessionEnd>>& ended) {
  if (ended.interrupted) return Exit::unfinished;
  if (!ended.value) {
    const auto& error = ended.value.error();
    const bool is_lost = error.code == Code::kUnreachable;
    const bool is_missing = error.code == Code::kUnsupported && !node.bmc.ipmi;
    auto what = error.what;
    if (is_lost) what = "console lost: " + what;
    if (is_missing)
      what += " (the console is Serial-over-LAN: the inventory must allow IPMI, bmc: {ipmi: true})";
    return print_error(context, Error{error.code, what}, Exit::failed);
  }
  return Exit::passed;
}

Exit at_console(const BmcCommand& command, const Console& asked) {
  const auto& context = command.context;
  const auto escape = escape_of(asked.escape);
  if (!escape) return print_error(context, escape.error(), Exit::invalid);
  TRY(const auto reached, reach(command));
  if (reached.nodes.size() != 1)
    return print_error(context,
                       Error{Code::kInvalid, fmt::format("a console is of one node, not of {}",
                                                         reached.nodes.size())},
                       Exit::invalid);
  const auto& node = *reached.nodes.front();
  const auto lock = console::ConsoleLock::take(context.state / "locks", node.name);
  if (!lock) return print_error(context, lock.error(), Exit::failed);
  console::ConsoleSession how{.escape = *escape};
  std::unique_ptr<Record> record;
  if (!asked.record.empty()) {
    auto opened = Record::open(asked.record);
    if (!opened) return print_error(context, opened.error(), Exit::invalid);
    record = *std::move(opened);
    how.record = [&record](std::string_view bytes) { return record->append(bytes); };
  }
  Connections connections{reached.inventory, *reached.store};
  const auto ended =
      run_to_end(connections.io(), until_interrupted(talk_to(connections, node, std::move(how))));
  return conclude(context, node, ended);
}

}  // namespace

CommandRow bmc_console_command(const BmcCommand& command) {
  auto asked = std::make_shared<Console>();
  CommandRow row{"console", "the machine's serial console; ~. at a line's start ends it"};
  row.footer =
      "Without a terminal it sends standard input, and ends 2 s after the last answer:\n"
      "  printf 'root\\n' | cupel bmc a01-n07 console";
  row.options = {
      {"--record", &asked->record, "append what the machine writes to this file (up to 64 MiB)"},
      {"--escape", &asked->escape, "another character, or none [~]"}};
  row.run = [command, asked] { return at_console(command, *asked); };
  return row;
}

}  // namespace cupel::cli
