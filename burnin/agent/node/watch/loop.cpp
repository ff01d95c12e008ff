// The clock of a watch: a timer, the kernel's log and the signals, waited for together.
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "burnin/agent/node/watch/watch.h"

namespace cupel::agent {
namespace {

constexpr std::string_view kUsageText =
    "usage: cupel-node watch [--seconds N] [--every SECONDS] [--print SECONDS] [--slow SECONDS]\n"
    "                        [--root FOLDER] [--nvml FILE]\n";

struct Request {
  WatchOptions options{};
  std::string root = "/", nvml = "libnvidia-ml.so.1";
  bool print_told = false;
};

/// "1", "0.5", "1s".
std::optional<double> span_in(std::string_view text, double least, double most) {
  if (text.ends_with('s')) text.remove_suffix(1);
  const auto seconds = number_in(text);
  return seconds && *seconds >= least && *seconds <= most ? seconds : std::nullopt;
}

std::optional<Request> read_request(Arguments arguments) {
  constexpr double kWeeks = 30 * 86400, kHour = 3600;
  Request request;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) return std::nullopt;
    const auto name = arguments[i], value = arguments[i + 1];
    if (name == "--root" || name == "--nvml") {
      (name == "--root" ? request.root : request.nvml) = value;
      continue;
    }
    const auto span =
        span_in(value, name == "--seconds" ? 0 : 0.05, name == "--seconds" ? kWeeks : kHour);
    if (!span) return std::nullopt;
    if (name == "--seconds")
      request.options.seconds = *span;
    else if (name == "--every")
      request.options.every = *span;
    else if (name == "--print")
      request.options.print = *span, request.print_told = true;
    else if (name == "--slow")
      request.options.slow = *span;
    else
      return std::nullopt;
  }
  if (!request.print_told) request.options.print = request.options.every;
  return request;
}

Descriptor ticks(double every) {
  Descriptor timer{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
  if (!timer) return timer;
  const auto whole = static_cast<time_t>(every);
  const timespec span{whole, static_cast<long>((every - static_cast<double>(whole)) * 1e9)};
  const itimerspec beat{span, span};
  if (::timerfd_settime(timer.number(), 0, &beat, nullptr) != 0) timer.close();
  return timer;
}

/// SIGTERM, SIGINT and SIGHUP as something to read. A reader that is gone shows in write(2).
Descriptor signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&set, each);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return Descriptor{::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
}

int refuse(std::string_view what) {
  write_all(2, "cupel-node watch: " + std::string{what} + ": " + std::strerror(errno) + "\n");
  return kFoundOutNothing;
}

}  // namespace

int watch(Arguments arguments) {
  const auto request = read_request(arguments);
  if (!request) return write_all(2, kUsageText), kUsage;
  const Descriptor timer = ticks(request->options.every), stop = signals();
  if (!timer || !stop) return refuse("no timer or no signals");
  const nvml::Library library{request->nvml};
  bool heard = true;
  Watch watch{Tree{request->root}, library, request->options,
              [&heard](const std::string& line) { heard = heard && write_all(1, line); }};
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  const auto now = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  watch.begin();
  watch.sample(now());
  std::array waiting{pollfd{timer.number(), POLLIN, 0}, pollfd{stop.number(), POLLIN, 0},
                     pollfd{watch.kernel().descriptor(), POLLIN, 0}};
  const double seconds = request->options.seconds;
  bool stopped = false;
  while (heard && !stopped && (seconds == 0 || now() < seconds)) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return refuse("poll");
    stopped = (waiting[1].revents & POLLIN) != 0;
    if ((waiting[2].revents & POLLIN) != 0) watch.listen(now());
    // A log that ended is not asked again: it would be ready for ever.
    if ((waiting[2].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 &&
        (waiting[2].revents & POLLIN) == 0)
      waiting[2].fd = -1;
    std::uint64_t beats = 0;
    const bool beat = (waiting[0].revents & POLLIN) != 0 &&
                      ::read(timer.number(), &beats, sizeof beats) == sizeof beats;
    if (beat && !stopped) watch.sample(now());
  }
  watch.end(now(), stopped);
  return heard ? kDone : kCannotWrite;
}

}  // namespace cupel::agent
