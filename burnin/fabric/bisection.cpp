#include "burnin/fabric/bisection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "base/text.h"
#include "inventory/node_range.h"

namespace cupel::burnin::fabric {
namespace {

// Healthy NDR ports give 46 to 49 GB/s, 6 % apart: twice that, as the criterion for nccl.loss.
// Source: NVIDIA/nccl-tests#290 and #267.
constexpr double kSlow = 0.12, kPercent = 100;
// What four nodes reach of what NCCL's trees give two: 391.1 of 479.28 GB/s.
// Source: NVIDIA/nccl#1222; AWS, nccl-tests on p5, README.
constexpr double kFourOfTwo = 0.81;
constexpr std::size_t kLeast = 4;  // nodes: a half has two
constexpr int kLeastSlow = 3;      // readings of whoever is accused
// Of all teams of a run together: that one of them is accused though its readings only dipped.
constexpr double kChance = 1.0 / 5000;
// What is taken for seen before a team has run: one reading in twenty dips.
constexpr double kDipsBefore = 1, kReadingsBefore = 20;
// Thousands of nodes have thousands of teams, and each node's record has the words on its group.
constexpr std::size_t kMostReasons = 200, kLongestNames = 200;

using Nodes = std::vector<std::size_t>;

void append(Nodes& to, const Nodes& nodes) { to.insert(to.end(), nodes.begin(), nodes.end()); }

/// Parts of almost one size, in order; those of twice as many parts lie within them.
std::vector<Nodes> divided(const Nodes& nodes, std::size_t parts) {
  std::vector<Nodes> made;
  for (std::size_t i = 0; i < parts; ++i) {
    const auto at = [&](std::size_t part) {
      return nodes.begin() + static_cast<std::ptrdiff_t>(part * nodes.size() / parts);
    };
    made.emplace_back(at(i), at(i + 1));
  }
  return made;
}

/// The same order for the same count: neighbours, and nodes at equal distances, are parted.
Nodes mixed(Nodes nodes, int how) {
  std::minstd_rand draw{104'729u * static_cast<unsigned>(how)};
  for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[draw() % i]);
  return nodes;
}

}  // namespace

Bisection::Bisection(std::vector<std::string> nodes, double floor)
    : names_{std::move(nodes)}, floor_{floor}, state_(names_.size(), State::open) {}

std::string Bisection::named(const Nodes& nodes) const {
  std::vector<std::string> names;
  for (const auto node : nodes) names.push_back(names_[node]);
  return shortened(inventory::fold(names), kLongestNames);
}

void Bisection::say(std::string reason) {
  if (reasons_.size() < kMostReasons) reasons_.push_back(std::move(reason));
}

void Bisection::leave(std::size_t node) { state_[node] = State::left; }

void Bisection::give_up(std::string why) {
  say(std::move(why));
  over_ = true;
}

Nodes Bisection::in(State state) const {
  Nodes found;
  for (std::size_t node = 0; node < state_.size(); ++node)
    if (state_[node] == state) found.push_back(node);
  return found;
}

Nodes Bisection::cleared() const { return in(State::fast); }

void Bisection::mark(const Nodes& nodes, State state) {
  for (const auto node : nodes)
    if (state_[node] != State::left) state_[node] = state;
}

void Bisection::suspect(Kind kind, const Nodes& nodes, double loss, std::string why) {
  if (nodes.empty()) return;
  say(why);
  suspicions_.push_back({kind, nodes, loss, std::move(why)});
}

void Bisection::undecided(const Nodes& nodes, std::string why) {
  mark(nodes, State::undecided);
  suspect(Kind::undecided, nodes, 0, std::move(why));
}

/// What a team of this size reaches: what such a team, one of a node fewer, or a larger one has
/// reached. Larger ones reach less.
double Bisection::usual(std::size_t size) const {
  double most = 0;
  for (auto like = best_.lower_bound(size - 1); like != best_.end(); ++like)
    most = std::max(most, like->second * (like->first == 2 && size > 2 ? kFourOfTwo : 1));
  return most;
}

bool Bisection::is_slow(const Trial& trial) const {
  return trial.rate < (1 - kSlow) * usual(trial.team.size());
}

/// Whether readings that dip by themselves explain that one of so many teams was slow so often in a
/// row. The chance is that of one team, times the teams.
bool Bisection::may_be_chance(int slow) const {
  if (slow < kLeastSlow) return true;
  const double dip = (static_cast<double>(dips_) + kDipsBefore) /
                     (static_cast<double>(fast_readings_ + dips_) + kReadingsBefore);
  return static_cast<double>(readings_) * std::pow(dip, slow) >= kChance;
}

// ---- which teams ----

std::vector<Nodes> Bisection::next() {
  trials_.clear();
  forget_who_left();
  if (!began_) {
    began_ = true;
    const auto all = in(State::open);
    if (all.size() < 2)
      over_ = true;
    else
      trials_.push_back({.own = all, .team = all});
  } else if (!over_) {
    if (rounds_ < kMostRounds) plan_suspects();
    if (trials_.empty() && rounds_ < kMostRounds && groups_.empty() && goes_deeper()) plan_level();
    if (trials_.empty() && rounds_ < kMostRounds) plan_together();
    if (trials_.empty()) finish();
  }
  std::vector<Nodes> teams;
  for (const auto& trial : trials_) teams.push_back(trial.team);
  return teams;
}

void Bisection::forget_who_left() {
  const auto is_gone = [this](std::size_t node) { return state_[node] == State::left; };
  for (auto* groups : {&groups_, &singles_, &together_}) {
    for (auto& group : *groups) std::erase_if(group.nodes, is_gone);
    std::erase_if(*groups, [](const Group& group) { return group.nodes.empty(); });
  }
  for (auto& group : groups_) {
    if (group.nodes.size() > 1) continue;
    group.slow = 0;  // it may have been whoever left
    singles_.push_back(group);
  }
  std::erase_if(groups_, [](const Group& group) { return group.nodes.size() == 1; });
}

/// As long as no slow node is known: with a floor until a team reaches it, else to the end.
bool Bisection::goes_deeper() const {
  // Of four or five nodes two slow ones are rarely in one team.
  constexpr int kMixes = 8;
  constexpr std::size_t kFew = 6;
  if (mixes_ == (names_.size() < kFew ? kMixes : 1) || !in(State::bad).empty()) return false;
  const auto reaches = [this](const auto& best) { return best.second >= floor_; };
  return floor_ <= 0 || std::ranges::none_of(best_, reaches);
}

/// All nodes in twice as many teams, down to pairs: at last of nodes that are no neighbours, in
/// case each pair of neighbours has a slow one.
void Bisection::plan_level() {
  auto nodes = in(State::fast);
  append(nodes, in(State::open));
  std::ranges::sort(nodes);
  const auto most = nodes.size() / 2;
  if (most < 2) return;
  const auto parts = std::min(2 * level_, most);
  if (parts == most && level_ > 1) nodes = mixed(std::move(nodes), ++mixes_);
  level_ = parts;
  for (auto& part : divided(nodes, parts)) trials_.push_back({.own = part, .team = part});
}

/// Halves of groups and single nodes that were slow once, filled up with nodes that were fast. The
/// other fast nodes run in teams of the same size: they show what such a team reaches, and whether
/// they are fast.
void Bisection::plan_suspects() {
  auto spare = in(State::fast);
  // Not the same nodes as in the round before.
  if (!spare.empty())
    std::ranges::rotate(spare, spare.begin() + (5 * rounds_ + 1) % std::ssize(spare));
  begin_suspects(spare.size());
  if (trials_.empty()) return;
  std::size_t size = 2, needed = 0;
  for (const auto& trial : trials_) {
    size = std::max(size, trial.own.size());
    needed += kLeast - std::min(kLeast, trial.own.size());
  }
  // Two nodes reach more than four: what shows among more may not show between two.
  if (size < kLeast && needed + kLeast <= spare.size()) size = kLeast;
  fill_up(size, std::move(spare));
}

/// As many as find fast nodes to run with; the others wait for the halves of these.
void Bisection::begin_suspects(std::size_t spare) {
  const auto begins = [&spare](std::size_t needed) {
    if (needed > spare) return false;
    spare -= needed;
    return true;
  };
  std::erase_if(singles_, [&](Group& single) {
    if (!begins(1)) return false;
    trials_.push_back({Role::again, single.nodes, single.nodes, single});
    return true;
  });
  std::erase_if(groups_, [&](Group& group) {
    if (!begins(kLeast - std::min(kLeast, group.nodes.size()))) return false;
    for (auto& half : divided(group.nodes, 2)) trials_.push_back({Role::half, half, half, group});
    return true;
  });
}

void Bisection::fill_up(std::size_t size, Nodes spare) {
  auto next = spare.begin();
  for (const std::size_t least : {std::size_t{2}, size})
    for (auto& trial : trials_)
      while (trial.team.size() < least && next != spare.end()) trial.team.push_back(*next++);
  // Once in teams of a size: what they reach is known then, and readings dip by themselves.
  const bool all = size < smallest_;
  smallest_ = std::min(smallest_, size);
  for (; std::cmp_greater_equal(spare.end() - next, size);
       next += static_cast<std::ptrdiff_t>(size)) {
    const Nodes team(next, next + static_cast<std::ptrdiff_t>(size));
    trials_.push_back({Role::control, team, team, {}});
    if (!all) break;
  }
  if (all && 2 * level_ * size <= names_.size()) level_ *= 2;  // it is the next level too
}

/// Those of which no node is slow by itself, twice more. The largest explains those within it.
void Bisection::plan_together() {
  auto free = state_;
  for (auto& group : std::exchange(together_, {})) {
    const auto is_free = [&](std::size_t node) { return free[node] == State::fast; };
    if (group.nodes.size() < 2 || !std::ranges::all_of(group.nodes, is_free)) continue;
    for (const auto node : group.nodes) free[node] = State::slow;
    trials_.push_back({Role::together, group.nodes, group.nodes, group});
  }
  Nodes spare;
  for (std::size_t node = 0; node < free.size(); ++node)
    if (free[node] == State::fast) spare.push_back(node);
  auto next = spare.begin();
  for (auto& trial : trials_)
    while (trial.team.size() < trial.of.size && next != spare.end()) trial.team.push_back(*next++);
}

void Bisection::finish() {
  over_ = true;
  for (auto* groups : {&singles_, &groups_})
    for (const auto& group : std::exchange(*groups, {}))
      undecided(
          group.nodes,
          rounds_ < kMostRounds
              ? fmt::format("{}: {:.1f} GB/s together, and no fast node is left to tell them "
                            "apart",
                            named(group.nodes), group.rate)
              : fmt::format("{}: not distinguished within {} rounds", named(group.nodes), rounds_));
  for (const auto& group : std::exchange(together_, {})) {
    const auto is_fast = [this](std::size_t node) { return state_[node] == State::fast; };
    if (group.nodes.size() > 1 && std::ranges::all_of(group.nodes, is_fast))
      undecided(
          group.nodes,
          fmt::format("{}: {:.1f} GB/s together, and {}; not read often enough within {} rounds",
                      named(group.nodes), group.rate, group.why, rounds_));
  }
  double best = 0;
  for (const auto& [size, rate] : best_) best = std::max(best, rate);
  const auto rest = in(State::fast);
  if (floor_ <= 0 || best >= floor_ || rest.empty()) return;
  mark(rest, State::slow);
  suspect(Kind::alike, rest, 1 - best / floor_,
          fmt::format("{}: at most {:.1f} GB/s in teams of any size, and {:.1f} are expected",
                      named(rest), best, floor_));
}

// ---- what they say ----

void Bisection::take(std::span<const double> rates) {
  ++rounds_;
  for (std::size_t i = 0; i < trials_.size() && i < rates.size(); ++i) {
    trials_[i].rate = std::isfinite(rates[i]) ? rates[i] : 0;
    auto& best = best_[trials_[i].team.size()];
    best = std::max(best, trials_[i].rate);
  }
  readings_ += trials_.size();
  if (rounds_ == 1) return take_all(trials_.empty() ? 0 : trials_.front().rate);
  // Those who are slow together are compared with their halves instead.
  fast_readings_ += static_cast<std::size_t>(std::ranges::count_if(trials_, [this](auto& trial) {
    return trial.role != Role::together && trial.rate > 0 && !is_slow(trial);
  }));
  say_rates();
  if (!trials_.empty() && trials_.front().role == Role::level) take_levels();
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const auto& trial = trials_[i];
    if (trial.role == Role::half) take_halves(trial, trials_[++i]);
    if (trial.role == Role::again) take_again(trial);
    if (trial.role == Role::control) take_control(trial);
    if (trial.role == Role::together) take_together(trial);
  }
}

void Bisection::say_rates() {
  for (const auto& trial : trials_) {
    if (trial.role == Role::control) continue;
    const auto of = trial.role == Role::half    ? " of " + named(trial.of.nodes)
                    : trial.role == Role::level ? fmt::format(" of all {}", names_.size())
                                                : std::string{" again"};
    say(fmt::format("bisected: {}{}{}: {:.1f} GB/s; the best team of {} nodes reaches {:.1f}",
                    named(trial.own), of,
                    trial.own.size() == trial.team.size() ? "" : ", with fast nodes", trial.rate,
                    trial.team.size(), best_[trial.team.size()]));
  }
}

void Bisection::take_all(double rate) {
  const auto& all = trials_.front().own;
  level_teams_ = {{all, rate, all.size()}};
  const bool few = all.size() < kLeast;
  if (rate <= 0) {
    give_up("not bisected: the collective over all nodes did not come to its end");
  } else if (floor_ > 0 && rate >= floor_) {
    give_up(fmt::format("not bisected: {:.1f} GB/s over all {} nodes, and {:.1f} are expected",
                        rate, all.size(), floor_));
    mark(all, State::fast);
  } else if (few && floor_ > 0) {
    over_ = true;
    suspect(Kind::undecided, all, 1 - rate / floor_,
            fmt::format("{}: {:.1f} GB/s, and {:.1f} are expected: {} nodes are too few to halve",
                        named(all), rate, floor_, all.size()));
  } else if (few) {
    give_up(fmt::format("not bisected: {} nodes are too few to halve", all.size()));
  }
}

/// All nodes, in teams of one size.
void Bisection::take_levels() {
  const auto before = std::exchange(level_teams_, {});
  for (const auto& trial : trials_) {
    if (trial.rate <= 0) {
      undecided(trial.own,
                fmt::format("{}: their collective did not come to its end", named(trial.own)));
    } else if (is_slow(trial)) {
      mark(trial.own, State::slow);
      groups_.push_back({trial.own, trial.rate, trial.team.size()});
    } else {
      mark(trial.own, State::fast);
    }
    level_teams_.push_back({trial.own, trial.rate, trial.team.size()});
  }
  if (mixes_ > 0 || level_teams_.size() != 2 * before.size()) return;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto &one = level_teams_[2 * i], &other = level_teams_[2 * i + 1];
    const double worse = std::min(one.rate, other.rate);
    // Over two nodes NCCL's trees reach more than over several: no loss of these.
    const bool compares = floor_ > 0 || std::min(one.size, other.size) > 2;
    if (!compares || worse <= 0 || before[i].rate >= (1 - kSlow) * worse) continue;
    ++dips_;
    auto& found = together_.emplace_back(before[i]);
    found.halves = worse;
    found.why = fmt::format("{} and {} apart reach {:.1f} and {:.1f}", named(one.nodes),
                            named(other.nodes), one.rate, other.rate);
  }
}

void Bisection::take_halves(const Trial& one, const Trial& other) {
  const auto& group = one.of;
  const double worse = std::min(one.rate, other.rate);
  if (worse <= 0)
    return undecided(group.nodes, fmt::format("{}: {:.1f} GB/s together, and a half of them did "
                                              "not come to its end",
                                              named(group.nodes), group.rate));
  for (const auto* half : {&one, &other}) {
    const bool slow = is_slow(*half);
    mark(half->own, slow ? State::slow : State::fast);
    if (slow)
      (half->own.size() > 1 ? groups_ : singles_)
          .push_back({half->own, half->rate, half->team.size()});
  }
  // Two of them reach more than all, and are well: no loss.
  const double fair = worse * (one.team.size() == 2 && group.size > 2 ? kFourOfTwo : 1);
  if (is_slow(one) || is_slow(other) || group.rate >= (1 - kSlow) * fair) return;
  ++dips_;
  auto& found = together_.emplace_back(group);
  found.halves = fair;
  found.why = fmt::format("{} and {} apart reach {:.1f} and {:.1f}", named(one.own),
                          named(other.own), one.rate, other.rate);
}

/// What passed for fast beside slower ones may not be.
void Bisection::take_control(const Trial& trial) {
  if (trial.rate <= 0 || !is_slow(trial)) return;
  mark(trial.own, State::slow);
  groups_.push_back({trial.own, trial.rate, trial.team.size()});
}

/// A reading dips by itself, and hardly each time.
void Bisection::take_again(const Trial& trial) {
  if (trial.rate <= 0)
    return undecided(trial.own, fmt::format("{}: {:.1f} GB/s, and again it did not come to its end",
                                            named(trial.own), trial.of.rate));
  if (!is_slow(trial)) {
    dips_ += static_cast<std::size_t>(trial.of.slow);
    return mark(trial.own, State::fast);
  }
  auto single = trial.of;
  if (may_be_chance(++single.slow)) return singles_.push_back(std::move(single));
  const double loss = 1 - trial.rate / usual(trial.team.size());
  mark(trial.own, State::bad);
  suspect(
      Kind::node, trial.own, loss,
      fmt::format("{}: {:.1f} GB/s with fast nodes, {:.0f} % below the best team of {} nodes, "
                  "and slow in {} readings one after the other",
                  named(trial.own), trial.rate, kPercent * loss, trial.team.size(), single.slow));
}

void Bisection::take_together(const Trial& trial) {
  auto group = trial.of;
  if (trial.rate <= 0 || trial.rate >= (1 - kSlow) * group.halves) {
    dips_ += static_cast<std::size_t>(group.slow) - 1;  // the first is counted
    return say(fmt::format("{}: {:.1f} GB/s together, and {:.1f} when run again: not slow together",
                           named(trial.own), group.rate, trial.rate));
  }
  if (may_be_chance(++group.slow)) return together_.push_back(std::move(group));
  mark(trial.own, State::slow);
  suspect(Kind::together, trial.own, 1 - trial.rate / group.halves,
          fmt::format("{}: {:.1f} GB/s together, in {} readings one after the other, and {}",
                      named(trial.own), trial.rate, group.slow, group.why));
}

}  // namespace cupel::burnin::fabric
