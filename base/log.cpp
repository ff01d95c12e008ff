#include "base/log.h"

#define SPDLOG_FMT_EXTERNAL  // the fmt that everything here is built with
#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/text.h"

namespace cupel::log {
namespace {

/// Lines end as the library's formatter has them; written at once, so that other processes which
/// append to the same file do not cut them.
class DescriptorSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  ~DescriptorSink() override { close_owned(); }

  /// -1: nowhere.
  void write_to(int fd, bool owned, bool journal) {
    const std::lock_guard lock{mutex_};
    close_owned();
    fd_ = fd;
    owned_ = owned;
    journal_ = journal;
    set_pattern_(journal ? "%v" : "%Y-%m-%dT%H:%M:%S.%eZ %l %v");
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (fd_ < 0) return;
    spdlog::memory_buf_t line;
    if (journal_) fmt::format_to(std::back_inserter(line), "<{}>", priority(message.level));
    formatter_->format(message, line);
    [[maybe_unused]] const auto written = ::write(fd_, line.data(), line.size());
  }
  void flush_() override {}
  void set_pattern_(const std::string& pattern) override {
    formatter_ =
        std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc);
  }

 private:
  /// Source: syslog(3), "level".
  static int priority(spdlog::level::level_enum level) {
    return level >= spdlog::level::err ? 3 : level == spdlog::level::warn ? 4 : 6;
  }
  void close_owned() {
    if (owned_ && fd_ >= 0) ::close(fd_);
    owned_ = false;
  }

  int fd_ = -1;
  bool owned_ = false;
  bool journal_ = false;
};

struct Log {
  std::shared_ptr<DescriptorSink> sink = std::make_shared<DescriptorSink>();
  spdlog::logger logger{"cupel", sink};
  Log() { logger.set_level(spdlog::level::off); }
};

Log& the_log() {
  static Log log;
  return log;
}

spdlog::level::level_enum level_of(Level level) {
  switch (level) {
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
  }
  __builtin_unreachable();
}

/// Source: systemd.exec(5), $JOURNAL_STREAM: device and inode of the stream.
bool is_journal(int fd) {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat file{};
  if (stream == nullptr || ::fstat(fd, &file) != 0) return false;
  return fmt::format("{}:{}", file.st_dev, file.st_ino) == stream;
}

void switch_to(int fd, bool owned) {
  the_log().sink->write_to(fd, owned, fd >= 0 && is_journal(fd));
  the_log().logger.set_level(fd < 0 ? spdlog::level::off : spdlog::level::info);
}

std::string field(std::string_view value) { return value.empty() ? "-" : printable(value); }

}  // namespace

void write(Level level, const About& about, std::string_view event, std::string_view text) {
  auto& logger = the_log().logger;
  if (!logger.should_log(level_of(level))) return;
  const auto run = about.run == 0 ? std::string{"-"} : std::to_string(about.run);
  logger.log(level_of(level), fmt::format("run={} node={} step={} {}: {}", run, field(about.node),
                                          field(about.step), event, printable(text)));
}

void to_stderr() { switch_to(STDERR_FILENO, false); }

Result<void> to_file(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    return Error{Code::kStorage,
                 fmt::format("cannot log to {}: {}", file.string(), std::strerror(errno))};
  switch_to(fd, true);
  return ok();
}

void off() { switch_to(-1, false); }

bool is_on() { return the_log().logger.level() != spdlog::level::off; }

}  // namespace cupel::log
