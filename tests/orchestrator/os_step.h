#pragma once
// One node with a step that boots it over the network, and the controllers that follow each other.
#include <gmock/gmock.h>

#include <cstdlib>

#include "base/json.h"
#include "burnin/job.h"
#include "inventory/boot.h"
#include "inventory/fwd.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/profile.h"
#include "orchestrator/ssh/host_key.h"
#include "orchestrator/steps/step_type.h"
#include "playbooks/fwd.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/orchestrator/one_controller.h"
#include "tests/support/boot_machine.h"
#include "tests/support/captures.h"

namespace cupel::steps {

struct SilentObserver : engine::Observer {
  void on_event(const engine::Event&, const engine::RunState&) override {}
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}
};

class OsStep : public ::testing::Test {
 protected:
  using Phase = engine::StepState::Phase;
  using StepKind = playbooks::StepKind;

  OsStep() {
    inventory_.boot = inventory::BootSite{.host = "10.0.0.1", .port = 8081};
    inventory::Profile profile{.name = "p"};
    profile.patience.post = std::chrono::seconds{1};
    profile.os = {.image = "debian-12", .sha256 = digest_};
    inventory_.profiles["p"] = profile;
    node_.name = "n1";
    node_.profile = "p";
    node_.boot = {{"52:54:00:00:00:01"}, "10.0.2.11/24", "DISK1"};
    node_.ssh.key_file = folder_.path() / "key";
    const auto make = "ssh-keygen -q -t ed25519 -N '' -f " + node_.ssh.key_file;
    EXPECT_EQ(std::system(make.c_str()), 0);
    set_step(StepKind::os, "os");
  }

  void set_step(StepKind kind, std::string name, burnin::Parameters with = {}) {
    playbooks::PlannedStep step;
    step.kind = kind;
    step.name = std::move(name);
    step.with = std::move(with);
    step.deadline = std::chrono::seconds{60};
    step.tries = tries_;
    step.once = true;
    plan_.nodes.clear();
    plan_.nodes.push_back({&node_, std::make_shared<std::vector<playbooks::PlannedStep>>(1, step)});
  }

  /// As ssh::connect does with the key that answers.
  Result<void> check_key(const inventory::Node& node) {
    if (host_keys_.empty()) return ok();
    const auto key = host_keys_.front();
    if (host_keys_.size() > 1) host_keys_.erase(host_keys_.begin());
    return ssh::check_host_key(node.name, node.ssh.trust, *store_, key);
  }

  std::string says() {
    if (machine_.has_large_root)
      return machine_.host_name + (looks_++ == 0 ? "\n" : "\n{\"image\":\"root.squashfs\"}\n");
    if (!machine_.seeded) return machine_.host_name + "\n";
    using Does = test::BootMachine::Does;
    const auto sum = machine_.does == Does::old_system
                         ? (machine_.old_system_image.empty() ? machine_.installed
                                                              : machine_.old_system_image.front())
                         : machine_.installed;
    return machine_.host_name + "\n{\"image\":\"debian-12\",\"sha256\":\"" +
           (machine_.other_image ? "other" : sum) + "\"}\n";
  }

  StepEnvironment environment() {
    StepEnvironment world{
        inventory_, *store_,
        [this](const inventory::Node&) { return std::make_unique<test::BootBmc>(machine_); },
        [this](const inventory::Node& node,
               Deadline) -> Task<Result<std::unique_ptr<ssh::Session>>> {
          using Does = test::BootMachine::Does;
          const bool ram = !machine_.seeded && machine_.does == Does::written;
          const bool up = ram || machine_.does == Does::home || machine_.does == Does::old_system ||
                          (machine_.does == Does::no_boot && !machine_.writes);
          if (!up) co_return Error{Code::kUnreachable, "no answer"};
          if (machine_.logins_too_early > 0) {
            --machine_.logins_too_early;
            co_return Error{Code::kRefused, "the node does not let root in"};
          }
          CO_TRY(check_key(node));
          co_return std::make_unique<test::BootSession>(says(), first_boot_);
        },
        nullptr};
    world.boot = test::boot_door(machine_, digest_);
    world.pace.until_restart_shows = {};
    if (no_server_)
      world.boot->draw = [error = *no_server_]() -> Result<netboot::Ticket> { return error; };
    return world;
  }

  /// One controller, from what the journal holds to its end.
  Result<void> control() {
    NodeSteps steps{environment()};
    SilentObserver observer;
    auto controlled = test::control_run(plan_, journal_, steps, observer);
    end_ = controlled.state.nodes.at(node_.name).steps[0];
    return controlled.ended;
  }

  std::string needed() const {
    std::string all;
    for (const auto& event : journal_.events) all += json::serialize(event.data);
    return all;
  }

  std::optional<Error> no_server_{};  // why the boot server does not start
  int tries_ = 1;
  int looks_ = 0;                                           // at what is up
  std::vector<std::string> first_boot_{"no cloud-init\n"};  // each wait for cloud-init
  std::vector<std::string> host_keys_{};  // of who answers SSH in turn; empty: none is compared
  const std::string digest_ = std::string(64, 'd');
  test::TemporaryFolder folder_{};
  inventory::Node node_{};
  inventory::Inventory inventory_{};
  playbooks::Plan plan_{};
  std::unique_ptr<store::Store> store_ = store::Store::open(folder_.path() / "state").value();
  test::BootMachine machine_{};
  test::MortalJournal journal_{};
  engine::StepState end_{};
};

}  // namespace cupel::steps
