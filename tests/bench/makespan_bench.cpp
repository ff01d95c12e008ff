// How near the dispatcher's order comes to the bound that no order can beat, and how quick it is.
//
//   makespan_bench            the scenarios, and the dispatcher's speed
//   makespan_bench NODES ...  a forecast of NODES x 40 steps each
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <queue>
#include <random>

#include "orchestrator/engine/forecast.h"
#include "playbooks/plan.h"
#include "tests/bench/cpu_time.h"
#include "tests/orchestrator/power_site.h"

namespace {

using namespace cupel;
using namespace std::chrono_literals;
using engine::Dispatcher;
using playbooks::Claim;
using playbooks::PlannedStep;
using playbooks::Together;
using std::chrono::seconds;
using test::plan_of;
using test::site_of;
using test::step_of;

double hours(seconds span) { return static_cast<double>(span.count()) / 3600; }

/// Whatever the curve of any level says above its limit.
double most_over(const engine::Forecast& reported) {
  double over = 0;
  for (const auto& level : reported.levels)
    if (level.limit_watts > 0) over = std::max(over, level.peak_watts - level.limit_watts);
  return over;
}

void row(std::string_view name, const playbooks::Plan& plan, const inventory::Inventory& site) {
  const auto reported = engine::forecast(plan, site);
  fmt::print(
      "{:<34} {:8.2f} h, bound {:8.2f} h, over it {:5.1f} %, over a limit by {:.0f} W{}: {}\n",
      name, hours(reported.end), hours(reported.bound()), 100 * (reported.over_bound() - 1),
      most_over(reported), reported.never.empty() ? "" : ", NOT ALL CAN BEGIN",
      reported.bounds.front().what);
}

/// As new-rack does them, and a soak of this length.
std::vector<PlannedStep> bring_up(seconds soak) {
  return {step_of("bmc-facts", 0, 30s),     step_of("power-on", 0, 30s),
          step_of("ssh-wait", 0, 450s),     step_of("gpu-facts", 0, 20s),
          step_of("cpu-memory", 0.2, 300s), step_of("soak", 1, soak),
          step_of("audit", 0, 2s),          step_of("verdict", 0, 2s)};
}

void mixed_soaks() {
  // 16 racks of eight; each breaker carries two of its four loaded, and the room not all of those.
  const auto site = site_of({.racks = 16,
                             .nodes = 8,
                             .breakers = 2,
                             .breaker_watts = 4 * 2000 + 2 * 8000 + 1000,
                             .room_watts = 128 * 2000.0 + 56 * 8000});
  auto plan = plan_of(site, bring_up(1h));
  const std::array soaks{30min, 60min, 120min, 240min};
  std::vector<std::shared_ptr<const std::vector<PlannedStep>>> kinds;
  for (const auto soak : soaks)
    kinds.push_back(std::make_shared<const std::vector<PlannedStep>>(bring_up(soak)));
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) plan.nodes[n].steps = kinds[n % 4];
  row("mixed soaks, room and breakers", plan, site);
  const auto alone = site_of({.racks = 16, .nodes = 8, .breakers = 2, .breaker_watts = 17'000});
  auto one = plan_of(alone, bring_up(4h));
  row("one 4 h soak at a time a breaker", one, alone);
  for (std::size_t n = 0; n < one.nodes.size(); ++n) one.nodes[n].steps = kinds[(n * 7) % 4];
  row("mixed soaks, breakers alone", one, alone);
}

void fabric_groups() {
  // Pairs, then whole racks, then all: a pair is 16 kW, and a rack carries three pairs at a time.
  const auto site = site_of({.racks = 8, .nodes = 16, .rack_watts = 16 * 2000 + 6 * 8000 + 500});
  std::vector<PlannedStep> steps{step_of("ssh-wait", 0, 450s), step_of("pair", 1, 20min),
                                 step_of("rack", 0.3, 30min), step_of("verdict", 0, 2s)};
  steps[1].together = Together::pairs;
  steps[2].together = Together::rack;
  auto plan = plan_of(site, steps);
  for (std::size_t n = 0; n < plan.nodes.size(); n += 2)
    plan.groups.push_back({"pair", {n, n + 1}});
  for (std::size_t rack = 0; rack < 8; ++rack) {
    auto& group = plan.groups.emplace_back(playbooks::Group{"rack", {}});
    for (std::size_t n = 0; n < 16; ++n) group.members.push_back(rack * 16 + n);
  }
  row("fabric pairs, then racks", plan, site);
  const auto tight = site_of({.racks = 8, .nodes = 16, .room_watts = 128 * 2000.0 + 40 * 8000});
  row("the same, the room carries 40", plan, tight);
}

void firmware() {
  const auto site = site_of({.racks = 16, .nodes = 18});
  std::vector<PlannedStep> steps{step_of("bmc-facts", 0, 30s), step_of("push-bmc", 0, 12min),
                                 step_of("push-bios", 0, 9min), step_of("power-cycle", 0, 8min),
                                 step_of("verdict", 0, 2s)};
  for (const int push : {1, 2}) steps[push].claims = {{"firmware-push", Claim::Scope::rack, 1}};
  auto plan = plan_of(site, steps);
  plan.limits["firmware-push"] = 4;
  row("firmware, four pushes a rack", plan, site);
  auto streams = plan;
  auto imaged = steps;
  imaged.push_back(step_of("image", 0, 6min));
  imaged.back().claims = {{"image-stream", Claim::Scope::site, 1}};
  const auto shared = std::make_shared<const std::vector<PlannedStep>>(imaged);
  for (auto& node : streams.nodes) node.steps = shared;
  streams.limits["image-stream"] = 32;
  row("firmware, then 32 image streams", streams, site);
}

/// The shipped playbook on 72 machines, each with nine components to be written, two of each rack
/// at a time behind one machine and then one of each rack.
void firmware_playbook() {
  auto site = site_of({.racks = 4, .nodes = 18});
  for (int i = 0; i < 9; ++i) {
    inventory::ExpectedFirmware one{.component = fmt::format("part{}", i), .version = "2"};
    one.image = inventory::FirmwareImage{.file = "x", .sha256 = std::string(64, 'a')};
    one.takes = seconds{300 + 60 * i};
    one.follow = {i < 8 ? inventory::FirmwareReset::bmc_restart
                        : inventory::FirmwareReset::ac_cycle};
    site.profiles.at("gpu").firmware.push_back(std::move(one));
  }
  std::vector<const inventory::Node*> nodes;
  for (const auto& node : site.nodes) nodes.push_back(&node);
  for (const auto* canary : {"72", "1"}) {
    std::vector<inventory::Problem> problems;
    const auto playbook = playbooks::load_playbook("firmware", problems, {{"canary", canary}});
    const auto plan =
        playbook ? playbooks::make_plan(*playbook, site, nodes, problems) : std::nullopt;
    if (!plan) return fmt::print("{}\n", inventory::to_string(problems));
    row(fmt::format("firmware, 72 x 9 parts, canary {}", canary), *plan, site);
  }
}

void canary() {
  const auto site = site_of({.racks = 16, .nodes = 8});
  auto plan = plan_of(site, bring_up(1h));
  plan.canary = {1, 4, 16};
  plan.nodes_at_once = 64;
  row("canary 1, 4, 16, then 64 at once", plan, site);
}

void many(int nodes) {
  const auto begun = bench::cpu_seconds();
  const auto site = site_of({.racks = nodes / 8,
                             .nodes = 8,
                             .breakers = 4,
                             .pdus = 2,
                             .breaker_watts = 2 * 2000 + 8000 + 500,
                             .room_watts = nodes * 2000.0 + nodes / 3 * 8000.0});
  std::vector<PlannedStep> steps;
  for (int i = 0; i < 40; ++i)
    steps.push_back(
        step_of(fmt::format("s{:02}", i), i % 8 == 5 ? 1 : 0, seconds{60 + 37 * i % 600}));
  for (int i = 3; i < 40; i += 10) steps[i].claims = {{"push", Claim::Scope::rack, 1}};
  auto plan = plan_of(site, steps);
  plan.limits["push"] = 2;
  const auto made = bench::cpu_seconds() - begun;
  const auto reported = engine::forecast(plan, site);
  const auto took = bench::cpu_seconds() - begun - made;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  fmt::print(
      "forecast of {} nodes x 40 steps: {:.2f} s of a core, {:.0f} steps/s, {:.1f} % over the "
      "bound, {} "
      "MiB: {}\n",
      nodes, took, static_cast<double>(reported.begun) / took, 100 * (reported.over_bound() - 1),
      used.ru_maxrss / 1024, reported.bounds.front().what);
}

/// Offers, starts and ends alone: nodes that do one step after the other, `wide` of them loaded at
/// a time by the room's watts.
void speed(int nodes, int wide) {
  const auto site = site_of({.racks = nodes / 8,
                             .nodes = 8,
                             .breakers = 4,
                             .pdus = 2,
                             .room_watts = nodes * 2000.0 + wide * 8000.0});
  std::vector<PlannedStep> steps;
  for (int i = 0; i < 40; ++i) steps.push_back(step_of(fmt::format("s{:02}", i), i % 2));
  engine::Limits limits;
  limits.ramp = 0s;
  Dispatcher dispatcher{limits};
  dispatcher.know(site);
  std::mt19937 random{1};
  struct End {
    Dispatcher::Time when;
    Dispatcher::Ticket ticket;
    bool operator>(const End& other) const {
      return std::tie(when, ticket) > std::tie(other.when, other.ticket);
    }
  };
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  std::unordered_map<Dispatcher::Ticket, std::pair<int, int>> where;
  Dispatcher::Time now{};
  long calls = 0;
  const auto offer = [&](int node, int step) {
    where[dispatcher.offer({1, 0, seconds{600 * (40 - step)}, {&site.nodes[node]}, &steps[step]},
                           now)] = {node, step};
    ++calls;
  };
  const auto begun = bench::cpu_seconds();
  for (int node = 0; node < nodes; ++node) offer(node, 0);
  for (;;) {
    for (const auto ticket : dispatcher.start(now))
      ends.push({now + seconds{60 + static_cast<int>(random() % 600)}, ticket});
    ++calls;
    if (ends.empty()) break;
    now = ends.top().when;
    const auto ticket = ends.top().ticket;
    ends.pop();
    dispatcher.ended(ticket, now);
    ++calls;
    const auto [node, step] = where.at(ticket);
    where.erase(ticket);
    if (step + 1 < 40) offer(node, step + 1);
  }
  const auto took = bench::cpu_seconds() - begun;
  fmt::print(
      "dispatcher, {} nodes x 40 steps, {} loaded at most: {:.2f} s of a core, {:.0f} "
      "offers+starts+ends "
      "a second{}\n",
      nodes, wide, took, static_cast<double>(calls) / took, where.empty() ? "" : ", NOT ALL BEGAN");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    for (int i = 1; i < argc; ++i) many(std::max(8, std::atoi(argv[i])));
    return 0;
  }
  mixed_soaks();
  fabric_groups();
  firmware();
  firmware_playbook();
  canary();
  for (const int wide : {64, 1000, 10'000}) speed(10'000, wide);
  many(10'000);
  return 0;
}
