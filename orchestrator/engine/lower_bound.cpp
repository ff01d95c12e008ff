#include "orchestrator/engine/lower_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "inventory/node.h"
#include "orchestrator/engine/dispatcher_state.h"
#include "playbooks/group.h"
#include "playbooks/plan.h"

namespace cupel::engine {
namespace {

using playbooks::PlannedStep;
using std::chrono::seconds;

/// Steps that are alike: so many times, each needing so much of a resource for so long; before and
/// behind them on their node come head and tail.
struct Jobs {
  std::int64_t need = 0;
  std::int64_t each = 0;
  std::int64_t head = 0;
  std::int64_t tail = 0;
  std::int64_t count = 0;
  const std::string* step = nullptr;
};

struct Floor {
  std::int64_t at_least = 0;
  std::int64_t at_once = 0;  // 0: it is the sum of all, not a number at a time
  const std::string* step = nullptr;
};

std::int64_t upwards(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

/// What is over if `at_once` of these may go at a time: their work shared evenly, in whole steps;
/// and, of the longest (j * at_once + 1), somewhere j + 1 come one after another.
///
/// Whole steps: what is never more than `at_once` at a time can be dealt to so many seats, one
/// after another on each. One seat has no less than the even share, and what it has is a sum of
/// their lengths, so a multiple of what divides all of them.
std::int64_t shared(std::vector<const Jobs*> jobs, std::int64_t at_once) {
  std::ranges::sort(jobs, std::ranges::greater{}, &Jobs::each);
  std::int64_t work = 0, before = 0, longest = 0, divides = 0;
  for (const auto* each : jobs) {
    work += each->each * each->count;
    divides = std::gcd(divides, each->each);
    before += each->count;
    longest = std::max(longest, upwards(before, at_once) * each->each);
  }
  const auto evenly = upwards(work, at_once);
  return std::max(divides > 0 ? upwards(evenly, divides) * divides : evenly, longest);
}

/// These alone, each needing at least `least` of the capacity.
Floor floor_of_these(std::int64_t capacity, std::int64_t least,
                     const std::vector<const Jobs*>& jobs) {
  double area = 0;
  auto head = jobs.front()->head, tail = jobs.front()->tail;
  const Jobs* heaviest = jobs.front();
  for (const auto* each : jobs) {
    const auto work = each->each * each->count;
    area += static_cast<double>(each->need) * static_cast<double>(work);
    head = std::min(head, each->head);
    tail = std::min(tail, each->tail);
    if (work > heaviest->each * heaviest->count) heaviest = each;
  }
  const auto at_once = capacity / least;
  const Floor counted{head + shared(jobs, at_once) + tail, at_once, heaviest->step};
  const auto evenly = std::ceil(area / static_cast<double>(capacity) - 1e-6);
  const Floor summed{head + static_cast<std::int64_t>(evenly) + tail, 0, nullptr};
  return summed.at_least > counted.at_least ? summed : counted;
}

/// The tightest of: each kind of step alone, and those that need most together with those that need
/// less, one kind after the other.
Floor floor_of(std::int64_t capacity, std::vector<Jobs>& jobs) {
  Floor floor;
  std::erase_if(jobs, [&](const Jobs& each) { return each.need > capacity || each.need <= 0; });
  std::ranges::stable_sort(jobs, std::ranges::greater{}, &Jobs::need);
  const auto tighten = [&](const Floor& other) {
    if (other.at_least > floor.at_least) floor = other;
  };
  std::vector<const Jobs*> so_far;
  for (const auto& each : jobs) {
    so_far.push_back(&each);
    tighten(floor_of_these(capacity, each.need, {&each}));
    tighten(floor_of_these(capacity, each.need, so_far));
  }
  return floor;
}

/// One resource with what must pass through it.
struct Passage {
  std::int64_t capacity = 0;
  std::map<std::tuple<const PlannedStep*, std::int64_t>, Jobs> jobs{};
};

class Passages {
 public:
  Passages(const playbooks::Plan& plan, const PowerTree& tree, const Limits& limits)
      : plan_{plan}, tree_{tree}, limits_{limits} {
    gather();
  }

  std::vector<LowerBound> bounds() {
    std::vector<LowerBound> found;
    for (LevelIndex i = 0; i < tree_.levels().size(); ++i)
      if (const auto level = levels_.find(i); level != levels_.end())
        add_level(i, level->second, found);
    for (auto& [name, passage] : slots_) add_slots(name, passage, found);
    return found;
  }

 private:
  using LevelIndex = PowerTree::LevelId;

  void gather() {
    const auto groups = groups_of_steps(plan_);
    std::vector<std::int64_t> head;
    for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
      const auto& steps = *plan_.nodes[n].steps;
      head.assign(1, 0);
      for (std::size_t s = 0; s < steps.size(); ++s)
        head.push_back(head.back() + (groups[n][s] == -2 ? 0 : steps[s].expected.count()));
      for (std::size_t s = 0; s < steps.size(); ++s) {
        const auto group = groups[n][s];
        if (group == -2 || (steps[s].load <= 0 && steps[s].claims.empty())) continue;
        const bool first = group < 0 || plan_.groups[group].members.front() == n;
        if (!first) continue;
        Jobs jobs{
            0, steps[s].expected.count(), head[s], head.back() - head[s + 1], 1, &steps[s].name};
        if (group < 0)
          pass(steps[s], jobs, std::span{&n, 1});
        else
          pass(steps[s], jobs, plan_.groups[group].members);
      }
    }
  }

  void pass(const PlannedStep& step, Jobs jobs, std::span<const std::size_t> nodes) {
    std::map<LevelIndex, std::int64_t> more;
    for (const auto n : nodes) {
      const auto* node = tree_.find(plan_.nodes[n].node->name);
      if (node == nullptr || step.load <= 0) continue;
      const auto watts = tree_.expected(*node, step.load) - tree_.expected(*node, 0);
      for (const auto level : tree_.above(*node))
        if (tree_.levels()[level].carries < PowerTree::kUnlimited) more[level] += watts;
    }
    for (const auto& [level, need] : more) count(levels_[level], step, need, jobs);
    std::vector<std::string> seen;
    for (const auto& claim : step.claims) {
      const auto limit = limits_.slots.find(claim.resource);
      if (limit == limits_.slots.end()) continue;
      for (const auto n : nodes) {
        auto name = slot_name(claim, *plan_.nodes[n].node);
        if (std::ranges::find(seen, name) != seen.end()) continue;
        auto& passage = slots_[name];
        passage.capacity = limit->second;
        count(passage, step, claim.count, jobs);
        seen.push_back(std::move(name));
      }
    }
  }

  static void count(Passage& passage, const PlannedStep& step, std::int64_t need, Jobs jobs) {
    auto& known = passage.jobs[{&step, need}];
    const auto before = known.count;
    if (before > 0) {  // of another profile's nodes never: the step is each profile's own
      jobs.head = std::min(jobs.head, known.head);
      jobs.tail = std::min(jobs.tail, known.tail);
    }
    known = jobs;
    known.need = need;
    known.count = before + 1;
  }

  static std::vector<Jobs> jobs_of(const Passage& passage) {
    std::vector<Jobs> all;
    for (const auto& [key, jobs] : passage.jobs) all.push_back(jobs);
    // By what they are, not by where they lie in memory: the same plan gives the same words.
    std::ranges::sort(all, [](const Jobs& a, const Jobs& b) {
      return std::tie(a.head, *a.step, a.need) < std::tie(b.head, *b.step, b.need);
    });
    return all;
  }

  void add_level(LevelIndex index, const Passage& passage, std::vector<LowerBound>& found) const {
    const auto& level = tree_.levels()[index];
    auto jobs = jobs_of(passage);
    const auto share = std::clamp(limits_.power_share, 0.0, 1.0);
    const auto capacity = static_cast<std::int64_t>(static_cast<double>(level.carries) * share);
    const auto floor = floor_of(capacity - level.idle, jobs);
    if (floor.at_least == 0) return;
    const auto what =
        floor.at_once > 0
            ? fmt::format("{} allows {} {} at a time", words_of(level), floor.at_once, *floor.step)
            : fmt::format("{} has {} kW above idle for all that needs them", words_of(level),
                          kilowatts(capacity - level.idle));
    found.push_back({seconds{floor.at_least}, what});
  }

  void add_slots(const std::string& name, const Passage& passage,
                 std::vector<LowerBound>& found) const {
    auto jobs = jobs_of(passage);
    const auto floor = floor_of(passage.capacity, jobs);
    if (floor.at_least == 0) return;
    const auto what = floor.at_once > 0
                          ? fmt::format("{}: {} {} at a time", name, floor.at_once, *floor.step)
                          : fmt::format("{}: {} for all that needs them", name, passage.capacity);
    found.push_back({seconds{floor.at_least}, what});
  }

  const playbooks::Plan& plan_;
  const PowerTree& tree_;
  const Limits& limits_;
  std::map<LevelIndex, Passage> levels_{};
  std::map<std::string, Passage> slots_{};
};

std::chrono::seconds path_of(const playbooks::NodePlan& node) {
  seconds sum{0};
  for (const auto& step : *node.steps) sum += step.expected;
  return sum;
}

/// Nodes that are let in stay in until they are through, unless they wait for others: reported only
/// where nobody does.
void add_nodes_at_once(const playbooks::Plan& plan, std::vector<LowerBound>& found) {
  if (!plan.groups.empty() || plan.nodes.empty() || plan.nodes_at_once <= 0) return;
  std::map<std::int64_t, Jobs> by_length;
  for (const auto& node : plan.nodes) {
    const auto length = path_of(node).count();
    auto& jobs = by_length[length];
    jobs.each = length;
    ++jobs.count;
  }
  std::vector<const Jobs*> all;
  for (const auto& [length, jobs] : by_length) all.push_back(&jobs);
  found.push_back({seconds{shared(all, plan.nodes_at_once)},
                   fmt::format("{} nodes at once", plan.nodes_at_once)});
}

/// A wave of the canary begins when all nodes before it are through, so that the whole takes what
/// each takes at least by itself, one after another. Nodes that wait for others let the next wave
/// in: nothing is known then.
std::optional<LowerBound> of_waves(const playbooks::Plan& plan, const PowerTree& tree,
                                   const Limits& limits) {
  if (plan.canary.empty() || !plan.groups.empty()) return std::nullopt;
  LowerBound sum;
  std::size_t waves = 0;
  for (std::size_t from = 0; from < plan.nodes.size(); ++waves) {
    const auto left = plan.nodes.size() - from;
    const auto requested = waves < plan.canary.size() ? std::max(plan.canary[waves], 1) : left;
    const auto size = std::min<std::size_t>(requested, left);
    playbooks::Plan alone;
    alone.nodes_at_once = plan.nodes_at_once;
    const auto first = plan.nodes.begin() + static_cast<std::ptrdiff_t>(from);
    alone.nodes.assign(first, first + static_cast<std::ptrdiff_t>(size));
    auto tightest = bounds(alone, tree, limits, 1);
    sum.at_least += tightest.front().at_least;
    sum.what = "the canary's waves come first, then " + std::move(tightest.front().what);
    from += size;
  }
  if (waves < 2) return std::nullopt;
  return sum;
}

}  // namespace

std::vector<std::vector<std::int32_t>> groups_of_steps(const playbooks::Plan& plan) {
  std::vector<std::vector<std::int32_t>> groups(plan.nodes.size());
  for (std::size_t n = 0; n < plan.nodes.size(); ++n)
    for (const auto& step : *plan.nodes[n].steps)
      groups[n].push_back(playbooks::needs_partner(step) ? -2 : -1);
  for (std::size_t g = 0; g < plan.groups.size(); ++g)
    for (const auto n : plan.groups[g].members) {
      const auto& steps = *plan.nodes[n].steps;
      const auto at = std::ranges::find(steps, plan.groups[g].step, &PlannedStep::name);
      if (at != steps.end()) groups[n][at - steps.begin()] = static_cast<std::int32_t>(g);
    }
  return groups;
}

Earliest earliest(const playbooks::Plan& plan) {
  const auto groups = groups_of_steps(plan);
  Earliest found;
  found.begins.resize(plan.nodes.size());
  std::vector<seconds> now(plan.nodes.size(), seconds{0});
  std::vector<std::size_t> arrived(plan.groups.size(), 0);
  std::vector<std::size_t> moving(plan.nodes.size());
  for (std::size_t n = 0; n < moving.size(); ++n) moving[n] = moving.size() - 1 - n;
  while (!moving.empty()) {
    const auto n = moving.back();
    moving.pop_back();
    const auto& steps = *plan.nodes[n].steps;
    while (found.begins[n].size() < steps.size()) {
      const auto s = found.begins[n].size();
      const auto group = groups[n][s];
      if (group >= 0) {
        const auto& members = plan.groups[group].members;
        if (++arrived[group] < members.size()) break;
        seconds latest{0};
        for (const auto m : members) latest = std::max(latest, now[m]);
        for (const auto m : members) {
          found.begins[m].push_back(latest);
          now[m] = latest + steps[s].expected;
          if (m != n) moving.push_back(m);
        }
        continue;
      }
      found.begins[n].push_back(now[n]);
      if (group == -1) now[n] += steps[s].expected;
    }
  }
  for (std::size_t n = 0; n < now.size(); ++n) {
    if (now[n] <= found.end) continue;
    found.end = now[n];
    found.last_node = n;
  }
  return found;
}

std::vector<LowerBound> bounds(const playbooks::Plan& plan, const PowerTree& tree,
                               const Limits& limits, std::size_t most) {
  std::vector<LowerBound> found;
  const auto path = earliest(plan);
  if (!plan.nodes.empty())
    found.push_back(
        {path.end, "the steps of " + plan.nodes[path.last_node].node->name + " one after another"});
  add_nodes_at_once(plan, found);
  if (auto waves = of_waves(plan, tree, limits)) found.push_back(*std::move(waves));
  auto others = Passages{plan, tree, limits}.bounds();
  std::ranges::move(others, std::back_inserter(found));
  std::ranges::stable_sort(found, std::ranges::greater{}, &LowerBound::at_least);
  if (found.size() > most) found.resize(most);
  return found;
}

}  // namespace cupel::engine
