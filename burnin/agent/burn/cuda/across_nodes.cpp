#include "burnin/agent/burn/cuda/across_nodes.h"

#include <algorithm>

#include "burnin/agent/burn/links/surroundings.h"
#include "burnin/agent/burn/nccl_meeting.h"
#include "burnin/agent/burn/nccl_ras.h"

namespace cupel::burn {
namespace {

Failure usage(std::string message) { return {.code = "usage", .message = std::move(message)}; }

struct Ranks {
  int all = 0, base = 0, here = 0;
};

/// Errors: usage; refused where this node's GPUs go beyond all ranks.
Outcome<Ranks> ranks_of(const Options& options, const Node& node) {
  const Ranks ranks{static_cast<int>(options.number("--ranks")),
                    static_cast<int>(options.number("--rank-base")),
                    static_cast<int>(node.devices.size())};
  const int ways = static_cast<int>(options.flag("--make-id")) +
                   static_cast<int>(options.given("--id")) +
                   static_cast<int>(options.given("--id-file"));
  if (ways != 1) return usage("--ranks: give one of --make-id, --id and --id-file");
  if (options.self_tests() > 0) return usage("--self-test is for the GPUs of one node");
  if (ranks.base + ranks.here > ranks.all)
    return Failure{.code = "refused",
                   .message = "ranks " + std::to_string(ranks.base) + " to " +
                              std::to_string(ranks.base + ranks.here - 1) + " on the " +
                              std::to_string(ranks.here) + " GPUs of this node are more than the " +
                              std::to_string(ranks.all) + " there are to be: choose with --gpus"};
  return ranks;
}

/// The shapes of all operations, each from the smallest size. Errors: memory, usage.
Outcome<std::vector<Shape>> shapes_of(const Options& options, int ranks, std::uint64_t free) {
  const auto least = static_cast<std::uint64_t>(options.number("--min"));
  const auto most = static_cast<std::uint64_t>(options.number("--max"));
  if (most < least) return usage("--max is less than --min");
  // Every node must run the same sizes: none is left out where one has no room.
  if (largest_fitting(most, free) < most)
    return Failure{.code = "memory",
                   .message = std::to_string(most) + " bytes do not fit twice into the " +
                              std::to_string(free >> 20) +
                              " MiB that are free on every GPU of this node"};
  const auto sizes = size_ladder(least, most, static_cast<unsigned>(options.number("--factor")));
  std::vector<Shape> shapes;
  for (const auto operation : operations_of(options))
    for (const auto& shape : shape_ladder(operation, ranks, timed_scalar(operation), sizes))
      shapes.push_back(shape);
  if (shapes.empty())
    return usage("no operation has a size from " + std::to_string(least) + " to " +
                 std::to_string(most) + " bytes over " + std::to_string(ranks) + " ranks");
  return shapes;
}

/// The same on every node: of the id, which all have.
std::uint64_t seed_of(const Options& options, const Meeting& meeting) {
  if (options.given("--seed")) return options.seed();
  std::uint64_t seed = 0;
  for (const char byte : meeting.raw.bytes)
    seed = mixed(seed + static_cast<unsigned char>(byte) + 1);
  return seed;
}

Failure not_joined(const Failure& why, const Ranks& ranks, double within) {
  auto text = "ranks " + std::to_string(ranks.base) + " to " +
              std::to_string(ranks.base + ranks.here - 1) + " of " + std::to_string(ranks.all) +
              " were here, and not all others came within " +
              std::to_string(static_cast<int>(within)) + " s: " + why.message;
  return {.code = "nccl", .message = std::move(text), .part = why.part};
}

Outcome<Meeting> meet(const Options& options, Report& report, const nccl::Library& library,
                      const std::function<bool()>& is_over) {
  if (!options.flag("--make-id")) {
    TRY(auto meeting, read_id(options));
    const std::chrono::duration<double> within{options.number("--join-within")};
    TRY(reach(meeting.id, within, is_over));
    return meeting;
  }
  TRY(auto meeting, make_id(library));
  report.say(id_line(meeting.id, library.version_name()));
  return meeting;
}

class Across {
 public:
  Across(const Options& options, Report& report, Stop& stop, Watchdog& watchdog, const Node& node,
         const nccl::Library& library)
      : options_{options},
        report_{report},
        stop_{stop},
        watchdog_{watchdog},
        node_{node},
        library_{library} {}

  Outcome<> run(const Ranks& ranks) {
    TRY(const auto free, free_memory(node_));
    TRY(auto shapes, shapes_of(options_, ranks.all, free));
    TRY(const auto meeting, meet(options_, report_, library_, [this] { return stop_.over(); }));
    const auto joined = join(ranks, meeting);
    if (!joined && stop_.by_signal()) return done();
    if (!joined) return joined.error();
    const auto& all = *joined;
    std::uint64_t most = 0;
    for (const auto& shape : shapes) most = std::max(most, shape.bytes);
    AcrossBench bench{{options_, report_, stop_, watchdog_, node_, *all, std::move(shapes), most,
                       seed_of(options_, meeting)}};
    watchdog_.on_hang([this, &bench, raw = all.get()] {
      bench.tell_ranks();
      report_.say(ask_own_ras());  // while the communicators are still there
      raw->abort();
    });
    const bool whole = bench.run();  // who fails says so itself
    watchdog_.on_hang({});
    if (whole) return done();
    bench.tell_ranks();
    if (stop_.by_signal() || stop_.given_up()) return done();
    return Failure{.code = "nccl",
                   .message = "its time (--seconds) was over before all sizes had been run"};
  }

 private:
  Outcome<std::unique_ptr<Communicators>> join(const Ranks& ranks, const Meeting& meeting) {
    WatchdogScope scope{watchdog_, ""};
    scope.doing("joining " + std::to_string(ranks.all) + " ranks at " + meeting.id.address);
    std::vector<int> ordinals;
    for (const auto& device : node_.devices) ordinals.push_back(device.ordinal);
    const double within = options_.number("--join-within");
    const auto until = Stop::Clock::now() + std::chrono::duration_cast<Stop::Clock::duration>(
                                                std::chrono::duration<double>{within});
    auto joined = std::make_shared<std::atomic<bool>>(false);
    const auto asked = std::make_shared<std::atomic<bool>>(false);
    Part part{meeting.raw, ranks.base, ranks.all, [this, until, joined, asked, &scope] {
                if (*joined) return !stop_.over();
                scope.alive();  // it has a limit of its own
                if (stop_.over()) return false;
                if (Stop::Clock::now() < until) return true;
                // Before the communicators that wait are aborted: afterwards RAS knows of none.
                if (!asked->exchange(true)) report_.say(ask_own_ras());
                return false;
              }};
    auto all = Communicators::join(library_, ordinals, std::move(part));
    *joined = true;
    if (!all) return not_joined(all.error(), ranks, within);
    agent::JsonLine line{"joined"};
    report_.say(line.add("base", ranks.base).add("here", ranks.here).add("of", ranks.all));
    return all;
  }

  const Options& options_;
  Report& report_;
  Stop& stop_;
  Watchdog& watchdog_;
  const Node& node_;
  const nccl::Library& library_;
};

}  // namespace

Outcome<> run_across(const Options& options, Report& report, Stop& stop, Watchdog& watchdog,
                     const Node& node) {
  const Scratch scratch;
  const auto chosen = choose_interface(options);
  const Variables set{{"NCCL_DEBUG", "INFO"},
                      {"NCCL_DEBUG_SUBSYS", "INIT,NET"},
                      {"NCCL_DEBUG_FILE", scratch.log()}};
  auto start = start_of(options, node);
  start.parameters = with_environment(options.parameters(), set);
  for (const auto& [name, value] : set) ::setenv(name.c_str(), value.c_str(), 1);
  const auto library = nccl::Library::load(nccl::usual_places());
  if (library) start.nccl = library->version_name();
  report.start(start);
  TRY(chosen);
  if (!library) return library.error();
  TRY(const auto ranks, ranks_of(options, node));
  return Across{options, report, stop, watchdog, node, *library}.run(ranks);
}

}  // namespace cupel::burn
