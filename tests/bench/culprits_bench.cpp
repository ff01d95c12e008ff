// Who is named for slow parts of simulated fleets, and who is named though it is well.
//
//   culprits_bench [FLEETS] [MOST_NODES]   the tables of docs/build/decisions/fabric-culprits.md
//
// Each fleet draws its size (8 to 1,024 nodes), the noise of its readings (0.3 to 3 %), how much
// its links differ for good (0 to 3 %, in four shapes), how often readings dip, and its faults. The
// default is a short run.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <functional>
#include <optional>
#include <set>

#include "burnin/fabric/bisection.h"
#include "burnin/fabric/whole_fabric.h"
#include "tests/support/simulated_pairs.h"

namespace {

using namespace cupel;
using burnin::fabric::Bisection;
using burnin::fabric::PairScreen;
using burnin::fabric::Part;
using burnin::fabric::PartKind;
using burnin::fabric::Routing;
using burnin::fabric::Way;
using test::SimulatedFabric;
using Routes = SimulatedFabric::Routes;

struct World {
  std::string_view name;
  Routes routes = Routes::shifted;
  bool has_tables = false;
  Routing reported = Routing::unknown;
  int connections = 1;
  bool traced = false;  // nodes may read the port counters of switches
};

constexpr std::array kWorlds{
    World{"not known (the default)"},
    World{"by destination, tables", Routes::shifted, true, Routing::by_destination},
    World{"by destination, no tables", Routes::lid, false, Routing::by_destination},
    World{"ftree, tables", Routes::ftree, true, Routing::by_destination},
    World{"ftree, no tables", Routes::ftree, false, Routing::by_destination},
    World{"adaptive", Routes::adaptive, false, Routing::adaptive},
    World{"ECMP, 16 queue pairs", Routes::hashed, false, Routing::ecmp, 16},
    World{"ECMP, one queue pair", Routes::hashed, false, Routing::ecmp, 1},
    World{.name = "not known, traced by counters", .traced = true},
    World{.name = "not known, ftree, traced", .routes = Routes::ftree, .traced = true},
    World{.name = "not known, adaptive, traced", .routes = Routes::adaptive, .traced = true},
};

enum class Kind { none, node, link, one_way, uplink, leaf, spine, now_and_then, pair, several };
constexpr std::array<std::string_view, 10> kKinds{"none",
                                                  "a node",
                                                  "a link",
                                                  "a link, one way",
                                                  "an uplink",
                                                  "a leaf",
                                                  "a spine",
                                                  "a link in 30 % of readings",
                                                  "two nodes together",
                                                  "two to five"};

struct Tally {
  int fleets = 0, accused = 0, fleets_accused = 0;
  int planted = 0, named = 0, few = 0, group = 0, mentioned = 0, silent = 0;
  double inconclusive = 0, nodes = 0, rounds = 0;
};

void add(Tally& to, const Tally& one) {
  to.fleets += one.fleets;
  to.accused += one.accused;
  to.fleets_accused += one.fleets_accused;
  to.planted += one.planted;
  to.named += one.named;
  to.few += one.few;
  to.group += one.group;
  to.mentioned += one.mentioned;
  to.silent += one.silent;
  to.inconclusive += one.inconclusive;
  to.nodes += one.nodes;
  to.rounds += one.rounds;
}

using Draw = std::mt19937_64;

template <class List>
auto any_of(const List& list, Draw& draw) {
  return list[draw() % list.size()];
}

SimulatedFabric fabric_of(const World& world, Draw& draw, int most_nodes) {
  constexpr std::array kNodes{8, 32, 64, 64, 128, 128, 232, 232, 512, 1024};
  constexpr std::array kNoise{0.003, 0.006, 0.01, 0.015, 0.02, 0.03};
  constexpr std::array kSpread{0.0, 0.0, 0.005, 0.01, 0.02, 0.03};
  using Shape = SimulatedFabric::Spread;
  SimulatedFabric fabric;
  fabric.nodes = std::min(any_of(kNodes, draw), most_nodes);
  fabric.group = fabric.nodes == 8 && draw() % 2 == 0 ? 4 : 32;
  fabric.noise = any_of(kNoise, draw);
  fabric.spread = any_of(kSpread, draw);
  fabric.shape = static_cast<Shape>(draw() % 4);
  fabric.skewed = draw() % 4 == 0;
  fabric.dips = draw() % 4 == 0 ? 0.03 : 0.005;
  fabric.dips_again = draw() % 2 == 0 ? 0.3 : 0;
  fabric.routes = world.routes;
  fabric.has_tables = world.has_tables;
  fabric.reported = world.reported;
  fabric.connections = world.connections;
  return fabric;
}

/// What is left of a part: less than any healthy link of this fleet has.
double level_of(test::SlowParts& parts, const SimulatedFabric& fabric) {
  const double most = 1 - std::max({0.1, 4 * fabric.noise, 8 * fabric.spread});
  return parts.level(0.4, std::max(0.5, most));
}

struct Planted {
  std::vector<burnin::fabric::PartId> parts{};
  std::set<int> pair{};
};

Planted plant(Kind kind, test::SlowParts& parts, const SimulatedFabric& fabric, Draw& draw,
              const PairScreen& screen) {
  Planted planted;
  const auto slow = [&](PartKind part, Way way = Way::both) {
    planted.parts.push_back(parts.any_of(part, way));
    parts.slow(planted.parts.back(), level_of(parts, fabric));
  };
  const bool one_group = fabric.groups() < 2;
  switch (kind) {
    case Kind::none:
      break;
    case Kind::node:
      slow(PartKind::node);
      break;
    case Kind::link:
      slow(PartKind::access);
      break;
    case Kind::one_way:
      slow(PartKind::access, draw() % 2 == 0 ? Way::out : Way::in);
      break;
    case Kind::uplink:
      slow(one_group ? PartKind::access : PartKind::uplink);
      break;
    case Kind::leaf:
      slow(one_group ? PartKind::access : PartKind::leaf);
      break;
    case Kind::spine:
      slow(one_group ? PartKind::access : PartKind::spine);
      break;
    case Kind::now_and_then:
      planted.parts.push_back(parts.any_of(PartKind::access));
      parts.slow_now_and_then(planted.parts.back(), 0.5, 0.3);
      break;
    case Kind::pair: {
      const auto meet = screen.next_flows()[draw() % screen.next_flows().size()];
      const int one = meet.from, other = meet.to;
      parts.slow_together(one, other, 0.6);
      planted.pair = {one, other};
      break;
    }
    case Kind::several: {
      constexpr std::array kOf{Kind::node, Kind::link,  Kind::one_way,      Kind::uplink,
                               Kind::leaf, Kind::spine, Kind::now_and_then, Kind::pair};
      const auto count = 2 + draw() % 4;
      for (std::size_t i = 0; i < count; ++i) {
        auto more = plant(any_of(kOf, draw), parts, fabric, draw, screen);
        planted.parts.insert(planted.parts.end(), more.parts.begin(), more.parts.end());
        planted.pair.merge(more.pair);
      }
    }
  }
  return planted;
}

std::optional<int> node_of(const Part& part) {
  const bool is = part.kind == PartKind::node || part.kind == PartKind::access;
  return is ? std::optional{part.owner} : std::nullopt;
}

void judge(const PairScreen& screen, const Planted& planted, Tally& tally) {
  const auto found = screen.culprits();
  const auto whole = whole_fabric(screen.readings(), found);
  const auto& topology = screen.topology();
  std::set<int> bad, failed, inconclusive;
  for (const auto part : planted.parts)
    if (const auto node = node_of(topology.part(part))) bad.insert(*node);
  for (const auto& each : found.named)
    if (const auto node = node_of(topology.part(each.parts.front()))) failed.insert(*node);
  for (const auto& each : found.open)
    for (const auto part : each.parts)
      if (const auto node = node_of(topology.part(part))) inconclusive.insert(*node);
  for (const auto id : found.unexplained) {
    inconclusive.insert(screen.readings().flow(id).from);
    inconclusive.insert(screen.readings().flow(id).to);
  }
  int accused = 0;
  for (const int node : failed) accused += bad.contains(node) ? 0 : 1;
  for (const auto& each : found.named) {  // a healthy switch is as innocent
    const auto part = topology.part(each.parts.front());
    const auto is_same = [&](auto one) {
      return topology.whole(one) == topology.whole(each.parts.front());
    };
    if (!node_of(part) && std::ranges::none_of(planted.parts, is_same)) ++accused;
  }
  if (accused > 0 && std::getenv("CULPRITS_SHOW") != nullptr)
    for (const auto& each : found.named) {
      const auto part = topology.part(each.parts.front());
      fmt::print(stderr,
                 "  {} way {} of {} index {}: level {:.3f}, score {:.0f}, {} slow {} fast, dips {} "
                 "of {}; limits {:.3f} {:.3f} noise {:.4f} stays {:.4f}\n",
                 static_cast<int>(part.kind), static_cast<int>(part.way), part.owner, part.index,
                 each.level, each.score, each.slow, each.fast, each.dips, each.readings,
                 screen.limits(false).margin, screen.limits(false).sure, screen.limits(false).noise,
                 screen.limits(false).stays);
    }
  tally.accused += accused;
  tally.fleets_accused += accused > 0 ? 1 : 0;
  tally.nodes += topology.wiring().nodes;
  std::erase_if(inconclusive, [&](int node) { return bad.contains(node); });
  tally.inconclusive += static_cast<double>(inconclusive.size());
  const bool speaks = !found.named.empty() || !found.open.empty() || !found.unexplained.empty() ||
                      !whole.is_well() || whole.collides;
  for (const auto part : planted.parts) {
    ++tally.planted;
    const auto same = [&](auto one) { return topology.whole(one) == topology.whole(part); };
    const auto has = [&](const auto& each) { return std::ranges::any_of(each.parts, same); };
    const auto few = [&](const auto& each) { return each.parts.size() <= 4 && has(each); };
    const auto at = topology.part(part);
    const bool of_group = std::ranges::any_of(whole.groups, [&](const auto& group) {
      return (at.kind == PartKind::uplink &&
              std::ranges::find(group.leaves, at.owner) != group.leaves.end()) ||
             (at.kind == PartKind::spine && group.leaves.empty());
    });
    if (std::ranges::any_of(found.named, has))
      ++tally.named;
    else if (std::ranges::any_of(found.open, few))
      ++tally.few;
    else if (of_group)
      ++tally.group;
    else if (speaks)
      ++tally.mentioned;
    else
      ++tally.silent;
  }
  if (planted.parts.empty() && !planted.pair.empty()) {
    ++tally.planted;
    std::set<int> slow;
    for (const auto id : found.unexplained) {
      slow.insert(screen.readings().flow(id).from);
      slow.insert(screen.readings().flow(id).to);
    }
    ++(slow == planted.pair ? tally.few : speaks ? tally.mentioned : tally.silent);
  }
}

Tally run(const World& world, Kind kind, std::uint64_t seed, int most_nodes) {
  Draw draw{seed};
  const auto fabric = fabric_of(world, draw, most_nodes);
  PairScreen screen{fabric.wiring(), {}};
  test::SlowParts parts{screen.topology(), fabric, draw()};
  const auto planted = plant(kind, parts, fabric, draw, screen);
  while (!screen.next_flows().empty()) screen.take(parts.read_all(screen.next_flows()));
  if (world.traced) test::trace_flows(screen, parts);
  Tally tally{.fleets = 1};
  tally.rounds = screen.rounds();
  judge(screen, planted, tally);
  if (tally.accused > 0 && std::getenv("CULPRITS_SHOW") != nullptr)
    fmt::print(stderr,
               "{} | {} | seed {} | {} nodes, noise {}, spread {} shape {}, dips {} again {}, "
               "skewed {}: {}\n",
               world.name, kKinds[static_cast<std::size_t>(kind)], seed, fabric.nodes, fabric.noise,
               fabric.spread, static_cast<int>(fabric.shape), fabric.dips, fabric.dips_again,
               fabric.skewed, tally.accused);
  return tally;
}

void print(std::string_view name, const Tally& tally) {
  const auto percent = [&](int part) {
    return tally.planted == 0 ? std::string{"-"}
                              : fmt::format("{:.1f} %", 100.0 * part / tally.planted);
  };
  fmt::print("| {} | {} | {} in {} | {} | {} | {} | {} | {} | {:.1f} % | {:.1f} |\n", name,
             tally.fleets, tally.accused, tally.fleets_accused, percent(tally.named),
             percent(tally.few), percent(tally.group), percent(tally.mentioned),
             percent(tally.silent), 100 * tally.inconclusive / std::max(tally.nodes, 1.0),
             tally.rounds / tally.fleets);
  std::fflush(stdout);
}

void print_header(std::string_view of) {
  fmt::print(
      "\n| {} | fleets | healthy parts failed | faults named | narrowed to 4 parts | to a group | "
      "said, not narrowed | passed over | healthy nodes inconclusive | rounds |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n",
      of);
}

// ---- NCCL ----

struct Collective {
  std::string_view name;
  std::function<double(const std::vector<std::size_t>&, const std::set<std::size_t>&, std::size_t)>
      share;
  std::size_t bad = 1;
  bool nodes_are_bad = true;
};

bool has(const std::vector<std::size_t>& team, std::size_t node) {
  return std::ranges::find(team, node) != team.end();
}

void bisect(int fleets) {
  using Team = std::vector<std::size_t>;
  using Bad = std::set<std::size_t>;
  static Draw draw{1};
  const auto chance = [](double share) {
    return std::uniform_real_distribution<>{0, 1}(draw) < share;
  };
  const auto any = [](const Team& team, const Bad& bad) {
    return std::ranges::any_of(bad, [&](auto node) { return has(team, node); });
  };
  const std::array kCollectives{
      Collective{"none", [](auto&, auto&, auto) { return 1.0; }, 0},
      Collective{"one node", [&](auto& team, auto& bad, auto) { return any(team, bad) ? 0.6 : 1; },
                 1},
      Collective{"five nodes",
                 [&](auto& team, auto& bad, auto) { return any(team, bad) ? 0.6 : 1; }, 5},
      Collective{"a node with which none ends",
                 [&](auto& team, auto& bad, auto) { return any(team, bad) ? 0.0 : 1; }, 1},
      Collective{"a pair",
                 [](auto& team, auto& bad, auto) {
                   return has(team, *bad.begin()) && has(team, *bad.rbegin()) ? 0.6 : 1;
                 },
                 2, false},
      Collective{"between two quarters",
                 [](auto& team, auto&, auto count) {
                   bool one = false, other = false;
                   for (const auto node : team) {
                     one |= node * 4 / count == 1;
                     other |= node * 4 / count == 3;
                   }
                   return one && other ? 0.75 : 1;
                 },
                 0, false},
      Collective{"the whole, by 15 %",
                 [](auto& team, auto&, auto count) { return 2 * team.size() > count ? 0.85 : 1; },
                 0, false},
      Collective{"four nodes in 30 % of readings",
                 [&](auto& team, auto& bad, auto) {
                   for (const auto node : bad)
                     if (has(team, node) && chance(0.3)) return 0.5;
                   return 1.0;
                 },
                 4},
      Collective{"four nodes in 60 % of readings",
                 [&](auto& team, auto& bad, auto) {
                   for (const auto node : bad)
                     if (has(team, node) && chance(0.6)) return 0.5;
                   return 1.0;
                 },
                 4},
  };
  fmt::print(
      "\n| NCCL, slow | fleets | healthy nodes failed | bad nodes failed | fabric findings | "
      "healthy nodes inconclusive | rounds |\n|---|---|---|---|---|---|---|\n");
  for (const auto& each : kCollectives) {
    int failed = 0, in_fleets = 0, found = 0, planted = 0, findings = 0;
    double inconclusive = 0, all = 0, rounds = 0;
    for (int fleet = 0; fleet < fleets; ++fleet) {
      draw.seed(static_cast<std::uint64_t>(fleet) * 7919 + 3);
      constexpr std::array<std::size_t, 5> kCounts{16, 64, 64, 232, 1024};
      const auto count = kCounts[static_cast<std::size_t>(fleet) % kCounts.size()];
      std::vector<std::string> names;
      for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("n{}", i));
      Bad bad;
      while (bad.size() < each.bad) bad.insert(draw() % count);
      Bisection bisection{names, 0};
      for (auto teams = bisection.next(); !teams.empty(); teams = bisection.next(), ++rounds) {
        std::vector<double> rates;
        for (const auto& team : teams) {
          double rate =
              team.size() <= 2 ? 479 : 388 - 2 * std::log2(static_cast<double>(team.size()));
          rate *= each.share(team, bad, count) * (1 + 0.01 * std::normal_distribution<>{}(draw));
          if (chance(0.02)) rate *= 0.75;
          rates.push_back(rate);
        }
        bisection.take(rates);
      }
      Bad accused, doubted;
      for (const auto& one : bisection.suspicions()) {
        const bool accuses =
            one.kind == Bisection::Kind::node || one.kind == Bisection::Kind::alike;
        findings += one.kind > Bisection::Kind::node && one.kind < Bisection::Kind::alike ? 1 : 0;
        for (const auto* nodes : {&one.nodes, &one.others})
          for (const auto node : *nodes) (accuses ? accused : doubted).insert(node);
      }
      int innocent = 0;
      for (const auto node : accused)
        (each.nodes_are_bad && bad.contains(node) ? found : innocent)++;
      failed += innocent;
      in_fleets += innocent > 0 ? 1 : 0;
      planted += each.nodes_are_bad ? static_cast<int>(bad.size()) : 0;
      for (const auto node : doubted) inconclusive += bad.contains(node) ? 0 : 1;
      all += static_cast<double>(count);
    }
    fmt::print("| {} | {} | {} in {} | {} of {} | {} | {:.1f} % | {:.1f} |\n", each.name, fleets,
               failed, in_fleets, found, planted, findings, 100 * inconclusive / all,
               rounds / fleets);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::array kRun{Kind::none,   Kind::node,   Kind::link,  Kind::one_way,
                            Kind::uplink, Kind::leaf,   Kind::spine, Kind::now_and_then,
                            Kind::pair,   Kind::several};
  constexpr int kLargest = 1024;
  const int fleets = argc > 1 ? std::atoi(argv[1]) : 160;
  const int most_nodes = argc > 2 ? std::atoi(argv[2]) : kLargest;
  const int each = std::max(1, fleets / static_cast<int>(kWorlds.size() * kRun.size()));
  std::array<Tally, kRun.size()> by_kind{};
  const auto before = std::clock();
  print_header("routing");
  for (const auto& world : kWorlds) {
    Tally of_world;
    for (std::size_t kind = 0; kind < kRun.size(); ++kind)
      for (int i = 0; i < each; ++i) {
        const auto seed =
            (static_cast<std::uint64_t>(&world - kWorlds.data()) * 100 + kind) * 100'003 +
            static_cast<std::uint64_t>(i) * 7919 + 1;
        const auto one = run(world, kRun[kind], seed, most_nodes);
        add(by_kind[kind], one);
        add(of_world, one);
      }
    print(world.name, of_world);
  }
  print_header("slow");
  for (std::size_t kind = 0; kind < kRun.size(); ++kind) print(kKinds[kind], by_kind[kind]);
  bisect(std::max(10, fleets / 30));
  fmt::print("\n{:.0f} s of CPU\n", static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
}
