#include "orchestrator/console/recorder.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/for_each_of.h"
#include "base/text.h"
#include "base/until_cancelled.h"
#include "base/wall_clock.h"
#include "inventory/node.h"

namespace cupel::console {
namespace {

using inventory::Node;

constexpr std::chrono::seconds kOpenPatience{60};
constexpr std::chrono::hours kReadPatience{1};

std::filesystem::path lock_file(const std::filesystem::path& locks, const std::string& node) {
  std::string name = node;
  std::ranges::replace(name, '/', '_');
  return locks / ("console-" + name + ".lock");
}

/// A line of our own between those of the machine.
std::string remark(std::string_view what) {
  const auto now = seconds_now();
  return fmt::format("\r\n[cupel {:%Y-%m-%dT%H:%M:%SZ}: {}]\r\n", now, printable(what));
}

/// What no later try will change. A password that is refused may become the BMC's own while we
/// wait, where the run changes it from the factory's; until then nothing is sent.
bool is_final(Code code, const Node& node) {
  if (code == Code::kRefused) return !node.bmc.factory;
  return code == Code::kUnsupported || code == Code::kUntrusted || code == Code::kInvalid ||
         code == Code::kNotFound;
}

/// Writes down what comes until it ends. Errors: of the console; kStorage.
Task<Error> listen(bmc::Console& console, BoundedLog& log) {
  for (;;) {
    auto output = co_await console.read(Deadline::in(kReadPatience));
    const bool stopped = co_await cancelled();  // also where a read gave up in that moment
    if (!output && output.error().code == Code::kTimeout && !stopped) continue;
    if (!output) co_return std::move(output).error();
    auto kept = log.append(*output);
    if (!kept) co_return std::move(kept).error();
  }
}

/// One session, from opening to closing. `heard` is set once the console was open.
Task<Error> record_once(const Recording& recording, const Node& node, BoundedLog& log,
                        bool& heard) {
  const auto bmc = recording.bmc(node);
  auto console = co_await bmc->console.open(Deadline::in(kOpenPatience));
  std::optional<Error> ended;
  if (console) {
    heard = true;
    auto begun = log.append(remark("console opened"));
    if (begun)
      ended = co_await listen(**console, log);
    else
      ended = std::move(begun).error();
    co_await (*console)->close();
  } else {
    ended = std::move(console).error();
  }
  co_await bmc->log_out();
  co_return std::move(*ended);
}

Task<Result<void>> record_one(const Recording& recording, const Node& node) {
  BoundedLog log{recording.folder, node.name, recording.limits};
  auto pause = recording.pauses.first;
  for (;;) {
    if (!ConsoleLock::held(recording.locks, node.name)) {
      bool heard = false;
      const auto ended = co_await record_once(recording, node, log, heard);
      const bool stop = co_await cancelled();
      const auto& why = stop ? std::string{"the run stopped"} : ended.what;
      if (heard || is_final(ended.code, node)) {
        [[maybe_unused]] const auto noted = log.append(remark("console closed: " + why));
      }
      if (stop || is_final(ended.code, node) || ended.code == Code::kStorage) co_return ok();
      if (heard) pause = recording.pauses.first;
    }
    CO_TRY(co_await pause_for(pause));
    pause = std::min(pause * 2, recording.pauses.longest);
  }
}

/// A bug in here is not one of the run.
Task<Result<void>> record_one_safely(const Recording& recording, const Node* node) {
  try {
    co_return co_await record_one(recording, *node);
  } catch (const std::exception& bug) {
    co_return Error{Code::kFailed, bug.what()};
  }
}

}  // namespace

Task<Result<void>> record_consoles(Recording recording) {
  std::erase_if(recording.nodes, [](const Node* node) { return !node->bmc.ipmi; });
  const auto each = [&recording](const Node* node) { return record_one_safely(recording, node); };
  const auto width = std::max<std::size_t>(recording.nodes.size(), 1);
  [[maybe_unused]] const auto ended = co_await for_each_of<void>(recording.nodes, width, each);
  // Whoever runs us beside a run takes our end for the run's.
  co_return co_await until_cancelled();
}

Result<ConsoleLock> ConsoleLock::take(const std::filesystem::path& locks, const std::string& node) {
  std::error_code failure;
  if (std::filesystem::create_directories(locks, failure))
    std::filesystem::permissions(locks, std::filesystem::perms::owner_all, failure);
  const auto file = lock_file(locks, node);
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0)
    return Error{Code::kStorage, "cannot open " + file.string() + ": " + std::strerror(errno)};
  ConsoleLock lock{fd};
  bool ours = false;
  // held() has it for a moment, too.
  for (int tried = 0; tried < 3 && !ours; ++tried) ours = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  if (!ours)
    return Error{Code::kConflict,
                 node + ": the console is in use (" + file.string() + " is locked)"};
  return lock;
}

bool ConsoleLock::held(const std::filesystem::path& locks, const std::string& node) {
  const int fd = ::open(lock_file(locks, node).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool free = ::flock(fd, LOCK_SH | LOCK_NB) == 0;
  ::close(fd);
  return !free;
}

ConsoleLock::~ConsoleLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace cupel::console
