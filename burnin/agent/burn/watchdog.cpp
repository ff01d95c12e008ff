#include "burnin/agent/burn/watchdog.h"

#include <future>
#include <memory>

namespace cupel::burn {
namespace {

constexpr double kHeartbeat = 5;  // seconds; the protocol asks for ten

}  // namespace

Watchdog::Watchdog(std::chrono::duration<double> hang_after, Now now)
    : hang_after_{hang_after}, now_{std::move(now)} {}

std::optional<Watchdog::Late> Watchdog::late() const {
  const auto now = now_();
  const std::scoped_lock lock{mutex_};
  std::optional<Late> latest;
  for (const auto& worker : workers_) {
    const std::chrono::duration<double> still = now - worker.since;
    if (worker.idle || still < hang_after_) continue;
    if (latest && latest->seconds >= still.count()) continue;
    const auto round = worker.round == 0 ? "" : " round " + std::to_string(worker.round);
    latest = Late{worker.part, worker.doing + round, still.count()};
  }
  return latest;
}

Watchdog::Doing Watchdog::doing() const {
  const std::scoped_lock lock{mutex_};
  const Worker* behind = nullptr;
  for (const auto& worker : workers_)
    if (!worker.doing.empty() && (behind == nullptr || worker.round < behind->round))
      behind = &worker;
  return behind == nullptr ? Doing{"waiting", 0} : Doing{behind->doing, behind->round};
}

void Watchdog::on_hang(std::function<void()> letting_go) {
  const std::scoped_lock lock{mutex_};
  letting_go_ = std::move(letting_go);
}

void Watchdog::let_go() const {
  std::function<void()> letting_go;
  {
    const std::scoped_lock lock{mutex_};
    letting_go = letting_go_;
  }
  if (!letting_go) return;
  auto is_done = std::make_shared<std::promise<void>>();
  const auto let_go = is_done->get_future();
  std::thread{[letting_go, is_done] {
    letting_go();
    is_done->set_value();
  }}.detach();  // not joined: it may hang, and the program ends
  let_go.wait_for(std::chrono::seconds{10});
}

WatchdogScope::WatchdogScope(Watchdog& watchdog, std::string part) : watchdog_{watchdog} {
  const std::scoped_lock lock{watchdog_.mutex_};
  watchdog_.workers_.push_back({.part = std::move(part)});
  worker_ = std::prev(watchdog_.workers_.end());
}

WatchdogScope::~WatchdogScope() {
  const std::scoped_lock lock{watchdog_.mutex_};
  watchdog_.workers_.erase(worker_);
}

void WatchdogScope::doing(std::string_view what, std::uint64_t round) {
  const auto now = watchdog_.now_();
  const std::scoped_lock lock{watchdog_.mutex_};
  worker_->doing = what;
  worker_->round = round;
  worker_->since = now;
  worker_->idle = false;
}

void WatchdogScope::alive() {
  const auto now = watchdog_.now_();
  const std::scoped_lock lock{watchdog_.mutex_};
  worker_->since = now;
  worker_->idle = false;
}

void WatchdogScope::idle() {
  const std::scoped_lock lock{watchdog_.mutex_};
  worker_->idle = true;
}

WatchdogThread::WatchdogThread(const Watchdog& watchdog, Report& report, double of_seconds,
                               std::function<void()> ends, std::chrono::milliseconds every)
    : watchdog_{watchdog},
      report_{report},
      of_seconds_{of_seconds},
      ends_{std::move(ends)},
      thread_{[this, every] { watch(every); }} {}

WatchdogThread::~WatchdogThread() {
  {
    const std::scoped_lock lock{mutex_};
    is_over_ = true;
  }
  over_.notify_all();
  thread_.join();
}

void WatchdogThread::watch(std::chrono::milliseconds every) {
  std::unique_lock lock{mutex_};
  double told = -kHeartbeat;
  while (!over_.wait_for(lock, every, [this] { return is_over_; })) {
    if (const auto late = watchdog_.late()) {
      report_.hang(late->part, late->doing, late->seconds);
      watchdog_.let_go();
      report_.end(false, false);
      ends_();
      return;
    }
    if (report_.seconds() - told < kHeartbeat) continue;
    told = report_.seconds();
    const auto doing = watchdog_.doing();
    report_.progress(of_seconds_, doing.round, doing.what);
  }
}

}  // namespace cupel::burn
