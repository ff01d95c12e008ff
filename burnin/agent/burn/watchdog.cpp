#include "burnin/agent/burn/watchdog.h"

#include <algorithm>
#include <future>
#include <memory>

namespace cupel::burn {
namespace {

constexpr double kHeartbeat = 5;                    // seconds; the protocol asks for ten
constexpr std::chrono::seconds kMostForAnswers{5};  // of GPUs that are asked where they are

}  // namespace

Watchdog::Watchdog(std::chrono::duration<double> hang_after, Now now)
    : hang_after_{hang_after}, now_{std::move(now)} {}

std::vector<Hang> Watchdog::hangs() const {
  const auto now = now_();
  std::vector<WorkerState> states;
  std::vector<std::shared_ptr<Position>> positions;
  {
    const std::scoped_lock lock{mutex_};
    for (const auto& worker : workers_) {
      const auto round = worker.round == 0 ? "" : " round " + std::to_string(worker.round);
      states.push_back({.part = worker.part,
                        .doing = worker.doing + round,
                        .seconds = std::chrono::duration<double>(now - worker.since).count(),
                        .idle = worker.idle,
                        .in_step = worker.position != nullptr});
      positions.push_back(worker.position);
    }
  }
  auto hangs = judge_hangs(states, hang_after_);
  if (hangs.empty()) return hangs;
  ask(states, positions);
  return judge_hangs(states, hang_after_);
}

/// One that does not answer in time has passed nothing that is known.
void Watchdog::ask(std::vector<WorkerState>& states,
                   const std::vector<std::shared_ptr<Position>>& positions) {
  struct Answers {
    std::mutex mutex;
    std::condition_variable came;
    std::vector<std::optional<std::uint64_t>> passed;
    std::size_t missing = 0;
  };
  auto answers = std::make_shared<Answers>();
  answers->passed.resize(states.size());
  answers->missing = static_cast<std::size_t>(
      std::ranges::count_if(positions, [](const auto& position) { return position != nullptr; }));
  for (std::size_t at = 0; at < positions.size(); ++at) {
    if (!positions[at]) continue;
    std::thread{[answers, at, position = positions[at]] {
      std::optional<std::uint64_t> passed;
      {
        const std::scoped_lock lock{position->mutex};
        if (position->passed) passed = position->passed();
      }
      const std::scoped_lock lock{answers->mutex};
      answers->passed[at] = passed;
      --answers->missing;
      answers->came.notify_all();
    }}.detach();  // not joined: the driver may never answer it, and the program ends
  }
  std::unique_lock lock{answers->mutex};
  answers->came.wait_for(lock, kMostForAnswers, [&] { return answers->missing == 0; });
  for (std::size_t at = 0; at < states.size(); ++at) states[at].passed = answers->passed[at];
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

void WatchdogScope::about(std::string part) {
  const std::scoped_lock lock{watchdog_.mutex_};
  worker_->part = std::move(part);
}

void WatchdogScope::idle() {
  const std::scoped_lock lock{watchdog_.mutex_};
  worker_->idle = true;
}

StepPosition::StepPosition(WatchdogScope& scope,
                           std::function<std::optional<std::uint64_t>()> passed)
    : scope_{scope}, position_{std::make_shared<Watchdog::Position>()} {
  position_->passed = std::move(passed);
  const std::scoped_lock lock{scope_.watchdog_.mutex_};
  scope_.worker_->position = position_;
}

StepPosition::~StepPosition() {
  {
    const std::scoped_lock lock{scope_.watchdog_.mutex_};
    scope_.worker_->position = nullptr;
  }
  const std::scoped_lock lock{position_->mutex};
  position_->passed = {};
}

WatchdogThread::WatchdogThread(Watchdog& watchdog, Report& report, double of_seconds,
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
  double reported = -kHeartbeat;
  while (!over_.wait_for(lock, every, [this] { return is_over_; })) {
    if (look()) return;
    if (report_.seconds() - reported < kHeartbeat) continue;
    reported = report_.seconds();
    const auto doing = watchdog_.doing();
    report_.progress(of_seconds_, doing.round, doing.what);
  }
}

bool WatchdogThread::look() {
  const auto hangs = watchdog_.hangs();
  if (hangs.empty()) return false;
  for (const auto& hang : hangs) report_.hang(hang);
  end();
  return true;
}

void WatchdogThread::end() {
  watchdog_.let_go();
  report_.end(false, false);
  ends_();
}

}  // namespace cupel::burn
