#pragma once
// Stages on a real sshd, one after the other, each with its end in a journal: for what is read
// around stages and while they run.
#include "burnin/job.h"
#include "inventory/load_profile.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/steps/node_steps.h"
#include "playbooks/fwd.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/orchestrator/node.h"
#include "tests/support/captures.h"
#include "tests/support/fake_bmc.h"

namespace cupel::steps {

using namespace std::chrono_literals;

class StagesOnANode : public ssh::OnANode {
 protected:
  static inventory::Profile dgx() {
    std::vector<inventory::Problem> problems;
    return inventory::ProfileSource{"/nowhere"}.load("dgx-h100", problems).value();
  }

  /// Once OnANode is set up.
  void begin(inventory::Profile profile) {
    inventory.profiles.emplace("dgx-h100", std::move(profile));
    node.name = "a01-n01";
    node.profile = "dgx-h100";
    planned.kind = playbooks::StepKind::stage;
    run = store->begin_run({.playbook = "p", .nodes = {node.name}}).value();
  }

  StepEnvironment doors() {
    StepEnvironment all{
        inventory, *store,
        [this](const inventory::Node& which) {
          const auto other = others.find(which.name);
          return std::make_unique<test::FakeBmc>(other == others.end() ? machine : other->second);
        },
        [this](const inventory::Node&, Deadline deadline) {
          return ssh::connect("a01-n01", sshd_->access(), known, deadline);
        },
        nullptr};
    all.board = board;
    all.programs = programs;
    return all;
  }

  engine::StepRequest request_for(const std::string& name, const std::string& script,
                                  const std::function<void()>& meanwhile) {
    planned.name = name;
    planned.job = burnin::Job{script, 1s, 60s};
    return {run,
            node,
            {},
            planned,
            1,
            {},
            Deadline::in(60s),
            stop,
            [meanwhile](std::string) -> Task<Result<void>> {
              if (meanwhile) meanwhile();
              co_return ok();
            },
            [](const std::string&) {}};
  }

  /// What it found is in the journal behind it.
  engine::StepEnd perform(const engine::StepRequest& request) {
    NodeSteps steps{doors()};
    auto ended = run_to_end(io, steps.perform(request));
    if (!ended) throw std::runtime_error{ended.error().what};
    auto end = std::move(ended).value();
    journal(request.step.name, end);
    return end;
  }

  void journal(const std::string& name, const engine::StepEnd& end) {
    using engine::EventKind;
    auto data = end.found;
    data["outcome"] = to_string(end.outcome);
    data["detail"] = end.detail;
    engine::Event began{.kind = EventKind::step_began, .node = node.name, .step = name};
    engine::Event event{
        .kind = EventKind::step_ended, .node = node.name, .step = name, .data = data};
    EXPECT_TRUE(store->append(run, began));
    EXPECT_TRUE(store->append(run, event));
  }

  /// One stage; `meanwhile` happens once its node works.
  engine::StepEnd stage(const std::string& name, const std::string& script,
                        const std::function<void()>& meanwhile = {}) {
    return perform(request_for(name, script, meanwhile));
  }

  record::NodeRecord record() const { return record::node_record(*store, run, node.name).value(); }

  const engine::Stop stop = engine::Stop::no;
  inventory::Node node{};
  playbooks::PlannedStep planned{};
  inventory::Inventory inventory{};
  test::FakeMachine machine{};
  std::map<std::string, test::FakeMachine, std::less<>> others{};
  std::shared_ptr<BmcBoard> board = std::make_shared<BmcBoard>();
  std::shared_ptr<ssh::ProgramShelf> programs{};
  test::TemporaryFolder folder{};
  std::unique_ptr<store::Store> store = store::Store::open(folder.path()).value();
  engine::RunId run = 0;
};

}  // namespace cupel::steps
