#include "orchestrator/steps/fleet_board.h"

#include <set>

#include "burnin/companions.h"
#include "burnin/criteria/fleet_measures.h"
#include "inventory/model.h"
#include "inventory/subject.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/fleet_codec.h"
#include "orchestrator/store/earlier.h"

namespace cupel::steps {
namespace {

constexpr int kFew = 16;  // nodes of a run: with fewer, earlier runs are asked

}  // namespace

Result<int> add_earlier(const std::filesystem::path& folder, engine::RunId before,
                        const std::string& profile, burnin::FleetSamples& samples) {
  constexpr std::size_t kMostRuns = 8;
  const auto units = burnin::fleet_units();
  TRY(const auto values,
      store::earlier_values(
          folder, {.profile = profile, .before = before, .most_runs = kMostRuns, .units = units}));
  // The newest run comes first: what a later one has of a node and a stage is not replaced.
  std::map<std::pair<std::string, std::string>, std::pair<engine::RunId, burnin::Findings>> found;
  for (const auto& each : values) {
    const auto subject = inventory::parse_subject(each.subject);
    const bool of_node = subject && (subject->kind == inventory::Subject::Kind::node ||
                                     subject->kind == inventory::Subject::Kind::part);
    if (!of_node || samples.has(subject->name)) continue;
    auto& [run, findings] = found[{subject->name, each.stage}];
    if (run == 0) run = each.run;
    if (run == each.run)
      findings.measurements.push_back({each.measure, subject->part, each.value, each.unit});
  }
  std::set<std::string> nodes;
  for (const auto& [key, of_run] : found) {
    samples.take(key.first, key.second, of_run.second);
    nodes.insert(key.first);
  }
  return static_cast<int>(nodes.size());
}

void FleetBoard::take(OfProfile& of, const engine::Event& event) {
  if (event.data.contains("measurements")) {
    of.samples.take(event.node, event.step, record::findings_from(event.data));
    ++of.taken;
  }
  const auto* beside = event.data.if_contains("beside");
  if (beside == nullptr || !beside->is_object()) return;
  for (const auto& [companion, found] : beside->get_object())
    if (found.is_object())
      of.samples.take(event.node, burnin::companion_name(companion, event.step),
                      record::findings_from(found.get_object()));
}

Result<void> FleetBoard::catch_up(const store::Store& store, engine::RunId run,
                                  const inventory::Inventory& inventory) {
  TRY(auto events, store.events_after(run, read_));
  if (events.empty()) return ok();
  const auto last = events.back().sequence;
  std::erase_if(events, [](const engine::Event& event) {
    const bool counts = event.kind == engine::EventKind::step_ended || is_tried_by_a_person(event);
    return !counts || event.node.empty();
  });
  record::hand_out(store, events);
  for (const auto& event : events) {
    if (!first_looks_.takes(event)) continue;
    const auto* node = inventory.node(event.node);
    if (node != nullptr) take(profiles_[node->profile], event);
  }
  read_ = last;
  return ok();
}

Result<std::shared_ptr<const FleetBoard::Learned>> FleetBoard::learned(
    store::Store& store, engine::RunId run, const inventory::Inventory& inventory,
    const std::string& profile, const burnin::FleetLimits& limits, bool whole) {
  TRY(catch_up(store, run, inventory));
  auto& of = profiles_[profile];
  constexpr std::size_t kTwentieth = 20, kQuarter = 4;  // of what it was learned from
  const bool more = of.taken > of.learned_at + of.learned_at / (whole ? kTwentieth : kQuarter);
  if (of.learned && !more) return of.learned;
  auto learned = std::make_shared<Learned>();
  learned->nodes = static_cast<int>(of.samples.nodes());
  auto samples = of.samples.nodes() < kFew ? of.samples : burnin::FleetSamples{};
  if (learned->nodes < kFew) {
    TRY(learned->earlier, add_earlier(store.folder(), run, profile, samples));
    learned->reference = samples.learn(limits);
  } else {
    learned->reference = of.samples.learn(limits);
  }
  if (!learned->reference.series.empty()) {
    const auto text = record::to_text(learned->reference);
    TRY(learned->evidence, store.keep_evidence(text));
    // To the last digit what a verdict that is made again will read.
    TRY(learned->reference, record::fleet_reference_from(text));
  }
  of.learned_at = of.taken;
  of.learned = std::move(learned);
  return of.learned;
}

std::span<const burnin::NodeInStage> FleetBoard::nodes_in(const std::string& profile,
                                                          const std::string& stage) {
  auto& of = profiles_[profile];
  if (!of.learned) return {};
  if (of.in_stage_at != of.taken) of.in_stage.clear();
  of.in_stage_at = of.taken;
  const auto [found, fresh] = of.in_stage.try_emplace(stage);
  if (fresh) found->second = of.samples.nodes_in(of.learned->reference, stage);
  return found->second;
}

}  // namespace cupel::steps
