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

#include "burnin/agent/common/options.h"
#include "burnin/agent/node/watch/watch.h"

namespace cupel::agent {
namespace {

constexpr std::string_view kUsageText =
    "usage: cupel-node watch [--seconds N] [--every SECONDS] [--print SECONDS] [--slow SECONDS]\n"
    "                        [--root FOLDER] [--nvml FILE]\n";

constexpr double kThirtyDays = 30 * 86400, kHour = 3600, kShortest = 0.05;
constexpr auto kSeconds = Choice::Kind::kSeconds;
constexpr std::array kWatchChoices{
    Choice{.name = "--seconds", .kind = kSeconds, .fallback = "0", .high = kThirtyDays},
    Choice{.name = "--every", .kind = kSeconds, .fallback = "1", .low = kShortest, .high = kHour},
    Choice{.name = "--print", .kind = kSeconds, .low = kShortest, .high = kHour},
    Choice{.name = "--slow", .kind = kSeconds, .fallback = "10", .low = kShortest, .high = kHour},
    Choice{.name = "--root", .kind = Choice::Kind::kText, .fallback = "/"},
    Choice{.name = "--nvml", .kind = Choice::Kind::kText, .fallback = nvml::kFileName}};

WatchOptions watch_options(const Options& options) {
  return {.seconds = options.number("--seconds"),
          .every = options.number("--every"),
          .print = options.number(options.given("--print") ? "--print" : "--every"),
          .slow = options.number("--slow")};
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
  const auto options = Options::read(kWatchChoices, arguments);
  if (!options || !options->operands().empty()) return write_all(2, kUsageText), kUsage;
  const auto spans = watch_options(*options);
  const Descriptor timer = ticks(spans.every), stop = signals();
  if (!timer || !stop) return refuse("no timer or no signals");
  const nvml::Library library{options->text("--nvml")};
  bool heard = true;
  Watch watch{Tree{options->text("--root")}, library, spans,
              [&heard](const std::string& line) { heard = heard && write_all(1, line); }};
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  const auto now = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  watch.begin();
  watch.sample(now());
  std::array waiting{pollfd{timer.number(), POLLIN, 0}, pollfd{stop.number(), POLLIN, 0},
                     pollfd{watch.kernel().descriptor(), POLLIN, 0}};
  const double seconds = spans.seconds;
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
