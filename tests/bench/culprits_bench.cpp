// How well the search by pairs names slow parts of a simulated fabric, and how quickly.
//
//   culprits_bench [SEEDS] [NODES]   the table of docs/decisions/fabric-culprits.md
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

#include "tests/support/simulated_pairs.h"

namespace {

using namespace cupel;
using burnin::fabric::PairScreen;
using test::SimulatedFabric;

struct Row {
  std::string_view name;
  SimulatedFabric fabric;
  int bad = 1;
  double least = 0.4, most = 0.9;  // what is left of a slow part
  int share_of_seeds = 1;          // one of so many
};

struct Tally {
  int planted = 0, exact = 0, in_set = 0, healthy_accused = 0, runs_accused = 0, most_rounds = 0;
  double rounds = 0, repeats = 0, longest_ms = 0, total_ms = 0;
  int runs = 0, steps = 0;
};

double now_ms() { return 1000 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void judge(const PairScreen& screen, const test::SlowParts& parts, Tally& tally) {
  const auto found = screen.culprits();
  const auto& topology = screen.topology();
  const auto is_bad = [&](auto part) {
    return std::ranges::find(parts.bad(), topology.whole(part)) != parts.bad().end();
  };
  bool accused = false;
  std::vector<burnin::fabric::PartId> named;
  for (const auto& each : found.named) {
    named.push_back(topology.whole(each.parts.front()));
    if (is_bad(each.parts.front())) continue;
    ++tally.healthy_accused;
    accused = true;
  }
  tally.runs_accused += accused ? 1 : 0;
  for (const auto part : parts.bad()) {
    ++tally.planted;
    if (std::ranges::find(named, part) != named.end()) {
      ++tally.exact;
      continue;
    }
    tally.in_set += std::ranges::any_of(found.open, [&](const auto& each) {
      return each.parts.size() <= 3 &&
             std::ranges::any_of(each.parts, [&](auto one) { return topology.whole(one) == part; });
    });
  }
}

void run(const Row& row, std::uint64_t seed, Tally& tally) {
  PairScreen screen{row.fabric.wiring(), {}};
  test::SlowParts parts{screen.topology(), row.fabric, seed};
  parts.plant(row.bad, row.least, row.most);
  std::vector<double> readings;
  while (!screen.next_flows().empty()) {
    readings.clear();
    for (const auto& flow : screen.next_flows()) readings.push_back(parts.read(flow));
    tally.repeats += screen.repeats() ? 1 : 0;
    const double before = now_ms();
    screen.take(readings);
    const double spent = now_ms() - before;
    tally.longest_ms = std::max(tally.longest_ms, spent);
    tally.total_ms += spent;
    ++tally.steps;
  }
  ++tally.runs;
  tally.rounds += screen.rounds();
  tally.most_rounds = std::max(tally.most_rounds, screen.rounds());
  const double before = now_ms();
  judge(screen, parts, tally);
  tally.longest_ms = std::max(tally.longest_ms, now_ms() - before);
}

void print(const Row& row, const Tally& tally) {
  const auto percent = [&](int part) {
    return tally.planted == 0 ? 0 : 100.0 * part / tally.planted;
  };
  const double runs = tally.runs;
  // A round: start-up, at 400 nodes a second, and 10 s of traffic; a repeat 2 s and 4 s.
  const double start = 3 + row.fabric.nodes / 400.0;
  const double seconds = (tally.rounds * (start + 10) + tally.repeats * 6) / runs;
  fmt::print(
      "| {} | {} | {:.2f} % | {:.2f} % | {:.2f} % | {} of {} | {:.2f}, {} | {:.0f} s | {:.1f}, "
      "{:.1f} ms |\n",
      row.name, tally.runs, percent(tally.exact), percent(tally.in_set),
      percent(tally.planted - tally.exact - tally.in_set), tally.runs_accused, tally.runs,
      tally.rounds / runs, tally.most_rounds, seconds, tally.total_ms / tally.steps,
      tally.longest_ms);
  std::fflush(stdout);
}

std::vector<Row> rows() {
  const SimulatedFabric at_232{}, at_512{.nodes = 512}, at_64{.nodes = 64}, at_8{.nodes = 8};
  const auto with = [](SimulatedFabric fabric, double noise, double dips = 0.005) {
    fabric.noise = noise;
    fabric.dips = dips;
    return fabric;
  };
  SimulatedFabric uneven{.nodes = 512};
  uneven.spread = 0.005;
  return {
      {"232 nodes, none slow", at_232, 0},
      {"512 nodes, none slow", at_512, 0},
      {"512 nodes, none slow, noise 1.5 %", with(at_512, 0.015), 0},
      {"512 nodes, none slow, 3 % of readings dip", with(at_512, 0.006, 0.03), 0},
      {"512 nodes, none slow, links differ by 0.5 %", uneven, 0},
      {"232 nodes, one slow", at_232, 1},
      {"232 nodes, five slow", at_232, 5},
      {"512 nodes, one slow", at_512, 1},
      {"512 nodes, five slow", at_512, 5},
      {"512 nodes, five slow, noise 1.5 %", with(at_512, 0.015), 5},
      {"512 nodes, five slow, 3 % of readings dip", with(at_512, 0.006, 0.03), 5},
      {"232 nodes, one slow by 5 %, noise 1.5 %", with(at_232, 0.015), 1, 0.95, 0.95},
      {"512 nodes, one slow by 5 %, noise 1.5 %", with(at_512, 0.015), 1, 0.95, 0.95},
      {"512 nodes, one slow by 3 to 6 %", at_512, 1, 0.94, 0.97},
      {"64 nodes, one slow", at_64, 1},
      {"8 nodes, one slow", at_8, 1},
      {"10,000 nodes, five slow", {.nodes = 10000}, 5, 0.4, 0.9, 50},
  };
}

}  // namespace

int main(int argc, char** argv) {
  const int seeds = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int nodes = argc > 2 ? std::atoi(argv[2]) : 0;
  fmt::print(
      "| fabric, 8 rails | runs | named exactly | in a set | missed | runs that accuse a healthy "
      "part | rounds: mean, most | time | a step: mean, longest |\n|---|---|---|---|---|---|---|---"
      "|---|\n");
  for (const auto& row : rows()) {
    if (nodes != 0 && row.fabric.nodes != nodes) continue;
    Tally tally;
    for (int seed = 0; seed < std::max(1, seeds / row.share_of_seeds); ++seed)
      run(row, static_cast<std::uint64_t>(seed) * 7919 + 1, tally);
    print(row, tally);
  }
}
