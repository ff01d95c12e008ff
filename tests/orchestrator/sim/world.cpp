#include "tests/orchestrator/sim/world.h"

#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/power_node.h"
#include "inventory/profile.h"
#include "playbooks/plan.h"
#include "playbooks/playbook.h"
#include "playbooks/step_kind.h"

namespace cupel::sim {
namespace {

using engine::Outcome;
using engine::StepEnd;
using playbooks::PlannedStep;
using playbooks::StepKind;

constexpr double kIdle = 1000;
constexpr double kLoaded = 5000;
constexpr std::size_t kBehindBreaker = 3;
constexpr int kNewFirmware = 1;

PlannedStep step(StepKind kind, std::string name, std::chrono::seconds expected,
                 std::chrono::seconds deadline) {
  PlannedStep planned;
  planned.kind = kind;
  planned.name = std::move(name);
  planned.expected = expected;
  planned.deadline = deadline;
  planned.tries = 5;
  planned.always = row_of(kind).always;
  return planned;
}

StepEnd ends(Outcome outcome, std::string detail) {
  StepEnd end;
  end.outcome = outcome;
  end.detail = std::move(detail);
  return end;
}

}  // namespace

Rack::Rack(std::size_t nodes, double loaded) {
  inventory.site = "sim";
  inventory.racks.push_back({"r1", "room", 48, {}});
  inventory::Profile profile;
  profile.name = "p";
  profile.draw = {kIdle, kLoaded};
  inventory.profiles["p"] = profile;
  using Level = inventory::PowerNode;
  inventory.power.push_back({Level::Kind::room, "room", 1e6, "", {}});
  inventory.power.push_back({Level::Kind::rack, "r1", 1e6, "room", {}});
  for (std::size_t i = 0; i < nodes; i += kBehindBreaker)
    inventory.power.push_back({Level::Kind::breaker,
                               "b" + std::to_string(i / kBehindBreaker),
                               kBehindBreaker * kIdle + (kLoaded - kIdle) * loaded,
                               "r1",
                               {}});
  for (std::size_t i = 0; i < nodes; ++i) {
    inventory::Node node;
    node.name = "n" + std::to_string(i + 1);
    node.profile = "p";
    node.rack = "r1";
    node.unit = static_cast<int>(i) + 1;
    node.feeds = {"b" + std::to_string(i / kBehindBreaker)};
    inventory.nodes.push_back(std::move(node));
  }
  std::vector<PlannedStep> steps{step(StepKind::bmc_facts, "bmc-facts", 5s, 600s),
                                 step(StepKind::bmc_password, "firmware", 120s, 1800s),
                                 step(StepKind::power_on, "power-on", 10s, 300s),
                                 step(StepKind::ssh_wait, "ssh-wait", 60s, 900s),
                                 step(StepKind::stage, "gpu-facts", 10s, 600s),
                                 step(StepKind::stage, "soak", 3600s, 7200s),
                                 step(StepKind::stage, "pairs", 60s, 600s),
                                 step(StepKind::verdict, "verdict", 2s, 60s),
                                 step(StepKind::hand_off, "hand-off", 2s, 60s)};
  steps[1].once = true;
  steps[1].claims.push_back({"firmware-push", playbooks::Claim::Scope::rack, 1});
  steps[5].load = 1;
  steps[6].together = playbooks::Together::pairs;
  plan.playbook = "new-rack";
  plan.limits["firmware-push"] = 2;
  const auto shared = std::make_shared<const std::vector<PlannedStep>>(std::move(steps));
  for (const auto& node : inventory.nodes) plan.nodes.push_back({&node, shared});
  for (std::size_t i = 0; i + 1 < nodes; i += 2) plan.groups.push_back({"pairs", {i, i + 1}});
}

World::World(VirtualClock& its_clock, const Rack& its_rack, std::uint64_t seed, Weather its_weather)
    : clock{its_clock}, rack{its_rack}, random{seed}, weather{its_weather} {
  for (const auto& node : rack.inventory.nodes) machines[node.name];
}

void World::flash(const std::string& node, const std::string& task) {
  auto& machine = machines[node];
  ++machine.flashes;
  machine.flash = {task, clock.now() + between(60, 180)};
  if (machine.flashes > 1) broken_rules.push_back(node + " was flashed twice");
  check_flashes();
}

void World::check_flashes() {
  int now = 0;
  for (const auto& [name, machine] : machines)
    if (machine.flash && machine.flash->second > clock.now()) ++now;
  const int limit = rack.plan.limits.find("firmware-push")->second;
  if (now > limit) broken_rules.push_back(std::to_string(now) + " firmware pushes at once");
}

void World::start_job(const std::string& node, const std::string& handle, std::chrono::seconds time,
                      bool heavy) {
  const auto result = std::uniform_real_distribution{1.0, 2.0}(random);
  const bool fresh =
      machines[node]
          .jobs.emplace(handle, Job{.ends = clock.now() + time, .heavy = heavy, .result = result})
          .second;
  if (!fresh) broken_rules.push_back("job " + handle + " was started twice");
  if (!heavy) return;
  check_power(node);
  if (on_heavy_job) on_heavy_job(node);
}

void World::kill_job(const std::string& node, const std::string& handle) {
  auto& jobs = machines[node].jobs;
  const auto job = jobs.find(handle);
  if (job == jobs.end() || job->second.ends <= clock.now()) return;
  job->second.ends = clock.now();
  job->second.killed = true;
}

bool World::has_job(const std::string& node) const {
  return std::ranges::any_of(machines.at(node).jobs,
                             [&](const auto& job) { return job.second.ends > clock.now(); });
}

void World::make_hungry(const std::string& node, double watts) {
  for (auto& [handle, job] : machines[node].jobs)
    if (job.heavy && job.ends > clock.now()) {
      job.over = watts;
      job.over_until = clock.now() + 20min;
    }
}

double World::draw(const std::string& node) const {
  const auto& machine = machines.at(node);
  double watts = machine.powered ? kIdle : 0;
  for (const auto& [handle, job] : machine.jobs) {
    if (!job.heavy || job.ends <= clock.now()) continue;
    watts += kLoaded - kIdle;
    if (job.over_until > clock.now()) watts += job.over;
  }
  return watts;
}

double World::watts_behind(const std::string& breaker) const {
  double watts = 0;
  for (const auto& node : rack.inventory.nodes)
    if (node.feeds.front() == breaker) watts += draw(node.name);
  return watts;
}

void World::check_power(const std::string& node) {
  const auto& breaker = rack.inventory.node(node)->feeds.front();
  const auto level = std::ranges::find(rack.inventory.power, breaker, &inventory::PowerNode::name);
  const auto watts = watts_behind(breaker);
  if (watts > level->watts)
    broken_rules.push_back(breaker + " carries " + std::to_string(watts) + " W");
}

Task<Result<StepEnd>> WorldSteps::perform(engine::StepRequest request) {
  const auto time = world_.between(1, 10);
  CO_TRY(co_await world_.clock.pause(time));
  const auto& name = request.step.name;
  // The proof itself is spared; what was started already can only be out of reach for a while.
  bool spared = name == "verdict" || name == "hand-off";
  if (!spared && world_.chance(world_.weather.transient))
    co_return ends(Outcome::retry, "HTTP 503");
  spared = spared || request.handle;
  if (!spared && world_.chance(world_.weather.hang)) {
    CO_TRY(co_await world_.clock.pause(24h * 30));
  }
  if (!spared && world_.chance(world_.weather.reject))
    co_return ends(Outcome::reject, "no licence");
  if (!spared && world_.chance(world_.weather.hands))
    co_return ends(Outcome::needs_operator, "reseat the riser");
  if (name == "firmware") co_return co_await firmware(request);
  if (name == "power-on") co_return co_await power_on(request);
  if (name == "ssh-wait") co_return co_await wait_for_boot(request);
  if (name == "soak" || name == "gpu-facts") co_return co_await soak(request);
  if (name == "pairs") co_return co_await together(request);
  if (name == "hand-off") co_return co_await hand_off(request);
  co_return StepEnd{};
}

Task<Result<void>> WorldSteps::abort(engine::StepRequest request) {
  const auto& flash = world_.machines[request.node.name].flash;
  if (request.step.name == "firmware" && flash) {
    // Nobody breaks that off.
    CO_TRY(co_await world_.clock.pause_until(flash->second));
    co_return ok();
  }
  // It draws until it is gone, and that takes a while.
  CO_TRY(co_await world_.clock.pause(world_.between(1, 30)));
  world_.kill_job(request.node.name, *request.handle);
  co_return ok();
}

WorldSteps::End WorldSteps::firmware(const engine::StepRequest& request) {
  auto& machine = world_.machines[request.node.name];
  if (machine.flash && machine.flash->second <= world_.clock.now()) {
    machine.firmware = kNewFirmware;
    machine.flash.reset();
  }
  if (machine.firmware == kNewFirmware) co_return ends(Outcome::done, "already so");
  if (!machine.flash) {
    const auto task = request.handle.value_or("task of " + request.node.name);
    if (!request.handle) {
      CO_TRY(co_await request.started(task));
    }
    world_.flash(request.node.name, task);
  }
  CO_TRY(co_await world_.clock.pause_until(machine.flash->second));
  machine.firmware = kNewFirmware;
  machine.flash.reset();
  co_return ends(Outcome::done, "flashed");
}

WorldSteps::End WorldSteps::power_on(const engine::StepRequest& request) {
  auto& machine = world_.machines[request.node.name];
  if (machine.powered) co_return ends(Outcome::done, "on");
  machine.powered = true;
  machine.boots = world_.clock.now() + world_.between(40, 200);
  co_return ends(Outcome::done, "turned on");
}

WorldSteps::End WorldSteps::wait_for_boot(const engine::StepRequest& request) {
  const auto& machine = world_.machines[request.node.name];
  if (machine.boots <= world_.clock.now()) co_return ends(Outcome::done, "answers");
  auto end = ends(Outcome::wait, "POST");
  end.retry_after = 20s;
  co_return end;
}

WorldSteps::End WorldSteps::soak(const engine::StepRequest& request) {
  const auto& node = request.node.name;
  auto& jobs = world_.machines[node].jobs;
  const bool heavy = request.step.load > 0;
  const auto handle = request.handle.value_or(node + " " + request.step.name + " " +
                                              std::to_string(request.attempt));
  if (!jobs.contains(handle)) {
    if (!request.handle) {
      CO_TRY(co_await request.started(handle));
    }
    const auto time = heavy ? world_.between(1800, 5000) : world_.between(5, 20);
    world_.start_job(node, handle, time, heavy);
  }
  CO_TRY(co_await world_.clock.pause_until(jobs[handle].ends));
  if (jobs[handle].killed) {
    auto end = ends(Outcome::reject, "it was ended half done");
    end.begin_anew = true;
    co_return end;
  }
  auto end = ends(Outcome::done, "measured");
  end.found["result"] = jobs[handle].result;
  co_return end;
}

WorldSteps::End WorldSteps::together(const engine::StepRequest& request) {
  if (request.members.size() != 2) co_return ends(Outcome::reject, "not two");
  CO_TRY(co_await world_.clock.pause(30s));
  const bool dies = world_.chance(world_.weather.reject * 3);
  if (dies) co_return ends(Outcome::reject, request.members[1]->name + " does not answer any more");
  co_return ends(Outcome::done, "busbw");
}

/// To Slurm only what has its proof: each step's end in the journal, and each of them good.
WorldSteps::End WorldSteps::hand_off(const engine::StepRequest& request) {
  std::set<std::string> good;
  for (const auto& event : journal_) {
    const bool mine = event.node == request.node.name;
    if (!mine || event.kind != engine::EventKind::step_ended) continue;
    if (event.data.at("outcome").as_string() == "done") good.insert(event.step);
  }
  if (good.size() + 1 < world_.rack.plan.nodes.front().steps->size())
    co_return ends(Outcome::done, "stays drained");
  world_.machines[request.node.name].in_slurm = true;
  co_return ends(Outcome::done, "in Slurm");
}

}  // namespace cupel::sim
