#include "base/log.h"

#define SPDLOG_FMT_EXTERNAL  // the fmt that everything here is built with
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <boost/json.hpp>
#include <cerrno>
#include <chrono>
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
    choose_pattern();
  }
  void use(Form form) {
    const std::lock_guard lock{mutex_};
    form_ = form;
    choose_pattern();
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
  /// An object has its time and its level in it.
  void choose_pattern() {
    set_pattern_(journal_ || form_ == Form::json ? "%v" : "%Y-%m-%dT%H:%M:%S.%eZ %l %v");
  }
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
  Form form_ = Form::text;
};

struct Log {
  std::shared_ptr<DescriptorSink> sink = std::make_shared<DescriptorSink>();
  spdlog::logger logger{"cupel", sink};
  std::atomic<Form> form{Form::text};
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

std::string text_line(const About& about, std::string_view event, std::string_view text) {
  const auto run = about.run == 0 ? std::string{"-"} : std::to_string(about.run);
  return fmt::format("run={} node={} step={} {}: {}", run, field(about.node), field(about.step),
                     event, printable(text));
}

std::string json_line(Level level, const About& about, std::string_view event,
                      std::string_view text) {
  using namespace std::chrono;
  constexpr std::string_view kLevels[] = {"info", "warning", "error"};
  const auto now = floor<milliseconds>(system_clock::now());
  const auto seconds = floor<std::chrono::seconds>(now);
  const auto plain = [](std::string_view value) { return valid_utf8(printable(value)); };
  boost::json::object line{
      {"time", fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                           fmt::gmtime(system_clock::to_time_t(seconds)), (now - seconds).count())},
      {"level", kLevels[static_cast<std::size_t>(level)]},
      {"event", plain(event)}};
  if (about.run != 0) line["run"] = about.run;
  if (!about.node.empty()) line["node"] = plain(about.node);
  if (!about.step.empty()) line["step"] = plain(about.step);
  line["text"] = plain(text);
  return boost::json::serialize(line);
}

}  // namespace

void write(Level level, const About& about, std::string_view event, std::string_view text) {
  auto& logger = the_log().logger;
  if (!logger.should_log(level_of(level))) return;
  const bool json = the_log().form == Form::json;
  logger.log(level_of(level),
             json ? json_line(level, about, event, text) : text_line(about, event, text));
}

void use(Form form) {
  the_log().form = form;
  the_log().sink->use(form);
}

void to_stderr() { switch_to(STDERR_FILENO, false); }

Result<void> to_file(const std::filesystem::path& file) {
  // Of a pipe neither open(2) nor write(2) waits for a reader.
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int fd = ::open(file.c_str(), kFlags, 0600);
  if (fd < 0)
    return Error{Code::kStorage,
                 fmt::format("cannot log to {}: {}", file.string(), std::strerror(errno))};
  switch_to(fd, true);
  return ok();
}

void off() { switch_to(-1, false); }

bool is_on() { return the_log().logger.level() != spdlog::level::off; }

}  // namespace cupel::log
