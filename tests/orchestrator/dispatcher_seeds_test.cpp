// Random sites, runs, measurements and withdrawals by seed: what must hold at every moment does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <queue>
#include <random>

#include "orchestrator/engine/forecast.h"
#include "tests/orchestrator/power_site.h"

namespace cupel::engine {
namespace {

using namespace std::chrono_literals;
using playbooks::Claim;
using std::chrono::seconds;
using Ticket = Dispatcher::Ticket;
using Time = Dispatcher::Time;

/// A world of its own bookkeeping: it adds up what runs from scratch, each time it is asked.
class World {
 public:
  explicit World(unsigned seed) : random_{seed} {
    test::SiteShape shape{.racks = below(3) + 1,
                          .nodes = below(6) + 2,
                          .breakers = below(3) + 1,
                          .pdus = below(2) + 1};
    // Room for at least one loaded node, and often for not many more.
    const double idle = shape.nodes * shape.idle, load = shape.loaded - shape.idle;
    shape.breaker_watts = idle + load * (1 + below(3));
    shape.pdu_watts = idle + load * (1 + below(5));
    shape.rack_watts = idle + load * (1 + below(6));
    shape.room_watts = shape.racks * idle + load * (1 + below(8));
    site_ = test::site_of(shape);
    limits_.ramp = seconds{below(3)};
    limits_.patience = seconds{60 * (1 + below(10))};
    limits_.slots = {{"push", 1 + below(3)}, {"image", 1 + below(5)}};
    for (int i = 0; i < 12; ++i) {
      auto step = test::step_of("s" + std::to_string(i), below(2) * (0.25 * (1 + below(4))),
                                seconds{30 * (1 + below(40))});
      if (below(3) == 0) step.claims.push_back({"push", Claim::Scope::rack, 1});
      if (below(4) == 0) step.claims.push_back({"image", Claim::Scope::site, 1});
      steps_.push_back(std::move(step));
    }
    dispatcher_.emplace(limits_);
    dispatcher_->know(site_);
  }

  /// So many offers, then until all of them are through. Empty: they are.
  std::string live(int offers, bool with_measurements) {
    for (int turn = 0; turn < 100'000; ++turn) {
      if (offers > 0) offers -= offer_some();
      if (with_measurements && below(5) == 0) measure();
      withdraw_some();
      begin();
      if (const auto wrong = check(); !wrong.empty()) return wrong;
      if (offers <= 0 && waiting_.empty() && running_.empty()) return {};
      if (!step_on(offers > 0)) return stuck();
    }
    return "does not end";
  }
  const std::vector<Ticket>& order() const { return order_; }
  std::chrono::seconds longest_wait() const { return longest_wait_; }

 private:
  struct Work {
    Offer offer;
    Time since;
    Time end{};
  };

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  int offer_some() {
    const int count = below(6);
    for (int i = 0; i < count; ++i) {
      Offer offer;
      offer.run = below(3);
      offer.priority = below(10) == 0 ? 1 : 0;
      offer.remaining_path = seconds{below(5000)};
      offer.step = &steps_[static_cast<std::size_t>(below(static_cast<int>(steps_.size())))];
      const int members = below(6) == 0 ? 2 + below(4) : 1;
      for (int m = 0; m < members; ++m) {
        const auto* node =
            &site_.nodes[static_cast<std::size_t>(below(static_cast<int>(site_.nodes.size())))];
        if (std::ranges::find(offer.nodes, node) == offer.nodes.end()) offer.nodes.push_back(node);
      }
      if (dispatcher_->impossible(offer)) continue;
      const auto ticket = dispatcher_->offer(offer, now_);
      waiting_.emplace(ticket, Work{offer, now_});
    }
    return count;
  }

  void withdraw_some() {
    if (below(20) != 0) return;
    auto& from = below(2) == 0 ? waiting_ : running_;
    if (from.empty()) return;
    const auto victim = from.begin()->first;
    dispatcher_->ended(victim, now_);
    from.erase(victim);
  }

  void measure() {
    const auto& node =
        site_.nodes[static_cast<std::size_t>(below(static_cast<int>(site_.nodes.size())))];
    dispatcher_->measured(node.name, 1500 + below(10'000), now_);
    for (const auto ticket : dispatcher_->shed(now_)) {
      const auto found = running_.find(ticket);
      if (found == running_.end()) {
        wrong_ = "shed what did not run";
        continue;
      }
      dispatcher_->ended(ticket, now_);
      const auto again = dispatcher_->offer(found->second.offer, now_);
      waiting_.emplace(again, Work{found->second.offer, now_});
      running_.erase(found);
    }
    const auto draw = dispatcher_->draw();
    for (const auto& level : site_.power)
      if (draw.at(level.name) > level.watts + 1e-6 && loaded_below(level.name))
        wrong_ = level.name + " draws too much after a shed";
  }

  bool loaded_below(const std::string& level) const {
    for (const auto& [ticket, work] : running_)
      for (const auto* node : work.offer.nodes)
        if (work.offer.step->load > 0 && is_below(*node, level)) return true;
    return false;
  }

  static bool is_below(const inventory::Node& node, const std::string& level) {
    if (level == "hall" || level == node.rack) return true;
    return std::ranges::any_of(node.feeds, [&](const auto& feed) {
      return feed == level || feed.starts_with(level + "/");
    });
  }

  void begin() {
    for (const auto ticket : dispatcher_->start(now_)) {
      const auto found = waiting_.find(ticket);
      if (found == waiting_.end()) {
        wrong_ = "began what did not wait";
        continue;
      }
      auto work = std::move(found->second);
      waiting_.erase(found);
      work.end = now_ + work.offer.step->expected;
      longest_wait_ = std::max(longest_wait_, std::chrono::floor<seconds>(now_ - work.since));
      const bool ramps = work.offer.step->load >= 0.5 && limits_.ramp > 0s;
      for (const auto* node : work.offer.nodes)
        for (const auto& feed : node->feeds) {
          if (!ramps) continue;
          const auto [last, fresh] = last_ramp_.try_emplace(feed, now_, ticket);
          if (!fresh && last->second.second != ticket && now_ - last->second.first < limits_.ramp)
            wrong_ = feed + " ramps twice at once";
          last->second = {now_, ticket};
        }
      running_.emplace(ticket, std::move(work));
      order_.push_back(ticket);
    }
  }

  std::string check() const {
    if (!wrong_.empty()) return wrong_;
    std::set<const inventory::Node*> busy;
    std::map<std::string, int> slots;
    for (const auto& [ticket, work] : running_) {
      std::set<std::string> taken;
      for (const auto* node : work.offer.nodes) {
        if (!busy.insert(node).second) return node->name + " does two steps at once";
        for (const auto& claim : work.offer.step->claims)
          taken.insert(claim.resource +
                       (claim.scope == Claim::Scope::rack ? " " + node->rack : ""));
      }
      for (const auto& each : taken)
        if (++slots[each] > limits_.slots.at(each.substr(0, each.find(' '))))
          return each + " is taken too often";
    }
    const auto draw = dispatcher_->draw();
    for (const auto& level : site_.power) {
      double watts = 0;
      for (const auto& node : site_.nodes)
        if (is_below(node, level.name)) watts += 2000;
      for (const auto& [ticket, work] : running_)
        for (const auto* node : work.offer.nodes)
          if (is_below(*node, level.name)) watts += 8000 * work.offer.step->load;
      if (watts > level.watts + 1e-6) return level.name + " carries too much";
      if (draw.at(level.name) < watts - 1e-6)
        return level.name + " is reckoned as less than it draws";
    }
    return {};
  }

  bool step_on(bool more_come) {
    auto next = Time::max();
    for (const auto& [ticket, work] : running_) next = std::min(next, work.end);
    if (const auto look = dispatcher_->next_look()) next = std::min(next, std::max(*look, now_));
    if (more_come) next = std::min(next, now_ + seconds{1 + below(120)});
    if (next == Time::max()) return false;
    now_ = std::max(now_, next);
    std::vector<Ticket> over;
    for (const auto& [ticket, work] : running_)
      if (work.end <= now_) over.push_back(ticket);
    for (const auto ticket : over) {
      dispatcher_->ended(ticket, now_);
      running_.erase(ticket);
    }
    return true;
  }

  std::string stuck() const {
    std::string text = "never begins:";
    for (const auto& each : dispatcher_->blocked()) text += " [" + each.why + "]";
    return text;
  }

  std::mt19937 random_;
  inventory::Inventory site_{};
  Limits limits_{};
  std::vector<playbooks::PlannedStep> steps_{};
  std::optional<Dispatcher> dispatcher_{};
  Time now_{1h};
  std::map<Ticket, Work> waiting_{}, running_{};
  std::map<std::string, std::pair<Time, Ticket>> last_ramp_{};
  std::vector<Ticket> order_{};
  seconds longest_wait_{};
  std::string wrong_{};
};

void limits_hold(unsigned seeds, bool with_measurements) {
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    World world{seed};

    const auto wrong = world.live(60, with_measurements);

    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
}

TEST(DispatcherSeeds, LimitsHoldAtEveryMomentAndEveryOfferBegins) { limits_hold(100, false); }

TEST(DispatcherSeeds, MeasurementsAndShedsBreakNoLimitAndNobodyWaitsForEver) {
  limits_hold(100, true);
}

TEST(LongDispatcherSeeds, LimitsHoldAtEveryMomentAndEveryOfferBegins) { limits_hold(1000, false); }

TEST(LongDispatcherSeeds, MeasurementsAndShedsBreakNoLimitAndNobodyWaitsForEver) {
  limits_hold(800, true);
}

TEST(DispatcherSeeds, TheSameSeedGivesTheSameOrder) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    World first{seed}, second{seed};

    first.live(60, true);
    second.live(60, true);

    ASSERT_FALSE(first.order().empty());
    ASSERT_EQ(first.order(), second.order()) << "seed " << seed;
  }
}

/// Two nodes behind a breaker that carries two loads, and a third that is always about to load: the
/// group of the two finds its watts only if they are kept for it.
TEST(DispatcherSeeds, AnEndlessStreamOfSmallStepsDoesNotKeepAGroupWaiting) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random{seed};
    const auto site = test::site_of({.nodes = 6, .breaker_watts = 12'000 + 3 * 8000});
    std::vector<playbooks::PlannedStep> soaks;
    for (int i = 0; i < 4; ++i)
      soaks.push_back(
          test::step_of("soak", 1, seconds{200 + 100 * static_cast<int>(random() % 9)}));
    Limits limits;
    Dispatcher dispatcher{limits};
    dispatcher.know(site);
    Time now{1h};
    std::map<Ticket, std::pair<Time, int>> running;
    std::map<Ticket, std::size_t> offered;
    std::set<int> idle{2, 3, 4, 5};
    const auto offer_idle = [&] {
      for (const auto node : std::exchange(idle, {})) {
        const auto& soak = soaks[random() % soaks.size()];
        const auto path = seconds{random() % 2 == 0 ? 60 : 7200};  // some rank before the group
        offered[dispatcher.offer({1, 0, path, {&site.nodes[node]}, &soak}, now)] = node;
      }
    };
    offer_idle();
    const auto begin = [&](Ticket group) {
      for (const auto ticket : dispatcher.start(now)) {
        if (ticket == group) return true;
        const auto node = static_cast<int>(offered.at(ticket));
        running[ticket] = {now + seconds{200 + 100 * static_cast<int>(random() % 9)}, node};
      }
      return false;
    };
    begin(0);
    auto group_step = test::step_of("pair", 1, 10min);
    const auto group =
        dispatcher.offer({1, 0, 3600s, {&site.nodes[0], &site.nodes[1]}, &group_step}, now);
    const auto since = now;

    bool begun = begin(group);
    while (!begun && now - since < 100h) {
      auto next = dispatcher.next_look().value_or(Time::max());
      for (const auto& [ticket, end] : running) next = std::min(next, end.first);
      now = std::max(now, next);
      for (auto it = running.begin(); it != running.end();) {
        if (it->second.first > now) {
          ++it;
          continue;
        }
        dispatcher.ended(it->first, now);
        idle.insert(it->second.second);
        it = running.erase(it);
      }
      offer_idle();
      begun = begin(group);
    }

    ASSERT_TRUE(begun) << "seed " << seed;
  }
}

TEST(ForecastSeeds, IsNeverShorterThanItsBoundAndNeverOverALimit) {
  for (unsigned seed = 1; seed <= 600; ++seed) {
    std::mt19937 random{seed};
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    test::SiteShape shape{.racks = 1 + below(3), .nodes = 2 + below(6), .breakers = 1 + below(3)};
    const double idle = shape.nodes * shape.idle;
    shape.breaker_watts = idle + 8000.0 * (1 + below(4));
    shape.room_watts = shape.racks * idle + 8000.0 * (1 + below(9));
    const auto site = test::site_of(shape);
    std::vector<playbooks::PlannedStep> steps;
    for (int i = 0; i < 6; ++i) {
      auto step = test::step_of("s" + std::to_string(i), below(2) * 0.5 * (1 + below(2)),
                                seconds{10 * (1 + below(90))});
      if (below(3) == 0) step.claims.push_back({"push", Claim::Scope::rack, 1});
      steps.push_back(std::move(step));
    }
    const bool pairs = below(3) == 0;
    if (pairs) steps[3].together = playbooks::Together::pairs;
    auto plan = test::plan_of(site, steps);
    if (pairs)
      for (std::size_t n = 0; n + 1 < plan.nodes.size(); n += 2)
        plan.groups.push_back({"s3", {n, n + 1}});
    plan.limits["push"] = 1 + below(2);
    plan.nodes_at_once = 1 + below(12);
    if (below(3) == 0) plan.canary = {1, 2};

    const auto reported = forecast(plan, site);

    if (!reported.never.empty()) continue;  // a pair may be too much for its breaker
    ASSERT_LE(reported.bound(), reported.end)
        << "seed " << seed << ": " << reported.bounds.front().what;
    for (const auto& level : reported.levels)
      for (const auto watts : level.watts)
        ASSERT_LE(watts, level.limit_watts + 1e-6) << "seed " << seed << ": " << level.name;
    const auto again = forecast(plan, site);
    ASSERT_EQ(again.end, reported.end) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cupel::engine
