#include "burnin/fabric/screen.h"

#include <algorithm>
#include <cmath>

#include "burnin/fabric/next_test.h"

namespace cupel::burnin::fabric {
namespace {

constexpr double kClearlyFast = -2, kClearlySlow = 9;  // nats of one flow
constexpr std::size_t kControls = 256;

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

/// Once the fixed rounds are through: what settles open questions, and then what is slow without a
/// cause, once more.
std::vector<Flow> PairScreen::flows_beyond() {
  const auto found = culprits();
  const auto asked = round_ - fixed_.size();
  if (again_.empty() && asked < static_cast<std::size_t>(options_.more_rounds))
    if (auto flows = next_test(topology_, readings_, found, absent_); !flows.empty()) return flows;
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

/// Of each kind of flow so many, all over the fleet.
bool PairScreen::is_control(FlowId id) const {
  return (id - begin_) % std::max(first_.size() / kControls, std::size_t{1}) == 0;
}

bool PairScreen::wants_repeat(FlowId id) const {
  const double first = first_[id - begin_];
  const auto kind = kind_of(id);
  if (std::isnan(first)) return false;
  if (!known_[kind] && is_control(id)) return true;
  const double evidence = known_[kind] ? readings_.evidence(id) : limits_[kind].evidence(first);
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

void PairScreen::keep(FlowId id, double share) {
  if (std::isnan(share)) return;
  const auto& limits = limits_[kind_of(id)];
  readings_.read(id, share / limits.usual, limits.evidence(share));
}

/// Of kinds that were never measured before, by these alone.
void PairScreen::learn_first(std::span<const double> readings) {
  first_.assign(readings.begin(), readings.end());
  first_.resize(ids_.size(), std::nan(""));
  for (const std::size_t kind : {0, 1}) {
    if (known_[kind]) continue;
    std::vector<double> of_kind;
    for (const auto id : ids_)
      if (kind_of(id) == kind && !std::isnan(first_[id - begin_]))
        of_kind.push_back(first_[id - begin_]);
    if (!of_kind.empty()) limits_[kind] = learn_limits(of_kind, {}, options_.floor);
  }
  for (const auto id : ids_)
    if (known_[kind_of(id)]) keep(id, first_[id - begin_]);
}

/// Once how readings of one flow differ is known too, the first readings count.
void PairScreen::learn_repeated(std::span<const double> readings) {
  const auto end = static_cast<FlowId>(readings_.size());
  for (const std::size_t kind : {0, 1}) {
    if (known_[kind]) continue;
    std::vector<double> of_kind;
    for (auto id = begin_; id < end; ++id)
      if (kind_of(id) == kind && !std::isnan(first_[id - begin_]))
        of_kind.push_back(first_[id - begin_]);
    if (of_kind.empty()) continue;
    std::vector<Repeated> repeated;
    for (std::size_t i = 0; i < readings.size(); ++i)
      if (kind_of(ids_[i]) == kind && is_control(ids_[i]) && !std::isnan(readings[i]))
        repeated.push_back({first_[ids_[i] - begin_], readings[i]});
    limits_[kind] = learn_limits(of_kind, repeated, options_.floor);
    known_[kind] = true;
    for (auto id = begin_; id < end; ++id)
      if (kind_of(id) == kind) keep(id, first_[id - begin_]);
  }
}

void PairScreen::take(std::span<const double> readings) {
  readings = readings.first(std::min(readings.size(), ids_.size()));
  if (repeat_ == 0) {
    learn_first(readings);
  } else {
    if (repeat_ == 1) learn_repeated(readings);
    for (std::size_t i = 0; i < readings.size(); ++i) keep(ids_[i], readings[i]);
  }
  if (begin_repeat()) return;
  if (repeat_ <= 1) {  // nothing was repeated
    ids_.clear();
    learn_repeated({});
  }
  begin_round();
}

Culprits PairScreen::culprits() const {
  return find_culprits(topology_, readings_, std::max(limits_[0].noise, limits_[1].noise));
}

bool PairScreen::below_floor(bool across) const {
  return options_.floor > 0 && limits(across).usual < options_.floor;
}

}  // namespace cupel::burnin::fabric
