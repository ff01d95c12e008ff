// `cupel-burn p2p`: what goes from each GPU to each other: every ordered pair alone, and disjoint
// pairs at once until each has met each; one way and both ways; by copy engines and by loads and
// stores. Every byte of a pass is checked by the GPU that received it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>

#include "burnin/agent/burn/command.h"
#include "burnin/agent/burn/cuda/p2p_side.h"
#include "burnin/agent/burn/links/figures.h"
#include "burnin/agent/burn/links/pairs.h"
#include "burnin/agent/burn/links/pattern.h"
#include "burnin/agent/burn/self_test.h"

namespace cupel::burn {
namespace {

constexpr std::array kChoices{
    Choice{.name = "--mib",
           .kind = Choice::Kind::kCount,
           .fallback = "256",
           .low = 1,
           .high = 4096,
           .help = "of one copy; twice as much of each GPU's memory is used"},
};

constexpr std::array kEngines{Engine::kCopy, Engine::kStores, Engine::kLoads};
constexpr int kPasses = 8;

struct Bench {
  const Options& options;
  Report& report;
  Stop& stop;
  WatchdogScope& scope;
  Figures figures;
  std::vector<Device> devices{};
  std::uint64_t round = 0;
  std::uint64_t passes = 0;  // of all: each has its own data

  /// The first round is finished whatever the clock says: a figure that is missing proves nothing.
  bool goes_on() const { return round == 0 ? !stop.by_signal() : !stop.over(); }

  /// As the report counts GPUs: only some may have been chosen.
  Pair named(Pair flow) const { return {devices[flow.from].gpu.index, devices[flow.to].gpu.index}; }
};

/// Flows that run at once; each pair is timed alone or with others.
struct Set {
  std::vector<Pair> flows{};
  bool both_ways = false;  // flows come as there and back
  std::string_view pairs;  // "one", "all"
};

Set there_and_back(const std::vector<Pair>& pairs, std::string_view label) {
  Set set{.both_ways = true, .pairs = label};
  for (const auto pair : pairs) {
    set.flows.push_back(pair);
    set.flows.push_back({pair.to, pair.from});
  }
  return set;
}

std::string doing(const Bench& bench, const Set& set, Engine engine) {
  const auto first = part_of(bench.named(set.flows.front()));
  const auto who = set.pairs == "one" ? first : first + " and others at once";
  return who + (set.both_ways ? ", both ways, " : ", ") + std::string{name_of(engine)};
}

/// How many copies last long enough for launching them not to count.
int copies_for(double milliseconds_each) {
  constexpr double kLong = 4;
  return static_cast<int>(
      std::clamp(std::ceil(kLong / std::max(milliseconds_each, 0.01)), 1.0, 16.0));
}

void tell_wrong(Bench& bench, const Set& set, Engine engine, const Peers& peers,
                std::span<const Mismatches> found) {
  for (std::size_t i = 0; i < set.flows.size(); ++i) {
    const auto part = part_of(bench.named(set.flows[i]));
    bench.figures.count("p2p.errors", part, static_cast<double>(found[i].count), "errors");
    if (found[i].count == 0) continue;
    bench.report.fault(
        {.what = "wrong-transfer",
         .part = part,
         .round = bench.round,
         .address = found[i].index[0] * 8,
         .detail = doing(bench, set, engine) + ": " + words_of(found[i], peers.words())});
  }
}

/// GB/s of each flow, or of both flows of a pair together.
using Rates = std::vector<Samples>;

void add_rates(Rates& rates, const Set& set, std::uint64_t bytes, std::span<const double> took) {
  if (!set.both_ways) {
    for (std::size_t i = 0; i < took.size(); ++i)
      rates[i].add(static_cast<double>(bytes) / (took[i] * 1e6));
    return;
  }
  for (std::size_t i = 0; i + 1 < took.size(); i += 2)
    rates[i].add(2 * static_cast<double>(bytes) / (std::max(took[i], took[i + 1]) * 1e6));
}

Outcome<> measure(Bench& bench, Peers& peers, const Set& set, Engine engine) {
  const int passes = bench.options.repeats() > 0 ? bench.options.repeats() : kPasses;
  Rates rates(set.flows.size());
  const auto what = doing(bench, set, engine);
  // Of several that flow at once, which one hangs is not known.
  bench.scope.about(set.pairs == "one" ? part_of(bench.named(set.flows.front())) : "");
  int copies = 1;
  for (int pass = -2; pass < passes; ++pass) {  // the first two only wake the links
    bench.scope.doing(what, bench.round);
    const auto seed = mixed(bench.options.seed() + ++bench.passes);
    TRY(peers.prepare(set.flows, seed));
    TRY(const auto took, peers.move(set.flows, engine, copies));
    TRY(const auto found, peers.check(set.flows, seed));
    tell_wrong(bench, set, engine, peers, found);
    if (pass == -1) copies = copies_for(*std::ranges::max_element(took));
    const auto bytes = peers.words() * 8 * static_cast<std::uint64_t>(copies);
    if (pass >= 0) add_rates(rates, set, bytes, took);
  }
  const Labels labels{{"engine", std::string{name_of(engine)}}, {"pairs", std::string{set.pairs}}};
  const auto* name = set.both_ways ? "p2p.both" : "p2p.bandwidth";
  for (std::size_t i = 0; i < rates.size(); ++i)
    if (rates[i].count() > 0)
      bench.figures.add(name, part_of(bench.named(set.flows[i])), rates[i], "GB/s", labels);
  return done();
}

std::vector<Pair> with_access(const Peers& peers, const std::vector<Pair>& pairs) {
  std::vector<Pair> open;
  std::ranges::copy_if(pairs, std::back_inserter(open),
                       [&](Pair pair) { return peers.has_access(pair); });
  return open;
}

/// All that is to be measured in one round, each pair alone first.
std::vector<Set> sets_of(const Peers& peers) {
  std::vector<Set> sets;
  const auto add = [&](const std::vector<Pair>& pairs, bool both, std::string_view label) {
    const auto open = with_access(peers, pairs);
    if (open.empty()) return;
    sets.push_back(both ? there_and_back(open, label) : Set{.flows = open, .pairs = label});
  };
  for (const auto pair : ordered_pairs(peers.count())) add({pair}, false, "one");
  for (const auto pair : ordered_pairs(peers.count()))
    if (pair.from < pair.to) add({pair}, true, "one");
  for (const auto& round : one_way_rounds(peers.count())) add(round, false, "all");
  for (const auto& round : paired_rounds(peers.count())) add(round, true, "all");
  return sets;
}

void tell_access(Bench& bench, const Peers& peers) {
  for (const auto pair : ordered_pairs(peers.count()))
    bench.report.result("p2p.refused", part_of(bench.named(pair)), peers.has_access(pair) ? 0 : 1,
                        "count");
  std::string gpus;
  for (const auto& device : bench.devices)
    gpus += (gpus.empty() ? "[" : ",") + std::to_string(device.gpu.index);
  agent::JsonLine line{"matrix"};
  line.add("name", "p2p.access").raw("gpus", gpus + "]").raw("rows", peers.access().rows());
  bench.report.say(line);
}

Outcome<> self_test(Bench& bench, Peers& peers) {
  const auto pairs = with_access(peers, ordered_pairs(peers.count()));
  if (pairs.empty())
    return Failure{.code = "refused",
                   .message = "no GPU may reach another's memory: nothing to plant an error in"};
  std::mt19937_64 random{bench.options.seed()};
  const int times = bench.options.self_tests();
  std::uint64_t found = 0;
  int time = 0;
  for (; time < times && !bench.stop.over(); ++time) {
    bench.scope.doing("self-test", static_cast<std::uint64_t>(time));
    const auto engine = kEngines[static_cast<std::size_t>(time) % kEngines.size()];
    const Set set{.flows = {pairs[random() % pairs.size()]}, .pairs = "one"};
    const auto seed = mixed(bench.options.seed() + ++bench.passes);
    TRY(peers.prepare(set.flows, seed));
    TRY(peers.move(set.flows, engine, 1));
    TRY(const auto clean, peers.check(set.flows, seed));
    tell_wrong(bench, set, engine, peers, clean);
    const auto word = random() % peers.words();
    TRY(peers.plant(set.flows.front(), word, static_cast<int>(random() % 64)));
    TRY(const auto planted, peers.check(set.flows, seed));
    found += planted.front().count == clean.front().count + 1 && planted.front().index[0] == word;
  }
  return tell_self_test(bench.report, bench.stop, "bit-in-copy", found, time, times, "");
}

Outcome<> run(const Options& options, Report& report, Stop& stop, Watchdog& watchdog) {
  // Loaded late, a kernel would have to wait for the one that holds the GPUs until all begin.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  WatchdogScope scope{watchdog, ""};
  scope.doing("listing the GPUs");
  TRY(const auto node, list_devices(options));
  report.start(start_of(options, node));
  if (node.devices.size() < 2)
    return Failure{.code = "refused",
                   .message = "p2p needs two GPUs or more; there is one: nothing was done"};
  scope.doing("opening the GPUs to each other");
  const bool is_test = options.self_tests() > 0;
  const auto requested = static_cast<std::size_t>(options.number("--mib"));
  const auto bytes = (is_test ? std::min<std::size_t>(requested, 16) : requested) << 20;
  TRY(auto peers, Peers::open(node.devices, bytes));
  Bench bench{options, report, stop, scope, Figures{report}, node.devices};
  if (is_test) return self_test(bench, peers);
  tell_access(bench, peers);
  const auto sets = sets_of(peers);
  do {
    for (const auto& set : sets)
      for (const auto engine : kEngines) {
        if (!bench.goes_on()) return done();
        TRY(measure(bench, peers, set, engine));
      }
    ++bench.round;
  } while (!sets.empty() && bench.goes_on() &&
           (options.rounds() == 0 || bench.round < static_cast<std::uint64_t>(options.rounds())));
  return done();
}

}  // namespace

Command p2p_command() {
  return {.name = "p2p",
          .help = "bandwidth between each two GPUs, and which of them may reach each other",
          .choices = kChoices,
          .run = run};
}

}  // namespace cupel::burn
