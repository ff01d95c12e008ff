#include "orchestrator/engine/forecast.h"

#include <algorithm>
#include <queue>
#include <set>
#include <unordered_map>

#include "inventory/node.h"
#include "orchestrator/engine/critical_path.h"

namespace cupel::engine {
namespace {

using std::chrono::seconds;
using Ticket = Dispatcher::Ticket;

constexpr Clock::Time kBegin{};

seconds at(Clock::Time now) { return std::chrono::ceil<seconds>(now - kBegin); }

/// A plan on its way through the dispatcher.
class VirtualRun {
 public:
  VirtualRun(const playbooks::Plan& plan, const inventory::Inventory& inventory,
             const Limits& limits)
      : plan_{plan},
        dispatcher_{limits},
        groups_{groups_of_steps(plan)},
        ahead_{critical_paths(plan)} {
    dispatcher_.know(inventory);
    tree_.know(inventory);
    curves_.resize(tree_.levels().size());
    for (std::size_t i = 0; i < curves_.size(); ++i)
      curves_[i].draws(seconds{0}, tree_.levels()[i].drawn);
    at_.resize(plan.nodes.size());
    arrived_.resize(plan.groups.size());
  }

  Forecast run() {
    open_wave();
    for (;;) {
      settle();
      begin();
      const auto look = dispatcher_.next_look();
      if (ends_.empty() && !look) break;
      now_ = ends_.empty() ? std::max(now_, *look) : ends_.top().when;
      if (look && *look < now_ && *look > Clock::Time::min()) now_ = *look;
      end_what_is_due();
    }
    say_who_is_stuck();
    return finish();
  }

 private:
  struct Step {
    std::size_t index;
    std::vector<std::size_t> nodes;
    Clock::Time ready;
  };
  struct End {
    Clock::Time when;
    Ticket ticket;
    bool operator>(const End& other) const {
      return std::tie(when, ticket) > std::tie(other.when, other.ticket);
    }
  };
  struct Seat {
    std::size_t step = 0;
    bool in = false;  // takes up one of nodes_at_once
    bool over = false;
    bool waits_for_others = false;
  };
  struct Line {
    Forecast::Step reported{};
    std::size_t now = 0;
  };

  Line& line(const std::string& name) {
    const auto [found, fresh] = line_of_.try_emplace(name, lines_.size());
    if (fresh) lines_.emplace_back().reported.name = name;
    return lines_[found->second];
  }

  void let_in() {
    while (next_ < allowed_ && open_ < plan_.nodes_at_once) {
      at_[next_].in = true;
      ++open_;
      moving_.push_back(next_++);
    }
  }

  void open_wave() {
    while (allowed_ < plan_.nodes.size() && settled_ >= allowed_) {
      const auto more = wave_ < plan_.canary.size()
                            ? static_cast<std::size_t>(std::max(plan_.canary[wave_], 0))
                            : plan_.nodes.size();
      ++wave_;
      allowed_ = std::min(plan_.nodes.size(), allowed_ + more);
    }
  }

  void settle() {
    do {
      open_wave();
      let_in();
      for (std::size_t i = 0; i < moving_.size(); ++i) next_step(moving_[i]);
      moving_.clear();
    } while ((next_ < allowed_ && open_ < plan_.nodes_at_once) ||
             (allowed_ < plan_.nodes.size() && settled_ >= allowed_));
  }

  void leave(Seat& seat) {
    if (seat.in) --open_;
    seat.in = false;
    ++settled_;
  }

  void next_step(std::size_t node) {
    auto& seat = at_[node];
    const auto& steps = *plan_.nodes[node].steps;
    while (seat.step < steps.size() && groups_[node][seat.step] == -2)
      ++line(steps[seat.step++].name).reported.skipped;
    if (seat.step == steps.size()) {
      seat.over = true;
      return leave(seat);
    }
    const auto group = groups_[node][seat.step];
    if (group < 0) return offer({node});
    seat.waits_for_others = true;
    leave(seat);
    const auto& members = plan_.groups[group].members;
    if (++arrived_[group] < members.size()) return;
    for (const auto member : members) {
      auto& other = at_[member];
      other.waits_for_others = false;
      other.in = true;
      ++open_;
      --settled_;
    }
    offer(members);
  }

  void offer(std::vector<std::size_t> nodes) {
    const auto first = nodes.front();
    const auto index = at_[first].step;
    Offer offer;
    offer.run = 1;
    offer.priority = plan_.priority;
    offer.step = &(*plan_.nodes[first].steps)[index];
    for (const auto node : nodes) {
      offer.nodes.push_back(plan_.nodes[node].node);
      offer.remaining_path = std::max(offer.remaining_path, (*ahead_[node])[at_[node].step]);
    }
    if (const auto why = dispatcher_.impossible(offer)) {
      never_.push_back({offer.step->name, names(nodes), *why});
      for (const auto node : nodes) {
        ++at_[node].step;
        moving_.push_back(node);
      }
      return;
    }
    const auto ticket = dispatcher_.offer(std::move(offer), now_);
    steps_.emplace(ticket, Step{index, std::move(nodes), now_});
  }

  void draw(const Step& step, double load) {
    for (const auto n : step.nodes) {
      const auto* node = tree_.find(plan_.nodes[n].node->name);
      if (node == nullptr) continue;
      const auto before = tree_.drawn(*node);
      tree_.works(*node, load);
      if (tree_.drawn(*node) == before) continue;
      for (const auto level : tree_.above(*node))
        curves_[level].draws(at(now_), tree_.levels()[level].drawn);
    }
  }

  void begin() {
    for (const auto ticket : dispatcher_.start(now_)) {
      const auto& step = steps_.at(ticket);
      const auto& planned = (*plan_.nodes[step.nodes.front()].steps)[step.index];
      auto& line_here = line(planned.name);
      auto& reported = line_here.reported;
      if (reported.nodes == 0) reported.first_begin = at(now_);
      reported.nodes += step.nodes.size();
      reported.waited = std::max(reported.waited, at(now_) - at(step.ready));
      line_here.now += step.nodes.size();
      reported.most_at_once = std::max(reported.most_at_once, line_here.now);
      begun_ += step.nodes.size();
      draw(step, planned.load);
      ends_.push({now_ + planned.expected, ticket});
    }
  }

  void end_what_is_due() {
    while (!ends_.empty() && ends_.top().when <= now_) {
      const auto ticket = ends_.top().ticket;
      ends_.pop();
      dispatcher_.ended(ticket, now_);
      const auto found = steps_.find(ticket);
      const auto step = std::move(found->second);
      steps_.erase(found);
      auto& here = line((*plan_.nodes[step.nodes.front()].steps)[step.index].name);
      here.now -= step.nodes.size();
      here.reported.last_end = at(now_);
      draw(step, 0);
      for (const auto node : step.nodes) {
        ++at_[node].step;
        moving_.push_back(node);
      }
    }
  }

  std::vector<std::string> names(const std::vector<std::size_t>& nodes) const {
    std::vector<std::string> found;
    for (const auto node : nodes) found.push_back(plan_.nodes[node].node->name);
    return found;
  }

  void say_who_is_stuck() {
    for (const auto& blocked : dispatcher_.blocked()) {
      const auto& step = steps_.at(blocked.ticket);
      never_.push_back({(*plan_.nodes[step.nodes.front()].steps)[step.index].name,
                        names(step.nodes), blocked.why});
    }
    std::vector<std::size_t> outside;
    for (auto n = next_; n < plan_.nodes.size(); ++n) outside.push_back(n);
    std::map<std::string, std::vector<std::size_t>> waiting;
    for (std::size_t n = 0; n < at_.size(); ++n)
      if (at_[n].waits_for_others) waiting[(*plan_.nodes[n].steps)[at_[n].step].name].push_back(n);
    for (const auto& [step, nodes] : waiting)
      never_.push_back({step, names(nodes), "the nodes that do it together never meet there"});
    if (!outside.empty()) never_.push_back({"", names(outside), "they are never let in"});
  }

  Forecast finish() {
    Forecast reported;
    reported.end = at(now_);
    reported.begun = begun_;
    reported.never = std::move(never_);
    for (auto& each : lines_) reported.steps.push_back(std::move(each.reported));
    std::ranges::stable_sort(reported.steps, {}, &Forecast::Step::first_begin);
    std::set<PowerTree::LevelId> above;
    for (const auto& node : plan_.nodes)
      if (const auto* id = tree_.find(node.node->name))
        above.insert(tree_.above(*id).begin(), tree_.above(*id).end());
    for (const auto id : above) {
      const auto& level = tree_.levels()[id];
      auto& as_reported = reported.levels.emplace_back();
      as_reported.kind = level.kind;
      as_reported.name = level.name;
      if (level.carries < PowerTree::kUnlimited)
        as_reported.limit_watts = static_cast<double>(level.carries) / 1000;
      as_reported.idle_watts = static_cast<double>(level.idle) / 1000;
      as_reported.peak_watts = static_cast<double>(curves_[id].peak()) / 1000;
      for (const auto power : curves_[id].samples(reported.end, Forecast::kSamples))
        as_reported.watts.push_back(static_cast<double>(power) / 1000);
    }
    std::ranges::stable_sort(reported.levels, {}, &Forecast::Level::kind);
    return reported;
  }

  const playbooks::Plan& plan_;
  Dispatcher dispatcher_;
  PowerTree tree_{};
  std::vector<std::vector<std::int32_t>> groups_;
  std::vector<PowerCurve> curves_{};  // by level
  std::vector<CriticalPath> ahead_;
  std::vector<Seat> at_{};
  std::vector<std::size_t> arrived_{};  // by group
  std::unordered_map<Ticket, Step> steps_{};
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_{};
  std::vector<std::size_t> moving_{};
  std::unordered_map<std::string, std::size_t> line_of_{};
  std::vector<Line> lines_{};
  std::vector<Forecast::Never> never_{};
  Clock::Time now_ = kBegin;
  std::size_t wave_ = 0;
  std::size_t allowed_ = 0;  // by the canary
  std::size_t next_ = 0;     // to be let in
  std::size_t settled_ = 0;  // over, or waiting for others
  std::size_t begun_ = 0;
  int open_ = 0;
};

}  // namespace

double Forecast::over_bound() const {
  const auto least = bound().count();
  return least > 0 ? static_cast<double>(end.count()) / static_cast<double>(least) : 1;
}

Forecast forecast(const playbooks::Plan& plan, const inventory::Inventory& inventory,
                  Limits limits) {
  for (const auto& [name, count] : plan.limits) {
    const auto [known, fresh] = limits.slots.try_emplace(name, count);
    if (!fresh) known->second = std::min(known->second, count);
  }
  auto reported = VirtualRun{plan, inventory, limits}.run();
  const auto share = std::clamp(limits.power_share, 0.0, 1.0);
  for (auto& level : reported.levels) level.limit_watts *= share;
  PowerTree idle;
  idle.know(inventory);
  reported.bounds = bounds(plan, idle, limits);
  return reported;
}

}  // namespace cupel::engine
