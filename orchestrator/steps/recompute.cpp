#include "orchestrator/steps/recompute.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "base/json.h"
#include "burnin/companions.h"
#include "burnin/criteria/causes.h"
#include "burnin/criteria/compared_causes.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/engine/fold.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/fleet_codec.h"
#include "orchestrator/steps/comparison.h"
#include "orchestrator/steps/first_looks.h"
#include "orchestrator/steps/part_places.h"
#include "orchestrator/steps/rack_domains.h"
#include "orchestrator/steps/second_look.h"
#include "orchestrator/steps/uniformity.h"
#include "orchestrator/steps/verdict.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps {
namespace {

using engine::Event;
using engine::text_in;

constexpr auto kWholeRun = std::numeric_limits<std::int64_t>::max();

/// A verdict as the journal has it.
struct Judged {
  const Event* event = nullptr;
  std::int64_t events = 0;  // of the run, that it was made of
  std::vector<engine::RunId> history{};
};

Judged judged_of(const Event& event) {
  Judged judged{&event, event.sequence - 1, {}};
  const auto* basis = event.data.if_contains("basis");
  if (basis == nullptr || !basis->is_object()) return judged;
  if (const auto* events = basis->get_object().if_contains("events"); events && events->is_int64())
    judged.events = events->get_int64();
  if (const auto* runs = basis->get_object().if_contains("history"); runs && runs->is_array())
    for (const auto& run : runs->get_array())
      if (run.is_int64()) judged.history.push_back(run.get_int64());
  return judged;
}

void take_samples(const Event& event, burnin::FleetSamples& samples) {
  if (event.data.contains("measurements"))
    samples.take(event.node, event.step, record::findings_from(event.data));
  const auto* beside = event.data.if_contains("beside");
  if (beside == nullptr || !beside->is_object()) return;
  for (const auto& [companion, found] : beside->get_object())
    if (found.is_object())
      samples.take(event.node, burnin::companion_name(companion, event.step),
                   record::findings_from(found.get_object()));
}

class Recomputer {
 public:
  Recomputer(const store::Store& store, const inventory::Inventory& inventory,
             const playbooks::Plan& plan, const RecomputeRequest& request)
      : store_{store}, inventory_{inventory}, plan_{plan}, request_{request} {}

  Result<std::vector<Recomputed>> all() {
    TRY(events_, store_.events(request_.run));
    record::hand_out(store_, events_);
    gather();
    std::ranges::sort(verdicts_, {}, &Judged::events);
    std::map<std::string, Recomputed, std::less<>> done;
    state_ = engine::initial_state(plan_);
    // With all that nodes reported, those that were judged before as well.
    if (request_.whole) advance(kWholeRun);
    for (const auto& judged : verdicts_) {
      advance(judged.events);
      const auto* node = inventory_.node(judged.event->node);
      if (node == nullptr) continue;
      TRY(done[node->name], again(judged, *node));
    }
    std::vector<Recomputed> in_order;
    for (const auto& node : inventory_.nodes)
      if (const auto found = done.find(node.name); found != done.end())
        in_order.push_back(std::move(found->second));
    return in_order;
  }

 private:
  /// The newest verdict of each node; and what all nodes measured, by profile.
  void gather() {
    std::map<std::string, const Event*, std::less<>> newest;
    FirstLooks first_looks;
    for (const auto& event : events_) {
      by_node_[event.node].push_back(&event);
      const bool is_first = first_looks.takes(event);
      if (event.kind != engine::EventKind::step_ended) continue;
      if (event.data.contains("verdict")) newest[event.node] = &event;
      const auto* node = request_.whole && is_first ? inventory_.node(event.node) : nullptr;
      if (node != nullptr) take_samples(event, samples_[node->profile]);
    }
    for (const auto& [node, event] : newest) verdicts_.push_back(judged_of(*event));
  }

  /// What nodes had reported until then.
  void advance(std::int64_t until) {
    for (; next_ < events_.size() && events_[next_].sequence <= until; ++next_)
      engine::apply(state_, events_[next_]);
  }

  /// The node's events before this one.
  std::vector<Event> events_before(const std::string& node, std::int64_t sequence) const {
    std::vector<Event> until;
    const auto of_node = by_node_.find(node);
    if (of_node == by_node_.end()) return until;
    for (const auto* event : of_node->second)
      if (event->sequence < sequence) until.push_back(*event);
    return until;
  }
  record::NodeRecord record_before(const std::string& node, std::int64_t sequence) const {
    return record::record_of(node, engine::fold(events_before(node, sequence)));
  }

  const inventory::Profile& profile_of(const inventory::Node& node) const {
    const bool replaced = request_.profile && request_.profile->name == node.profile;
    return replaced ? *request_.profile : inventory_.profile_of(node);
  }

  /// Of the verdict step that was judged: a playbook may have several ("verdict@final"). One that
  /// the plan no longer has by its name was judged by the first.
  Result<burnin::FleetCriteria> criteria_of(const inventory::Node& node,
                                            std::string_view judged) const {
    const playbooks::PlannedStep* found = nullptr;
    for (const auto& each : plan_.nodes) {
      if (each.node->name != node.name) continue;
      for (const auto& step : *each.steps) {
        if (step.kind != playbooks::StepKind::verdict) continue;
        if (found == nullptr || step.name == judged) found = &step;
      }
    }
    if (found == nullptr) return burnin::FleetCriteria{};
    return burnin::fleet_criteria(found->with);
  }

  /// What the node is compared with; without any series where it is not compared.
  Result<std::shared_ptr<const burnin::FleetReference>> reference_of(
      const Judged& judged, const inventory::Node& node, const burnin::FleetCriteria& criteria) {
    const auto none = std::make_shared<const burnin::FleetReference>();
    if (!criteria.judge) return none;
    if (request_.whole) {
      auto& learned = learned_[node.profile];
      if (!learned)
        learned = std::make_shared<const burnin::FleetReference>(
            samples_[node.profile].learn(criteria.limits()));
      return learned;
    }
    const auto evidence = text_in(*judged.event, "evidence");
    if (evidence.empty()) return none;
    TRY(const auto text, store_.evidence(evidence));
    TRY(auto reference, record::fleet_reference_from(text));
    return std::make_shared<const burnin::FleetReference>(std::move(reference));
  }

  Result<Recomputed> again(const Judged& judged, const inventory::Node& node) {
    Recomputed result{.node = node.name, .profile = node.profile};
    result.recorded = record::verdict_from(judged.event->data);
    auto record = record_before(node.name, judged.event->sequence);
    name_missing_parts(record, inventory_, node, state_);
    const auto findings = findings_to_compare(record);
    TRY(const auto criteria, criteria_of(node, judged.event->step));
    TRY(const auto reference, reference_of(judged, node, criteria));
    result.compared = burnin::compare(*reference, findings);
    if (criteria.history && !judged.history.empty()) {
      TRY(auto earlier, earlier_of(store_, request_.run, node, record));
      std::set<engine::RunId> missing(judged.history.begin(), judged.history.end());
      std::erase_if(earlier, [&](const burnin::EarlierValue& each) {
        return std::ranges::find(judged.history, each.run) == judged.history.end();
      });
      for (const auto& each : earlier) missing.erase(each.run);
      if (!missing.empty())
        result.note = fmt::format(
            "run {} is no longer in the store, or does not count as an earlier run "
            "of this machine that it passed: not compared with it again",
            *missing.begin());
      auto own = burnin::compare_with_history(earlier, findings, day_of(record), criteria);
      std::ranges::move(own, std::back_inserter(result.compared));
    }
    TRY(mark_repeated(store_, request_.run, node.name, record, result.compared));
    const auto look = second_look_of(events_before(node.name, judged.event->sequence));
    if (look) {
      const EventsOf events_of = [&](const std::string& other) {
        return Result<std::vector<Event>>{events_before(other, judged.events + 1)};
      };
      TRY(hold_against_first_look(*look, node.name, events_of, *reference, result.compared));
    }
    auto differences = version_differences(inventory_, node, state_);
    std::ranges::move(rack_differences(inventory_, node, state_), std::back_inserter(differences));
    std::ranges::move(burnin::causes_of(result.compared), std::back_inserter(differences));
    result.now = decide(profile_of(node), record, std::move(differences));
    if (look) leave_open_what_is_new(*look, result.now);
    result.now.slow = burnin::slow_ones(result.compared);
    // As the run's own report: with what stages behind the verdict have read of the events, too.
    if (burnin::causes().asks_for_order(result.now.causes))
      result.findings = record_before(node.name, kWholeRun).findings;
    return result;
  }

  const store::Store& store_;
  const inventory::Inventory& inventory_;
  const playbooks::Plan& plan_;
  const RecomputeRequest& request_;
  std::vector<Event> events_{};
  std::map<std::string, std::vector<const Event*>, std::less<>> by_node_{};
  std::vector<Judged> verdicts_{};
  std::map<std::string, burnin::FleetSamples> samples_{};
  std::map<std::string, std::shared_ptr<const burnin::FleetReference>> learned_{};
  engine::RunState state_{};
  std::size_t next_ = 0;
};

}  // namespace

/// Both as a journal has them: a number that was written and read may differ in its last digit.
bool Recomputed::is_same() const {
  const auto written = parse_json(json::serialize(record::to_json(now)));
  return written && written->is_object() &&
         record::to_json(record::verdict_from(written->get_object())) ==
             record::to_json(record::verdict_from(record::to_json(recorded)));
}

Result<std::vector<Recomputed>> recompute(const store::Store& store,
                                          const inventory::Inventory& inventory,
                                          const playbooks::Plan& plan,
                                          const RecomputeRequest& request) {
  return Recomputer{store, inventory, plan, request}.all();
}

}  // namespace cupel::steps
