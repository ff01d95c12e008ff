#include "rehearsal/shell/process.h"

#include <boost/asio/post.hpp>
#include <cerrno>

#include "base/text.h"
#include "rehearsal/shell/host.h"

namespace cupel::rehearsal {

Process::Process(Host& on, asio::any_io_executor executor, int mine)
    : host{on}, number{mine}, timer_{executor} {}

void Process::signal(int which) {
  constexpr int kChild = 17, kContinue = 18, kStop = 19, kWindow = 28, kUrgent = 23;
  if (ended() || which == 0) return;
  if (which == kChild || which == kContinue || which == kStop || which == kWindow ||
      which == kUrgent)
    return;
  const bool kill = which == 9;
  if (!kill && ignored.contains(which)) return;
  if (!kill && caught.contains(which))
    pending.push_back(which);
  else if (fatal_ == 0 || kill)
    fatal_ = which;
  wake();
}

Task<void> Process::block() {
  timer_.expires_at(Clock::Real::time_point::max());
  co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
}

Task<void> Process::block_until(VirtualTime when) {
  const auto& clock = host.machine().clock();
  const Clock::Due due{clock, when};
  timer_.expires_after(clock.real(when - clock.elapsed()));
  co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
  // The loop still counts as waiting while it does the first thing after a wait: what follows is
  // done behind it, where the rack's time hardly passes.
  co_await yield();
}

Task<bool> Process::sleep(VirtualTime span) {
  const auto& clock = host.machine().clock();
  const auto until = clock.elapsed() + span;
  while (!interrupted() && clock.elapsed() < until) co_await block_until(until);
  co_return !interrupted();
}

Task<void> Process::yield() {
  const auto executor = co_await asio::this_coro::executor;
  co_await asio::post(executor, asio::use_awaitable);
}

Task<int> Process::write(int descriptor, std::string_view bytes) {
  const auto found = files.find(descriptor);
  if (found == files.end()) co_return EBADF;
  const auto file = found->second;
  co_return co_await file->write(*this, bytes);
}

Task<int> Process::read(int descriptor, std::string& into, std::size_t limit) {
  const auto found = files.find(descriptor);
  if (found == files.end()) co_return EBADF;
  const auto file = found->second;
  co_return co_await file->read(*this, into, limit);
}

Task<int> Process::read_all(int descriptor, std::string& into) {
  const auto found = files.find(descriptor);
  if (found == files.end()) co_return EBADF;
  const auto file = found->second;
  co_return co_await read_all(*file, into);
}

Task<int> Process::read_all(OpenFile& file, std::string& into, std::size_t most) {
  traps_wait_ = true;
  int error = 0;
  for (bool more = true; more;) {
    const auto before = into.size();
    error = co_await file.read(*this, into, 64 * 1024);
    if (into.size() > most) error = EFBIG;
    more = error == 0 && into.size() > before;
  }
  traps_wait_ = false;
  co_return error;
}

double Process::now() const { return host.epoch(); }
FileSystem& Process::disk() const { return host.disk(); }

namespace {
constexpr std::array<std::pair<std::string_view, int>, 18> kSignals{{{"HUP", 1},
                                                                     {"INT", 2},
                                                                     {"QUIT", 3},
                                                                     {"ILL", 4},
                                                                     {"ABRT", 6},
                                                                     {"FPE", 8},
                                                                     {"KILL", 9},
                                                                     {"USR1", 10},
                                                                     {"SEGV", 11},
                                                                     {"USR2", 12},
                                                                     {"PIPE", 13},
                                                                     {"ALRM", 14},
                                                                     {"TERM", 15},
                                                                     {"CHLD", 17},
                                                                     {"CONT", 18},
                                                                     {"STOP", 19},
                                                                     {"WINCH", 28},
                                                                     {"EXIT", 0}}};
}  // namespace

std::optional<int> signal_number(std::string_view name) {
  if (const auto as_number = cupel::number<int>(name))
    return *as_number >= 0 && *as_number < 65 ? as_number : std::nullopt;
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (const auto& [known, value] : kSignals)
    if (known == name) return value;
  return std::nullopt;
}

std::string signal_name(int which) {
  for (const auto& [known, value] : kSignals)
    if (value == which) return std::string{known};
  return std::to_string(which);
}

}  // namespace cupel::rehearsal
