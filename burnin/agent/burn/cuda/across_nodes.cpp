#include "burnin/agent/burn/cuda/across_nodes.h"

#include <algorithm>

#include "burnin/agent/burn/cuda/across_join.h"
#include "burnin/agent/burn/nccl_ras.h"

namespace cupel::burn {
namespace {

Failure usage(std::string message) { return {.code = "usage", .message = std::move(message)}; }

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

}  // namespace

Outcome<> run_across(const Options& options, Report& report, Stop& stop, Watchdog& watchdog,
                     const Node& node) {
  TRY(const auto joining, Joining::begin({options, report, stop, watchdog, node}));
  TRY(const auto free, free_memory(node));
  TRY(auto shapes, shapes_of(options, joining.ranks().all, free));
  TRY(const auto meeting, joining.meet());
  const auto joined = joining.join(meeting);
  if (!joined && stop.by_signal()) return done();
  if (!joined) return joined.error();
  const auto& all = *joined;
  std::uint64_t most = 0;
  for (const auto& shape : shapes) most = std::max(most, shape.bytes);
  AcrossBench bench{{options, report, stop, watchdog, node, *all, std::move(shapes), most,
                     joining.seed(meeting)}};
  watchdog.on_hang([&report, &bench, raw = all.get()] {
    bench.tell_ranks();
    report.say(ask_own_ras());  // while the communicators are still there
    raw->abort();
  });
  const bool whole = bench.run();  // a rank that fails has reported why
  watchdog.on_hang({});
  joining.tell_transport();
  if (whole) return done();
  bench.tell_ranks();
  if (stop.by_signal() || stop.given_up()) return done();
  return Failure{.code = "nccl",
                 .message = "its time (--seconds) was over before all sizes had been run"};
}

}  // namespace cupel::burn
