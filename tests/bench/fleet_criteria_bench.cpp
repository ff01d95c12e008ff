// What the criteria find of slow parts among their like, on synthetic fleets whose truth is known.
// Prints the columns `position` and `model` of docs/decisions/fleet-criteria.md. `--quick`: a tenth
// of the parts.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>

#include "burnin/criteria/fleet_model.h"
#include "burnin/criteria/robust.h"
#include "tests/support/synthetic_fleet.h"

namespace {

using namespace cupel;
using burnin::Comparison;
using fleets::KnownFleet;
using fleets::SyntheticFleet;

constexpr burnin::FleetLimits kLimits{};

std::vector<bool> outliers(const Comparison& comparison, std::size_t count) {
  std::vector<bool> found(count, false);
  for (std::size_t i = 0; i < comparison.standings.size(); ++i)
    found[i] = comparison.standings[i].outlier;
  return found;
}

struct Criterion {
  const char* name;
  std::function<std::vector<bool>(const KnownFleet&)> find;
};

auto by_model(burnin::Corrections corrections, burnin::FleetLimits limits = kLimits) {
  return [=](const KnownFleet& fleet) {
    return outliers(burnin::fleet_comparison(fleet.population, limits, corrections),
                    fleet.bad.size());
  };
}

std::vector<Criterion> criteria() {
  return {{"position", by_model({true, false, false})}, {"model", by_model({})}};
}

struct Count {
  double bad = 0, found = 0, healthy = 0, accused = 0;
  std::string text() const {
    const auto share = bad > 0 ? fmt::format("{:.1f}", 100 * found / bad) : std::string{"-"};
    return fmt::format("{} / {:.2g}", share, healthy > 0 ? 1e4 * accused / healthy : 0);
  }
};

double g_share = 1;

/// As many fleets as it takes for so many parts.
Count tried(const Criterion& criterion, SyntheticFleet fleet, double parts) {
  Count count;
  const double each = static_cast<double>(fleet.nodes) * fleet.positions;
  const auto fleets = std::max(2.0, g_share * parts / each);
  for (int i = 0; i < static_cast<int>(fleets); ++i) {
    fleet.seed = static_cast<std::uint64_t>(i) + 1;
    const auto known = synthetic(fleet);
    const auto found = criterion.find(known);
    for (std::size_t part = 0; part < found.size(); ++part) {
      (known.bad[part] ? count.bad : count.healthy) += 1;
      if (found[part]) (known.bad[part] ? count.found : count.accused) += 1;
    }
  }
  return count;
}

void header(const char* title, const char* first) {
  fmt::print("\n{}\n\n| {} |", title, first);
  for (const auto& each : criteria()) fmt::print(" {} |", each.name);
  fmt::print("\n|---|---|---|\n");
}

void row(const std::string& first, const SyntheticFleet& fleet, double parts) {
  fmt::print("| {} |", first);
  for (const auto& each : criteria()) fmt::print(" {} |", tried(each, fleet, parts).text());
  fmt::print("\n");
}

void by_effect() {
  header("64 nodes, 2 % of the parts slow, no drift: % found / healthy accused of 10,000",
         "effect ÷ spread");
  for (const double spreads : {1, 2, 3, 4, 5, 6, 7, 8, 10, 20})
    row(fmt::format("{}", spreads), {.bad = 0.02, .effect = 0.005 * spreads}, 4e4);
  fmt::print(
      "\nA limit that accuses 1 healthy of 10,000 finds at most (Neyman and Pearson, one "
      "normal number with known centre and spread): ");
  for (const double spreads : {3.0, 4.0, 5.0, 6.0, 7.0})
    fmt::print("{}: {:.1f} %; ", spreads,
               50 * std::erfc((-burnin::normal_quantile(1e-4) - spreads) / std::sqrt(2.0)));
  fmt::print("\n");
}

void by_size() {
  header("3 % slow at 0.5 % spread, by fleet and share of slow parts", "nodes, slow");
  for (const std::uint32_t nodes : {3u, 8u, 64u, 512u})
    for (const double bad : {0.01, 0.05, 0.1, 0.2})
      row(fmt::format("{}, {:.0f} %", nodes, 100 * bad),
          {.nodes = nodes, .bad = bad, .effect = 0.03}, nodes == 512 ? 8e3 : 2e4);
}

void by_size_and_effect() {
  header("5 % of the parts slow at 0.5 % spread, by fleet and effect", "nodes, effect");
  for (const std::uint32_t nodes : {8u, 64u, 512u})
    for (const double effect : {0.01, 0.02, 0.03, 0.05, 0.1})
      row(fmt::format("{}, {:.0f} %", nodes, 100 * effect),
          {.nodes = nodes, .bad = 0.05, .effect = effect}, nodes == 512 ? 8e3 : 2e4);
}

void by_drift() {
  header("64 nodes in racks of 8 whose inlets differ by 4 K (0.2 % for each), 2 % slow by 3 %",
         "inlet");
  SyntheticFleet fleet{.bad = 0.02, .effect = 0.03, .per_kelvin = 0.002, .inlets = 4};
  fleet.by_position = 0.004;
  row("measured", fleet, 4e4);
  fleet.measured = false;
  row("not measured", fleet, 4e4);
}

void by_clock() {
  header("64 nodes, compute at the power limit: clocks differ by 3 %, the rest by 0.5 %; 2 % slow",
         "effect");
  for (const double effect : {0.03, 0.05, 0.1})
    row(fmt::format("{:.0f} %", 100 * effect), {.bad = 0.02, .effect = effect, .clocks = 0.03},
        2e4);
}

void target() {
  header("The target: 64 nodes, one part in 512 slow by 3 %, spread 0.5 %", "positions");
  SyntheticFleet fleet{.bad = 1.0 / 512, .effect = 0.03};
  row("alike", fleet, 1e6);
  fleet.by_position = 0.004;
  row("differ by 0.4 %", fleet, 2e5);
}

/// 0.5 % between parts and 0.107 % of the median of five readings; or 0.5 % with that noise in it.
void target_of_the_model() {
  fmt::print(
      "\nThe same by the model alone, of 10,000,000 parts: % found / healthy accused of 10,000\n\n"
      "| | spread of the numbers | false alarms allowed | |\n|---|---|---|---|\n");
  const SyntheticFleet beside{.bad = 1.0 / 512, .effect = 0.03};
  auto within = beside;
  within.spread = 0.004884;
  auto small = beside;
  small.spread = 0.0045;
  const auto print = [](const char* name, const SyntheticFleet& fleet, double alarms) {
    auto limits = kLimits;
    limits.false_alarms = alarms;
    const double noise = 0.00107;
    fmt::print("| {} | {:.3f} % | {} | {} |\n", name, 100 * std::hypot(fleet.spread, noise), alarms,
               tried({"model", by_model({}, limits)}, fleet, 1e7).text());
  };
  print("0.5 % between parts", beside, 1e-4);
  print("0.5 %, noise included", within, 1e-4);
  print("0.45 % between parts", small, 1e-4);
  print("0.5 % between parts", beside, 3e-4);
}

/// Fleets of which little is known, healthy and with slow parts.
void few_nodes() {
  header("Few nodes: 5 % of the parts slow by 3 % at 0.5 % spread", "nodes");
  for (const std::uint32_t nodes : {6u, 8u, 10u, 15u, 16u})
    row(std::to_string(nodes), {.nodes = nodes, .bad = 0.05, .effect = 0.03}, 1e5);
}

void healthy() {
  header("No slow part: healthy accused of 10,000", "nodes");
  for (const std::uint32_t nodes : {3u, 6u, 8u, 10u, 15u, 16u, 64u, 512u})
    row(std::to_string(nodes), {.nodes = nodes}, nodes == 512 ? 8e4 : 2e5);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) g_share = 0.1;
  const auto began = std::chrono::steady_clock::now();
  by_effect();
  by_size();
  by_size_and_effect();
  by_drift();
  by_clock();
  target();
  target_of_the_model();
  few_nodes();
  healthy();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  fmt::print("\n{:.0f} s\n", took.count());
}
