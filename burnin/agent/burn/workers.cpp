#include "burnin/agent/burn/workers.h"

#include <atomic>
#include <thread>

namespace cupel::burn {

bool run_workers(std::vector<Worker> workers, Report& report, Stop& stop) {
  std::atomic<bool> sound{true};
  {
    std::vector<std::jthread> threads;
    threads.reserve(workers.size());
    for (auto& worker : workers)
      threads.emplace_back([&worker, &report, &stop, &sound] {
        auto outcome = worker.work();
        if (outcome) return;
        sound = false;
        report.failure(std::move(outcome).error().on(worker.part));
        stop.give_up();
      });
  }
  return sound;
}

}  // namespace cupel::burn
