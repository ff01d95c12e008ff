// What the criteria find of slow parts among their like, on synthetic fleets whose truth is known:
// the tables of docs/build/decisions/fleet-criteria.md. `--quick`: a tenth of the fleets.
// `--superbench`: beside SuperBench's criterion on the same fleets, for scripts/bench.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>

#include "burnin/criteria/fleet_model.h"
#include "burnin/criteria/own_history.h"
#include "tests/bench/beside.h"
#include "tests/support/synthetic_fleet.h"

namespace {

using namespace cupel;
using burnin::Likeness;
using fleets::Shape;
using fleets::SyntheticFleet;

/// Of one kind of part, which share the false alarms of a run.
constexpr double kSeries = 40;
constexpr double kAlarms = 1e-4;
constexpr double kRate = 3300;  // of the synthetic fleets

double g_share = 1;

int times(int fleets) { return std::max(2, static_cast<int>(g_share * fleets)); }

burnin::FleetLimits limits_of_one() { return {.false_alarms = kAlarms / kSeries}; }

struct Limits {
  double slow = 0, outlier = 0;  // values; 0: the fleet fell into two groups, and none is judged
};

/// Of a part at a usual place of a usual node.
Limits limits_of(const burnin::FleetModel& model) {
  if (model.state != burnin::Comparison::State::judged) return {};
  return {std::exp(model.center - model.part_slow * model.spread),
          std::exp(model.center - model.part_limit * model.spread)};
}

/// The share of parts of the shape that are below `value`, where they are `slower` by so much.
double below(double value, double spread, Shape shape, double slower) {
  if (value <= 0) return 0;
  return fleets::share_below((1 - value / (kRate * (1 - slower))) / spread, shape);
}

struct Shares {
  double failed = 0, slow = 0, ten_slow = 0, ten_out = 0, six = 0, split = 0, counted = 0,
         parts = 0;
};

/// By what the limits of each fleet mean for one more part: exact where counting would take
/// billions of parts. And counted, in the series that are drawn.
Shares shares_of(SyntheticFleet of, int fleets) {
  Shares all;
  const int count = times(fleets);
  for (int i = 0; i < count; ++i) {
    of.seed = static_cast<std::uint64_t>(i) + 1;
    const auto known = fleets::synthetic(of);
    const auto limits = limits_of_one();
    const auto model = burnin::learn(known.population, limits);
    const auto found = limits_of(model);
    all.failed += below(found.outlier, of.spread, of.shape, 0);
    all.slow += below(found.slow, of.spread, of.shape, 0);
    all.ten_slow += below(found.slow, of.spread, of.shape, 0.1);
    all.ten_out += below(found.outlier, of.spread, of.shape, 0.1);
    all.six += kRate * (1 - 6 * of.spread) < found.slow ? 1 : 0;
    all.split += found.slow == 0 ? 1 : 0;
    for (const auto& each : burnin::fleet_comparison(known.population, limits).standings)
      all.counted += each.outlier ? 1 : 0;
    all.parts += static_cast<double>(known.population.members.size());
  }
  for (auto* each : {&all.failed, &all.slow, &all.ten_slow, &all.ten_out, &all.six, &all.split})
    *each /= count;
  return all;
}

const char* name_of(Shape shape) {
  switch (shape) {
    case Shape::normal:
      return "normal";
    case Shape::gamma:
      return "gamma(4)";
    case Shape::exponential:
      return "exponential";
    case Shape::laplace:
      return "Laplace";
    case Shape::student:
      return "Student t4";
    case Shape::batch:
      return "batch of 10 %";
    case Shape::uniform:
      return "uniform";
  }
  return "";
}

void shapes(std::uint32_t positions) {
  fmt::print(
      "\n{} a node, {} rates of each compared\n\n"
      "| shape | spread | nodes | healthy that stand out in a run, of 10,000 | counted | healthy "
      "that "
      "are slow in one rate, % | 10 % slow: found, % | of these stand out, % | six spreads behind: "
      "found, % | two groups, % |\n|---|---|---|---|---|---|---|---|---|---|\n",
      positions == 1 ? "One part" : fmt::format("{} parts", positions), kSeries);
  for (const auto shape : fleets::kShapes)
    for (const double spread : {0.003, 0.005, 0.01, 0.02})
      for (const auto& [nodes, fleets] : {std::pair{8u, 2000}, {64u, 400}, {512u, 40}}) {
        const SyntheticFleet of{.nodes = nodes,
                                .positions = positions,
                                .spread = spread,
                                .shape = shape,
                                .noise = 0,
                                .readings = 1};
        const auto found = shares_of(of, fleets);
        fmt::print(
            "| {} | {:.1f} % | {} | {:.2g} | {} of {:.2g} | {:.2g} | {:.1f} | {:.1f} | {} | {:.2g} "
            "|\n",
            name_of(shape), 100 * spread, nodes, 1e4 * kSeries * found.failed, found.counted,
            found.parts, 100 * found.slow, 100 * found.ten_slow, 100 * found.ten_out,
            shape == Shape::normal ? fmt::format("{:.1f}", 100 * found.six) : "-",
            100 * found.split);
      }
}

struct Count {
  double bad = 0, found = 0, out = 0, healthy = 0, accused = 0, slow = 0;
};

Count counted(SyntheticFleet of, double parts) {
  Count count;
  const double each = static_cast<double>(of.nodes) * of.positions;
  const int fleets = times(static_cast<int>(parts / each));
  for (int i = 0; i < fleets; ++i) {
    of.seed = static_cast<std::uint64_t>(i) + 1;
    const auto known = fleets::synthetic(of);
    const auto result = burnin::fleet_comparison(known.population, limits_of_one());
    for (std::size_t part = 0; part < result.standings.size(); ++part) {
      const auto& standing = result.standings[part];
      (known.bad[part] ? count.bad : count.healthy) += 1;
      (known.bad[part] ? count.out : count.accused) += standing.outlier ? 1 : 0;
      (known.bad[part] ? count.found : count.slow) +=
          standing.outlier || standing.slow || standing.doubtful ? 1 : 0;
    }
  }
  return count;
}

void header(const char* title) {
  fmt::print(
      "\n{}\n\n| fleet | slow parts: found, or in the worse of two groups, % | of these stand out, "
      "% | healthy that stand out, of "
      "10,000 | healthy that are slow, % |\n|---|---|---|---|---|\n",
      title);
}

void row(const std::string& first, const SyntheticFleet& of, double parts) {
  const auto count = counted(of, parts);
  const auto share = [](double some, double all) { return all > 0 ? 100 * some / all : 0; };
  fmt::print("| {} | {:.1f} | {:.1f} | {:.2g} | {:.2g} |\n", first, share(count.found, count.bad),
             share(count.out, count.bad), 100 * share(count.accused, count.healthy),
             share(count.slow, count.healthy));
}

void many_bad() {
  header("64 nodes of eight parts, normal, 0.5 % spread, readings with 0.2 % noise, one rate");
  for (const double bad : {0.001, 0.02, 0.1, 0.2})
    for (const double effect : {0.02, 0.03, 0.06, 0.1})
      row(fmt::format("{:.1f} % of the parts, {:.0f} % slow", 100 * bad, 100 * effect),
          {.bad = bad, .effect = effect}, 8e4);
}

void conditions() {
  header("Conditions differ: 64 nodes, 2 % of the parts slow, one rate");
  SyntheticFleet warm{.bad = 0.02, .effect = 0.06, .per_kelvin = 0.002, .inlets = 4};
  row("racks' inlets differ by 4 K, 0.2 % for each; 6 % slow", warm, 8e4);
  warm.measured = false;
  row("the same, the inlet was not measured", warm, 8e4);
  for (const double effect : {0.03, 0.06, 0.1})
    row(fmt::format("compute at the power limit, clocks differ by 3 %; {:.0f} % slow",
                    100 * effect),
        {.bad = 0.02, .effect = effect, .clocks = 0.03}, 8e4);
}

/// A node's own runs: eight parts and three rates.
struct History {
  int runs = 3;
  double noise = 0.01;  // from run to run
  Shape shape = Shape::normal;
  double common = 0;  // of all rates of a run
  double effect = 0;  // of one part in one rate
};

struct OfHistory {
  double parts = 0, accused = 0, slow = 0, found = 0, out = 0, nodes = 0;
};

OfHistory history(const History& of, int nodes) {
  constexpr std::array kMeasures{"hbm.copy", "pcie.h2d", "p2p.bandwidth"};
  constexpr int kParts = 8, kSlow = 3;
  OfHistory all;
  const int count = times(nodes);
  for (int node = 0; node < count; ++node) {
    const auto draw = rehearsal::Draw{static_cast<std::uint64_t>(node) + 1};
    std::vector<burnin::EarlierValue> earlier;
    burnin::FindingsByStage now;
    for (int m = 0; m < 3; ++m)
      for (int run = 0; run <= of.runs; ++run) {
        const auto own = draw.of(static_cast<std::uint64_t>(100 * m + run));
        const double shift = 1 + of.common * fleets::normal(own.of("shift"));
        for (int part = 0; part < kParts; ++part) {
          const auto each = own.of(static_cast<std::uint64_t>(part));
          const double value = 3000 * shift * (1 + of.noise * fleets::shaped(each, of.shape));
          const auto name = fmt::format("gpu{}", part);
          const bool bad = m == 0 && part == kSlow;
          if (run == of.runs)
            now[kMeasures[m]].measurements.push_back(
                {kMeasures[m], name, value * (bad ? 1 - of.effect : 1), "GB/s"});
          else
            earlier.push_back({.run = run + 1,
                               .days = 20.0 * run,
                               .stage = kMeasures[m],
                               .part = name,
                               .measure = kMeasures[m],
                               .unit = "GB/s",
                               .value = value});
        }
      }
    for (const auto& each : burnin::compare_with_history(earlier, now, 20.0 * of.runs, {})) {
      const bool bad = of.effect > 0 && each.measure == kMeasures[0] && each.part == "gpu3";
      const bool out = each.found == Likeness::outlier, slow = each.found == Likeness::slow;
      (bad ? all.out : all.accused) += out ? 1 : 0;
      (bad ? all.found : all.slow) += out || slow ? 1 : 0;
    }
    all.parts += kParts;
    all.nodes += 1;
  }
  return all;
}

void histories() {
  fmt::print(
      "\nOwn history: eight parts, three rates\n\n| earlier runs | noise | shape | common to a run "
      "| "
      "healthy that stand out in a run, of 10,000 parts | healthy that are slow, % | 10 % slow: "
      "found, "
      "% | of these stand out, % |\n|---|---|---|---|---|---|---|---|\n");
  for (const auto shape : {Shape::normal, Shape::exponential, Shape::student})
    for (const double common : {0.0, 0.02})
      for (const double noise : {0.002, 0.005, 0.01, 0.02})
        for (const int runs : {3, 5, 10}) {
          const History of{.runs = runs, .noise = noise, .shape = shape, .common = common};
          auto slow = of;
          slow.effect = 0.1;
          const auto healthy = history(of, 2500), bad = history(slow, 500);
          fmt::print("| {} | {:.1f} % | {} | {:.0f} % | {:.2g} | {:.2g} | {:.1f} | {:.1f} |\n",
                     runs, 100 * noise, name_of(shape), 100 * common,
                     1e4 * healthy.accused / healthy.parts, 100 * healthy.slow / healthy.parts,
                     100 * bad.found / bad.nodes, 100 * bad.out / bad.nodes);
        }
}

/// The members that SuperBench calls defective: 5 % or more below a baseline that is the mean, made
/// again without these until none is left out. Source: SuperBench, "Baseline Generation", algorithm
/// fix_threshold, with the rule `variance` and the condition "lambda x: x < -0.05".
std::vector<bool> by_superbench(const burnin::Population& population) {
  constexpr double kCondition = -0.05;
  std::vector<bool> defective(population.members.size());
  for (bool changed = true; changed;) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < defective.size(); ++i) {
      if (defective[i]) continue;
      sum += population.members[i].value;
      count += 1;
    }
    changed = false;
    for (std::size_t i = 0; i < defective.size(); ++i) {
      if (defective[i] || population.members[i].value / (sum / count) - 1 >= kCondition) continue;
      defective[i] = true;
      changed = true;
    }
  }
  return defective;
}

/// Of the same fleets as counted(): slow parts that are found, and healthy ones that are accused.
Count counted_by_superbench(SyntheticFleet of, double parts) {
  Count count;
  const int fleets = times(static_cast<int>(parts / (of.nodes * of.positions)));
  for (int i = 0; i < fleets; ++i) {
    of.seed = static_cast<std::uint64_t>(i) + 1;
    const auto known = fleets::synthetic(of);
    const auto defective = by_superbench(known.population);
    for (std::size_t part = 0; part < defective.size(); ++part) {
      (known.bad[part] ? count.bad : count.healthy) += 1;
      (known.bad[part] ? count.found : count.accused) += defective[part] ? 1 : 0;
    }
  }
  return count;
}

void beside_superbench() {
  constexpr double kParts = 8e4;
  const auto compare = [](std::string_view fleet, const SyntheticFleet& of) {
    const auto ours = counted(of, kParts), theirs = counted_by_superbench(of, kParts);
    const auto found = fmt::format("{}: found", fleet), accused = fmt::format("{}: accused", fleet);
    bench::print_beside({.what = found,
                         .peer = "SuperBench's criterion",
                         .unit = "% of slow parts",
                         .ours = 100 * ours.found / ours.bad,
                         .theirs = 100 * theirs.found / theirs.bad});
    bench::print_beside({.what = accused,
                         .peer = "SuperBench's criterion",
                         .unit = "of 10,000 healthy parts",
                         .ours = 1e4 * ours.accused / ours.healthy,
                         .theirs = 1e4 * theirs.accused / theirs.healthy});
  };
  compare("2 % of the parts 3 % slow", {.bad = 0.02, .effect = 0.03});
  compare("2 % of the parts 6 % slow", {.bad = 0.02, .effect = 0.06});
  compare("2 % of the parts 10 % slow, spread 2 %", {.spread = 0.02, .bad = 0.02, .effect = 0.1});
  compare("2 % of the parts 6 % slow, inlets differ by 4 K",
          {.bad = 0.02, .effect = 0.06, .per_kelvin = 0.002, .inlets = 4});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--superbench") == 0) {
    beside_superbench();
    return 0;
  }
  if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) g_share = 0.1;
  const auto began = std::chrono::steady_clock::now();
  shapes(8);
  shapes(1);
  many_bad();
  conditions();
  histories();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  fmt::print("\n{:.0f} s\n", took.count());
}
