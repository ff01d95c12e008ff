#include "burnin/fabric/screen.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "burnin/fabric/next_test.h"

namespace cupel::burnin::fabric {
namespace {

constexpr double kClearlyFast = -2, kClearlySlow = 9;  // nats of one flow
/// Of each kind of flow, all over the fleet, in its first rounds: read three times, whatever the
/// first reading is. How well noise can be distinguished from links that differ for good depends on
/// how many they are.
constexpr std::size_t kControls = 2048;
constexpr int kRoundsOfControls = 2, kRepeatsOfControls = 2;
/// Nats: what one dip of eight readings says in a fleet that hardly dips; and what is left of it
/// once a healthy part was read more often.
constexpr float kMayDip = 1, kDipsAgain = 4, kDipsForCertain = 24;

std::size_t flow_count(const std::vector<Round>& rounds, int rails) {
  std::size_t pairs = 0;
  for (const auto& round : rounds) pairs += round.size();
  return 2 * pairs * static_cast<std::size_t>(std::max(rails, 0));
}

}  // namespace

PairScreen::PairScreen(Wiring wiring, ScreenOptions options)
    : topology_{std::move(wiring)},
      options_{options},
      fixed_{fixed_rounds(topology_)},
      readings_{topology_, flow_count(fixed_, topology_.wiring().rails)},
      absent_(static_cast<std::size_t>(topology_.wiring().nodes)) {
  begin_round();
}

void PairScreen::leave(int node) { absent_.at(static_cast<std::size_t>(node)) = true; }

/// Of parts that dipped more often than the fleet does: often enough to name or clear them.
std::vector<Flow> PairScreen::flows_for_dips() {
  if (rounds_for_dips_ == options_.rounds_for_dips) return {};
  const auto scores = dip_scores(readings_, false), certain = dip_scores(readings_, true);
  const float least = rounds_for_dips_ == 0 ? kMayDip : kDipsAgain;
  std::vector<PartId> suspects;
  for (PartId part = 0; part < scores.size(); ++part) {
    const auto kind = topology_.part(part).kind;
    // A node whose links all come and go shows by them.
    const bool can_be = kind == PartKind::access || kind == PartKind::uplink;
    // Readings across unknown routes raise the suspicion alone: they name none.
    if (can_be && topology_.whole(part) == part && scores[part] >= least &&
        certain[part] < kDipsForCertain)
      suspects.push_back(part);
  }
  std::ranges::stable_sort(suspects, std::greater{}, [&](PartId part) { return scores[part]; });
  auto flows = test_of_parts(readings_, suspects, absent_, rounds_for_dips_);
  if (!flows.empty()) ++rounds_for_dips_;
  return flows;
}

/// Once the fixed rounds are through: what settles open questions, who comes and goes, and then
/// what is slow without a cause, once more.
std::vector<Flow> PairScreen::flows_beyond() {
  const auto found = culprits();
  for_dips_ = false;
  if (std::exchange(asks_again_, false)) return next_test(readings_, found, absent_);
  if (again_.empty() && rounds_for_dips_ == 0 && rounds_of_questions_ < options_.more_rounds)
    if (auto flows = next_test(readings_, found, absent_); !flows.empty()) {
      ++rounds_of_questions_;
      return flows;
    }
  if (again_.empty())
    if (auto flows = flows_for_dips(); !flows.empty()) {
      for_dips_ = true;
      return flows;
    }
  if (rounds_again_ == options_.rounds_again) return {};
  ++rounds_again_;
  auto flows = unexplained_again(readings_, found, again_, absent_);
  again_.insert(again_.end(), flows.begin(), flows.end());
  return flows;
}

std::vector<Flow> PairScreen::flows_of_round() {
  if (round_ >= fixed_.size()) return flows_beyond();
  std::vector<Flow> flows;
  for (const auto& pair : fixed_[round_])
    if (!absent_[static_cast<std::size_t>(pair.one)] &&
        !absent_[static_cast<std::size_t>(pair.other)])
      add_flows(topology_, pair, flows);
  return flows;
}

void PairScreen::begin_round() {
  repeat_ = 0;
  ids_.clear();
  begin_ = static_cast<FlowId>(readings_.size());
  asked_ = flows_of_round();
  while (asked_.empty() && round_ < fixed_.size()) {
    ++round_;
    asked_ = flows_of_round();
  }
  if (asked_.empty()) return;
  ++round_;
  for (const auto& flow : asked_) ids_.push_back(readings_.add(flow));
}

bool PairScreen::is_control(FlowId id) const {
  if (round_ > fixed_.size() || rounds_of_controls_[readings_.kind(id)] == kRoundsOfControls)
    return false;
  return (id - begin_) % std::max(first_.size() / kControls, std::size_t{1}) == 0;
}

bool PairScreen::wants_repeat(FlowId id) const {
  if (std::isnan(first_[id - begin_])) return false;
  if (for_dips_ || (repeat_ < kRepeatsOfControls && is_control(id))) return true;
  const double evidence = readings_.evidence(id);
  return evidence > kClearlyFast && evidence < kClearlySlow;
}

bool PairScreen::begin_repeat() {
  const bool fixed = round_ <= fixed_.size();
  if (repeat_ >= (fixed ? options_.repeats : options_.repeats_in_doubt)) return false;
  ids_.clear();
  asked_.clear();
  for (auto id = begin_; id < readings_.size(); ++id)
    if (wants_repeat(id) && !absent_[static_cast<std::size_t>(readings_.flow(id).from)] &&
        !absent_[static_cast<std::size_t>(readings_.flow(id).to)]) {
      ids_.push_back(id);
      asked_.push_back(readings_.flow(id));
    }
  ++repeat_;
  return !asked_.empty();
}

/// By all fixed rounds so far, so that what the first of them taught is not all: a few slow nodes
/// are many flows of one round.
void PairScreen::learn() {
  LimitsOfKinds limits;
  limits[0] = learn_limits(firsts_[0], repeated_[0], options_.floor);
  const bool has_inside = firsts_[0].size() >= 8;
  limits[1] =
      learn_limits(firsts_[1], repeated_[1], options_.floor, has_inside ? &limits[0] : nullptr);
  readings_.judge_by(limits);
}

void PairScreen::take(std::span<const double> readings) {
  readings = readings.first(std::min(readings.size(), ids_.size()));
  const bool fixed = round_ <= fixed_.size();
  if (repeat_ == 0) {
    first_.assign(readings.begin(), readings.end());
    first_.resize(ids_.size(), std::nan(""));
    second_.assign(ids_.size(), std::nan(""));
  }
  std::array<bool, 2> has_controls{};
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (std::isnan(readings[i])) continue;
    const auto kind = readings_.kind(ids_[i]);
    const auto at = ids_[i] - begin_;
    if (fixed && repeat_ == 0) firsts_[kind].push_back(readings[i]);
    if (repeat_ == 1) second_[at] = readings[i];
    if (repeat_ == kRepeatsOfControls && is_control(ids_[i]) && !std::isnan(second_[at])) {
      repeated_[kind].push_back({first_[at], second_[at], readings[i]});
      has_controls[kind] = true;
    }
    readings_.read(ids_[i], readings[i]);
  }
  for (const std::size_t kind : {0, 1}) rounds_of_controls_[kind] += has_controls[kind] ? 1 : 0;
  if (fixed && repeat_ <= kRepeatsOfControls) learn();
  if (begin_repeat()) return;
  begin_round();
}

void PairScreen::learn_routes(std::span<const TracedFlow> traced) {
  if (traced.empty()) return;
  for (const auto& [flow, route] : traced) topology_.learn(flow, route);
  readings_.take_routes();
}

void PairScreen::ask_again() {
  if (!asked_.empty() || rounds_of_traces_ == options_.rounds_of_traces) return;
  ++rounds_of_traces_;
  asks_again_ = true;
  begin_round();
}

Culprits PairScreen::culprits() const { return find_culprits(readings_); }

bool PairScreen::below_floor(bool across) const {
  if (options_.floor <= 0) return false;
  const auto& readings = firsts_[across ? 1 : 0];
  if (readings.empty()) return limits(across).usual < options_.floor;
  std::vector<double> all{readings};
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  return *middle < options_.floor;
}

}  // namespace cupel::burnin::fabric
