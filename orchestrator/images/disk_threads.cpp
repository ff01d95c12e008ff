#include "orchestrator/images/disk_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "base/log.h"

namespace cupel::images {
namespace {

/// What is the asker's own is touched only while it still waits, under the mutex.
struct Job {
  std::string path{};
  std::function<void()> work{};
  bool ended = false;  // of the asker's executor, once it was posted
  bool over = false;   // the asker has given up
  const asio::any_io_executor* executor = nullptr;
  asio::steady_timer* wake = nullptr;
};
using JobPtr = std::shared_ptr<Job>;

}  // namespace

struct DiskThreads::State {
  State(Limits most, Read how) : limits{most}, read{std::move(how)} {}

  const Limits limits;
  const Read read;
  std::mutex mutex{};
  // Under the mutex:
  std::condition_variable news{};
  std::deque<JobPtr> waiting{};
  std::map<std::string, std::size_t> reading{};
  std::size_t threads = 0, idle = 0;
  bool stopped = false;

  /// The first whose file has a thread left; nullptr: none has.
  JobPtr next() {
    const auto found = std::ranges::find_if(waiting, [this](const JobPtr& job) {
      const auto busy = reading.find(job->path);
      return busy == reading.end() || busy->second < limits.of_one_file;
    });
    if (found == waiting.end()) return nullptr;
    auto job = *found;
    waiting.erase(found);
    ++reading[job->path];
    return job;
  }

  void finish(const JobPtr& job) {
    if (--reading[job->path] == 0) reading.erase(job->path);
    news.notify_all();
    if (job->over) return;
    asio::post(*job->executor, [job] {
      job->ended = true;
      if (job->wake != nullptr) job->wake->cancel();
    });
  }

  void work() {
    std::unique_lock lock{mutex};
    for (;;) {
      JobPtr job;
      ++idle;
      news.wait(lock, [&] { return stopped || (job = next()) != nullptr; });
      --idle;
      if (stopped) return;
      lock.unlock();
      job->work();
      lock.lock();
      finish(job);
    }
  }

  void add(const std::shared_ptr<State>& self, JobPtr job) {
    const std::lock_guard lock{mutex};
    waiting.push_back(std::move(job));
    if (idle < waiting.size() && threads < limits.at_once) begin(self);
    news.notify_one();
  }

  /// Where the system has none left, those that are there read it, or its patience ends it.
  void begin(const std::shared_ptr<State>& self) {
    try {
      std::thread{[self] { self->work(); }}.detach();
      ++threads;
    } catch (const std::system_error& thrown) {
      log::warning({}, "no-disk-thread", thrown.what());
    }
  }

  void give_up(const JobPtr& job) {
    const std::lock_guard lock{mutex};
    job->over = true;
    job->wake = nullptr;
    std::erase(waiting, job);
  }
};

DiskThreads::DiskThreads(Limits limits, Read read)
    : state_{std::make_shared<State>(limits, std::move(read))} {}

DiskThreads::~DiskThreads() {
  const std::lock_guard lock{state_->mutex};
  state_->stopped = true;
  state_->news.notify_all();
}

Task<Result<std::string>> DiskThreads::read(OpenFile::Ptr file, std::uint64_t offset,
                                            std::size_t size) {
  auto path = file->path();
  std::function<Result<std::string>()> work = [state = state_, opened = std::move(file), offset,
                                               size] { return state->read(*opened, offset, size); };
  auto bytes = co_await run<std::string>(std::move(path), std::move(work));
  co_return bytes;
}

Task<Result<void>> DiskThreads::wait_for(std::string path, std::function<void()> work) {
  const auto state = state_;
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  asio::steady_timer timer{executor, state->limits.patience};
  const auto job = std::make_shared<Job>(
      Job{.path = std::move(path), .work = std::move(work), .executor = &executor, .wake = &timer});
  // Also where this coroutine is destroyed while it waits.
  const auto give_up = [&state](Job* one) { state->give_up(JobPtr{JobPtr{}, one}); };
  const std::unique_ptr<Job, decltype(give_up)> waits{job.get(), give_up};
  state->add(state, job);
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  if (job->ended) co_return ok();
  co_return Error{Code::kTimeout, fmt::format("{}: the disk returned nothing for {} s", job->path,
                                              state->limits.patience.count() / 1000)};
}

}  // namespace cupel::images
