#include "burnin/agent/burn/crew.h"

#include <atomic>
#include <thread>

namespace cupel::burn {

bool side_by_side(std::vector<Hand> hands, Report& report, Stop& stop) {
  std::atomic<bool> sound{true};
  {
    std::vector<std::jthread> threads;
    threads.reserve(hands.size());
    for (auto& hand : hands)
      threads.emplace_back([&hand, &report, &stop, &sound] {
        auto outcome = hand.work();
        if (outcome) return;
        sound = false;
        report.failure(std::move(outcome).error().on(hand.part));
        stop.give_up();
      });
  }
  return sound;
}

}  // namespace cupel::burn
