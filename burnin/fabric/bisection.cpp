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

/// Not the same nodes first as in rounds before, nor their neighbours.
void turn(Nodes& nodes, int round) {
  if (nodes.empty()) return;
  const auto step = 5 * std::ssize(nodes) / 13 + 1;
  std::ranges::rotate(nodes, nodes.begin() + step * (round + 1) % std::ssize(nodes));
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
  suspicions_.push_back({kind, nodes, {}, loss, std::move(why)});
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
  return trial.rate <= 0 || trial.rate < (1 - kSlow) * usual(trial.team.size());
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
    plan_all();
  } else if (!over_) {
    if (all_failed_) plan_all();
    if (trials_.empty() && rounds_ < kMostRounds) plan_suspects();
    // First what is between nodes: in teams of nodes that are no neighbours it would be taken for
    // theirs.
    if (trials_.empty() && rounds_ < kMostRounds) plan_crossings();
    if (trials_.empty() && rounds_ < kMostRounds) plan_together();
    if (trials_.empty() && rounds_ < kMostRounds && groups_.empty() && goes_deeper()) plan_level();
    if (trials_.empty()) plan_watch();
    if (trials_.empty()) finish();
  }
  std::vector<Nodes> teams;
  for (const auto& trial : trials_) teams.push_back(trial.team);
  return teams;
}

/// Once more without those who kept the others waiting, and left; but not for ever.
bool Bisection::runs_all_again() const {
  constexpr int kMost = 4;
  return all_failed_ && in(State::left).size() != gone_ && without_ < kMost;
}

void Bisection::plan_all() {
  const bool again = runs_all_again();
  if (std::exchange(all_failed_, false) && !again) return;
  without_ += again ? 1 : 0;
  gone_ = in(State::left).size();
  const auto all = in(State::open);
  if (all.size() < 2)
    over_ = true;
  else
    trials_.push_back({.own = all, .team = all});
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
  for (auto* groups : {&together_})
    for (auto& group : *groups) {
      std::erase_if(group.one, is_gone);
      std::erase_if(group.other, is_gone);
    }
  for (auto& crossing : crossings_) {
    std::erase_if(crossing.one, is_gone);
    std::erase_if(crossing.other, is_gone);
  }
  std::erase_if(crossings_, [](const Crossing& crossing) {
    return crossing.one.empty() || crossing.other.empty();
  });
}

/// As long as no slow node is known: with a floor until a team reaches it, else to the end.
bool Bisection::goes_deeper() const {
  // Of four or five nodes two slow ones are rarely in one team.
  constexpr int kMixes = 8;
  constexpr std::size_t kFew = 6;
  if (mixes_ == (names_.size() < kFew ? kMixes : 1) || !in(State::bad).empty()) return false;
  if (!suspicions_.empty()) return false;  // what is between nodes explains the whole
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
  turn(spare, rounds_);
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
    const auto is_known = [&](std::size_t node) { return state_[node] != State::fast; };
    if (std::ranges::any_of(group.nodes, is_known)) group.slow = 0;
    for (auto* nodes : {&group.nodes, &group.one, &group.other}) std::erase_if(*nodes, is_known);
    const auto is_free = [&](std::size_t node) { return free[node] == State::fast; };
    if (group.one.empty() || group.other.empty() || !std::ranges::all_of(group.nodes, is_free))
      continue;
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

/// The nodes of a quarter: 0 and 1 are the one halves and the other ones, 2 and 3 crosswise.
Nodes Bisection::team_of(const Crossing& crossing, std::size_t quarter) const {
  const auto half = [](const Nodes& nodes, bool second) {
    const auto middle = nodes.begin() + static_cast<std::ptrdiff_t>((nodes.size() + 1) / 2);
    return second ? Nodes(middle, nodes.end()) : Nodes(nodes.begin(), middle);
  };
  const bool second = quarter % 2 == 1;
  const auto one = half(crossing.one, second),
             other = half(crossing.other, quarter < 2 ? second : !second);
  if (one.empty() || other.empty()) return {};
  auto team = one;
  append(team, other);
  return team;
}

/// Two quarters at a time, which share no node; of as many crossings as share none either.
void Bisection::plan_crossings() {
  auto free = state_;
  for (std::size_t i = 0; i < crossings_.size(); ++i) {
    auto& crossing = crossings_[i];
    auto all = crossing.one;
    append(all, crossing.other);
    if (!std::ranges::all_of(all, [&](auto node) { return free[node] == State::fast; })) continue;
    for (const auto node : all) free[node] = State::slow;
    if (all.size() == 2 || crossing.is_doubted) {
      trials_.push_back({.role = Role::pair, .own = all, .team = all, .crossing = i});
      continue;
    }
    for (const auto quarter : {crossing.next, crossing.next + 1})
      if (auto team = team_of(crossing, quarter); !team.empty())
        trials_.push_back(
            {.role = Role::cross, .own = team, .team = team, .crossing = i, .quarter = quarter});
    crossing.next += 2;
  }
  // Two nodes reach more than four, and other nodes each time.
  Nodes spare;
  for (std::size_t node = 0; node < free.size(); ++node)
    if (free[node] == State::fast) spare.push_back(node);
  turn(spare, rounds_);
  auto next = spare.begin();
  for (auto& trial : trials_)
    while (trial.team.size() < kLeast && next != spare.end()) trial.team.push_back(*next++);
}

/// Nodes of which it is known what they are, or that left.
std::vector<bool> Bisection::explained() const {
  std::vector<bool> known;
  for (const auto state : state_) known.push_back(state != State::fast && state != State::open);
  return known;
}

/// Once all else is over: small teams of all fast nodes, other ones each time. A node that is slow
/// now and then was fast when it was run again.
void Bisection::plan_watch() {
  constexpr std::size_t kLeastSlowTeams = 2, kFewest = 8, kMany = 16;
  constexpr int kMix = 100;  // other orders than those of plan_level()
  constexpr int kLeastRounds = 6;
  const bool is_open =
      !groups_.empty() || !singles_.empty() || !together_.empty() || !crossings_.empty();
  const auto nodes = in(State::fast);
  if (watched_ == kMostWatchRounds || is_open || nodes.size() < kFewest) return;
  if (watched_ == 0 && node_dips_.slow_teams(explained()) < kLeastSlowTeams) return;
  if (watched_ >= kLeastRounds && !node_dips_.is_any_odd(explained())) return;
  ++watched_;
  const std::size_t size = nodes.size() >= kMany ? kLeast : 2;
  for (auto& team : divided(mixed(nodes, kMix + watched_), nodes.size() / size))
    trials_.push_back({.role = Role::watch, .own = team, .team = team});
}

void Bisection::say_dips() {
  for (const auto& each : node_dips_.suspects(explained())) {
    auto why = named({each.node}) + ": " + words_on(each);
    if (!each.is_sure) {
      undecided({each.node}, std::move(why));
      continue;
    }
    mark({each.node}, State::bad);
    suspect(Kind::node, {each.node}, each.loss, std::move(why));
  }
}

void Bisection::finish() {
  over_ = true;
  say_dips();
  for (const auto& crossing : std::exchange(crossings_, {}))
    say_between(crossing, fmt::format("; not narrowed further within {} rounds", rounds_));
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
  fast_readings_ += static_cast<std::size_t>(std::ranges::count_if(
      trials_, [this](auto& trial) { return trial.role < Role::together && !is_slow(trial); }));
  constexpr std::size_t kSmallTeam = 8;
  for (const auto& trial : trials_) {
    if (trial.role >= Role::together || trial.team.size() > kSmallTeam) continue;
    const double share = trial.rate > 0 ? trial.rate / usual(trial.team.size()) : 0;
    node_dips_.add(trial.team, is_slow(trial) ? 1 - share : 0);
  }
  say_rates();
  if (!trials_.empty() && trials_.front().role == Role::level) take_levels();
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const auto& trial = trials_[i];
    if (trial.role == Role::cross) take_cross(trial);
    if (trial.role == Role::pair) take_pair(trial);
    if (trial.role == Role::half) take_halves(trial, trials_[++i]);
    if (trial.role == Role::again) take_again(trial);
    if (trial.role == Role::control) take_control(trial);
    if (trial.role == Role::together) take_together(trial);
  }
  take_crossings();
}

void Bisection::say_rates() {
  for (const auto& trial : trials_) {
    if (trial.role == Role::control || trial.role == Role::watch) continue;
    const auto of = trial.role == Role::half    ? " of " + named(trial.of.nodes)
                    : trial.role == Role::level ? fmt::format(" of all {}", names_.size())
                    : trial.role == Role::cross ? std::string{" crosswise"}
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
    all_failed_ = true;
    say(fmt::format("{}: the collective over all of them did not come to its end", named(all)));
    if (few) give_up(fmt::format("not bisected: {} nodes are too few to halve", all.size()));
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
    if (is_slow(trial)) {
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
    found.one = one.nodes;
    found.other = other.nodes;
    found.why = fmt::format("{} and {} apart reach {:.1f} and {:.1f}", named(one.nodes),
                            named(other.nodes), one.rate, other.rate);
  }
}

void Bisection::take_halves(const Trial& one, const Trial& other) {
  const auto& group = one.of;
  const double worse = std::min(one.rate, other.rate);
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
  found.one = one.own;
  found.other = other.own;
  found.why = fmt::format("{} and {} apart reach {:.1f} and {:.1f}", named(one.own),
                          named(other.own), one.rate, other.rate);
}

/// What passed for fast beside slower ones may not be.
void Bisection::take_control(const Trial& trial) {
  if (!is_slow(trial)) return;
  mark(trial.own, State::slow);
  groups_.push_back({trial.own, trial.rate, trial.team.size()});
}

/// A reading dips by itself, and hardly each time.
void Bisection::take_again(const Trial& trial) {
  if (!is_slow(trial)) {
    dips_ += static_cast<std::size_t>(trial.of.slow);
    return mark(trial.own, State::fast);
  }
  auto single = trial.of;
  // Where no team of this size came to its end, its own is no evidence against it.
  const bool compares = usual(trial.team.size()) > 0;
  if (may_be_chance(++single.slow) || !compares) return singles_.push_back(std::move(single));
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
  if (trial.rate > 0 && trial.rate >= (1 - kSlow) * group.halves) {
    if (group.slow > 0) dips_ += static_cast<std::size_t>(group.slow) - 1;  // the first is counted
    return say(fmt::format("{}: {:.1f} GB/s together, and {:.1f} when run again: not slow together",
                           named(trial.own), group.rate, trial.rate));
  }
  group.rate = trial.rate;
  if (may_be_chance(++group.slow)) return together_.push_back(std::move(group));
  say(fmt::format("{}: {:.1f} GB/s together, in {} readings one after the other, and {}",
                  named(trial.own), trial.rate, group.slow, group.why));
  crossings_.push_back({.one = group.one,
                        .other = group.other,
                        .group = crossed_.size(),
                        .is_first = true,
                        .rate = trial.rate});
  crossed_.push_back({std::move(group), {}, false});
}

void Bisection::take_cross(const Trial& trial) {
  if (!is_slow(trial)) return;
  auto& crossing = crossings_[trial.crossing];
  crossing.slow.push_back(trial.quarter);
  crossing.rate = crossing.slow.size() == 1 ? trial.rate : std::min(crossing.rate, trial.rate);
}

/// Each time with other nodes beside them.
void Bisection::take_pair(const Trial& trial) {
  auto& crossing = crossings_[trial.crossing];
  if (!is_slow(trial)) {
    dips_ += static_cast<std::size_t>(crossing.readings);
    say(fmt::format("{}: {:.1f} GB/s: not slow together", named(trial.own), trial.rate));
    crossed_[crossing.group].missed = true;
    crossing.one.clear();  // it is over
    return;
  }
  crossing.rate = trial.rate;
  if (may_be_chance(++crossing.readings)) return;
  if (crossing.is_doubted) {
    say_between(crossing, "; no smaller groups of them are slow");
    append(crossed_[crossing.group].named, crossing.one);
    crossing.one.clear();
    return;
  }
  const double loss = 1 - trial.rate / usual(trial.team.size());
  mark(trial.own, State::undecided);
  append(crossed_[crossing.group].named, trial.own);
  suspect(Kind::pair, trial.own, loss,
          fmt::format("{}: {:.1f} GB/s together, {:.0f} % below the best team of {} nodes, in {} "
                      "readings one after the other, and each is fast with others: the path "
                      "between them is slow",
                      named(trial.own), trial.rate, kPercent * loss, trial.team.size(),
                      crossing.readings));
  crossing.one.clear();
}

/// Of those whose four teams have run.
void Bisection::take_crossings() {
  constexpr std::size_t kQuarters = 4;
  auto before = std::exchange(crossings_, {});
  for (auto& crossing : before) {
    // Where one of the first two teams is slow, the path is in it. More of them show later.
    const bool goes_on = crossing.is_doubted || crossing.one.size() + crossing.other.size() == 2 ||
                         (crossing.next < kQuarters && crossing.slow.size() != 1);
    if (goes_on && !crossing.one.empty())
      crossings_.push_back(std::move(crossing));
    else if (!crossing.one.empty())
      conclude(crossing);
  }
  for (const auto& crossing : before)
    if (crossing.one.empty()) end_crossing(crossing);
}

void Bisection::conclude(Crossing& crossing) {
  constexpr std::size_t kQuarters = 4, kMostAtOnce = 16;
  std::size_t teams = 0;
  for (std::size_t quarter = 0; quarter < kQuarters; ++quarter)
    teams += team_of(crossing, quarter).empty() ? 0 : 1;
  const auto& group = crossed_[crossing.group].group;
  const double loss = group.halves > 0 ? 1 - group.rate / group.halves : 1;
  if (crossing.slow.empty() && crossing.is_first) {
    suspect(Kind::whole, group.nodes, loss,
            fmt::format("{}: {:.1f} GB/s together, in {} readings one after the other, and {}; so "
                        "do their halves crosswise: the whole reaches {:.0f} % less than any half "
                        "of it. The fabric between them is oversubscribed, or NCCL works otherwise "
                        "at that size; no node is slow",
                        named(group.nodes), group.rate, group.slow, group.why, kPercent * loss));
  } else if (crossing.slow.empty()) {
    // They were slow once, which may have been a dip.
    crossing.is_doubted = true;
    crossing.readings = 0;
    crossings_.push_back(std::move(crossing));
    return;
  } else if (crossing.slow.size() == teams || crossings_.size() >= kMostAtOnce) {
    say_between(crossing, "");
    append(crossed_[crossing.group].named, crossing.one);
  } else {
    for (const auto quarter : crossing.slow) {
      const auto nodes = team_of(crossing, quarter);
      Crossing smaller{.group = crossing.group, .rate = crossing.rate};
      for (const auto node : nodes) {
        const bool is_one = std::ranges::find(crossing.one, node) != crossing.one.end();
        (is_one ? smaller.one : smaller.other).push_back(node);
      }
      crossings_.push_back(std::move(smaller));
    }
    return;
  }
  crossing.one.clear();
}

/// What is left of the group once those who are named are out of it, is run again: there may be
/// more of them.
void Bisection::end_crossing(const Crossing& ended) {
  const bool goes_on = std::ranges::any_of(
      crossings_, [&](const Crossing& each) { return each.group == ended.group; });
  auto& [group, gone, missed] = crossed_[ended.group];
  if (goes_on || (gone.empty() && !missed)) return;
  missed = false;
  const auto is_named = [&gone](std::size_t node) {
    return std::ranges::find(gone, node) != gone.end();
  };
  auto rest = group;
  for (auto* nodes : {&rest.nodes, &rest.one, &rest.other}) std::erase_if(*nodes, is_named);
  rest.slow = 0;
  rest.size = rest.nodes.size();  // nobody beside them: those who are named would be among them
  gone.clear();
  together_.push_back(std::move(rest));
}

void Bisection::say_between(const Crossing& crossing, std::string_view how) {
  const auto& group = crossed_[crossing.group].group;
  const double usually = group.halves;
  suspicions_.push_back(
      {Kind::between, crossing.one, crossing.other,
       usually > 0 ? std::clamp(1 - crossing.rate / usually, 0.0, 1.0) : 1,
       fmt::format(
           "{} with {}: {:.1f} GB/s, and each of the two by itself is fast: what joins them "
           "is slow{}",
           named(crossing.one), named(crossing.other), crossing.rate, how)});
  say(suspicions_.back().why);
}

}  // namespace cupel::burnin::fabric
