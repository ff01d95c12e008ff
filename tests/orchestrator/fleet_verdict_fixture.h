#pragma once
// A run of eight machines with eight GPUs each, of which one stage measures a rate, and the
// verdicts on them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "burnin/verdict_text.h"
#include "inventory/model.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/steps/recompute.h"
#include "orchestrator/steps/step_type.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/orchestrator/store_fixture.h"
#include "tests/support/synthetic_fleet.h"

namespace cupel::steps {

using engine::EventKind;
using engine::Outcome;
using playbooks::StepKind;

inline constexpr int kNodes = 8, kGpus = 8;

class FleetVerdict : public store::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    store_ = open();
    ASSERT_TRUE(store_);
    inventory::Criterion criterion{.stage = "hbm", .measure = "hbm.copy"};
    for (int i = 0; i < kGpus; ++i) criterion.parts.push_back(fmt::format("gpu{}", i));
    criterion.at_least = 2500;
    criterion.unit = "GB/s";
    auto& profile = inventory_.profiles["one"];
    profile.name = "one";
    profile.criteria = {criterion};
    for (int i = 0; i < kNodes; ++i) {
      auto& node = inventory_.nodes.emplace_back();
      node.name = name(i);
      node.profile = "one";
    }
    planned_ = std::make_shared<std::vector<playbooks::PlannedStep>>(2);
    (*planned_)[0].kind = StepKind::stage;
    (*planned_)[0].name = "hbm";
    (*planned_)[1].kind = StepKind::verdict;
    (*planned_)[1].name = "verdict";
    (*planned_)[1].with = {{"fleet", "yes"}};
  }

  static std::string name(int index) { return fmt::format("n{}", index); }

  void begin() {
    std::vector<std::string> names;
    for (const auto& node : inventory_.nodes) names.push_back(node.name);
    run_ = store_->begin_run(run_on(names)).value();
    auto started = event(EventKind::run_started);
    boost::json::array nodes;
    for (const auto& each : names) nodes.push_back({{"name", each}, {"profile", "one"}});
    started.data["nodes"] = std::move(nodes);
    ASSERT_TRUE(store_->append(run_, started));
    state_ = {};
    board_ = std::make_shared<FleetBoard>();
    for (const auto& each : names) {
      auto& node = state_.nodes[each];
      node.planned = planned_;
      node.steps.resize(2);
      node.steps[0].attempt = 1;
    }
  }

  void end_run() { ASSERT_TRUE(store_->append(run_, *made(EventKind::run_ended))); }

  /// The stage has ended on the node; of `slow` GPUs each gives this share.
  void measure(const std::string& node, std::map<int, double> slow = {}) {
    burnin::Findings findings;
    for (int i = 0; i < kGpus; ++i) {
      const auto draw = rehearsal::Draw{static_cast<std::uint64_t>(run_)}.of(node).of(
          static_cast<std::uint64_t>(i));
      const double share = slow.contains(i) ? slow.at(i) : 1;
      findings.measurements.push_back({"hbm.copy", fmt::format("gpu{}", i),
                                       3000 * share * (1 + 0.003 * fleets::normal(draw)), "GB/s"});
      if (serials_.contains(i))
        findings.parts.push_back({.kind = inventory::PartKind::gpu,
                                  .name = fmt::format("gpu{}", i),
                                  .serial = serials_.at(i)});
    }
    auto began = made(EventKind::step_began, node, "hbm");
    began->data = {{"attempt", 1}};
    ASSERT_TRUE(store_->append(run_, *began));
    auto ended = made(EventKind::step_ended, node, "hbm");
    ended->data = record::to_json(findings);
    ended->data["outcome"] = "done";
    ended->data["facts"] = {{"system.serial", chassis_ + node}};  // no two machines share one
    ASSERT_TRUE(store_->append(run_, *ended));
    state_.nodes[node].steps[0].phase = engine::StepState::Phase::done;
  }

  /// A run that is over, with a verdict for each node.
  void run_whole(const std::string& slow = {}, std::map<int, double> parts = {}) {
    begin();
    measure_all(slow, std::move(parts));
    for (const auto& node : inventory_.nodes) judge_and_write(node.name);
    end_run();
  }

  void run_audit() {
    begin();
    end_run();
  }

  void measure_all(const std::string& slow, std::map<int, double> parts) {
    for (const auto& node : inventory_.nodes)
      measure(node.name, node.name == slow ? parts : std::map<int, double>{});
    for (auto& [node, state] : state_.nodes) state.steps[1].attempt = 1;
  }

  engine::StepEnd judge(const std::string& node, std::chrono::seconds patience = seconds{60},
                        std::size_t step = 1) {
    StepEnvironment doors{inventory_, *store_, {}, {}, nullptr};
    doors.fleet = board_;
    const auto stop = engine::Stop::no;
    const engine::StepRequest request{run_,
                                      *inventory_.node(node),
                                      {},
                                      (*planned_)[step],
                                      1,
                                      {},
                                      Deadline::in(patience),
                                      stop,
                                      {},
                                      [this](const std::string& what) {
                                        waited_for_.push_back(what);
                                        if (on_waiting_) on_waiting_(what);
                                      },
                                      &state_};
    asio::io_context io;
    auto ended = run_to_end(io, step_type(StepKind::verdict).perform(doors, request));
    EXPECT_TRUE(ended) << (ended ? "" : ended.error().what);
    return ended ? *std::move(ended) : engine::StepEnd{};
  }

  /// As the engine writes it.
  std::vector<std::string> judge_and_write(const std::string& node) {
    auto end = judge(node);
    auto ended = made(EventKind::step_ended, node, "verdict");
    ended->data = end.found;
    ended->data["outcome"] = "done";
    EXPECT_TRUE(store_->append(run_, *ended));
    std::vector<std::string> words;
    for (const auto& cause : record::verdict_from(end.found).causes)
      words.push_back(burnin::to_string(cause));
    return words;
  }

  /// As the run's record has it.
  burnin::Verdict recorded_of(engine::RunId run, const std::string& node) const {
    const auto record = record::node_record(*store_, run, node);
    EXPECT_TRUE(record && record->verdict);
    return record && record->verdict ? *record->verdict : burnin::Verdict{};
  }

  playbooks::Plan plan() const {
    playbooks::Plan plan;
    for (const auto& node : inventory_.nodes) plan.nodes.push_back({&node, planned_});
    return plan;
  }

  std::vector<Recomputed> again(RecomputeRequest request) {
    request.run = run_;
    const auto made = plan();
    auto all = recompute(*store_, inventory_, made, request);
    EXPECT_TRUE(all) << (all ? "" : all.error().what);
    return all ? *std::move(all) : std::vector<Recomputed>{};
  }

  std::function<void(const std::string&)> on_waiting_{};
  std::vector<std::string> waited_for_{};

  static std::unique_ptr<engine::Event> made(EventKind kind, std::string node = {},
                                             std::string step = {}) {
    return std::make_unique<engine::Event>(event(kind, std::move(node), std::move(step)));
  }

  using seconds = std::chrono::seconds;
  std::unique_ptr<store::Store> store_{};
  inventory::Inventory inventory_{};
  std::shared_ptr<std::vector<playbooks::PlannedStep>> planned_{};
  engine::RunState state_{};
  std::shared_ptr<FleetBoard> board_{};
  engine::RunId run_ = 0;
  std::map<int, std::string> serials_{};  // of GPUs that report one
  std::string chassis_ = "CHASSIS1";
};

}  // namespace cupel::steps
