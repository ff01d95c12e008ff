// `cupel-burn collective`: NCCL over the GPUs of this node, by each of the ways that it can be made
// to take. What it was made to take is one process's for good, so that several ways are several
// children of this program, one after another.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "burnin/agent/burn/command.h"
#include "burnin/agent/burn/cuda/across_join.h"
#include "burnin/agent/burn/cuda/across_nodes.h"
#include "burnin/agent/burn/cuda/collective_bench.h"
#include "burnin/agent/burn/links/child.h"
#include "burnin/agent/burn/links/surroundings.h"

namespace cupel::burn {
namespace {

namespace fs = std::filesystem;

constexpr int kHang = 3;
constexpr std::array kOwnChoices{
    Choice{.name = "--ops",
           .kind = Choice::Kind::kWords,
           .fallback = "all_reduce,all_gather,reduce_scatter,all_to_all,broadcast,send_recv",
           .words = "all_reduce,all_gather,reduce_scatter,all_to_all,broadcast,send_recv",
           .help = "operations"},
    Choice{.name = "--min",
           .kind = Choice::Kind::kSize,
           .fallback = "8",
           .low = 4,
           .high = 1e12,
           .help = "the smallest size"},
    Choice{.name = "--max",
           .kind = Choice::Kind::kSize,
           .fallback = "16G",
           .low = 4,
           .high = 1e12,
           .help = "the largest size; less where the GPUs have no room for it twice"},
    Choice{.name = "--factor",
           .kind = Choice::Kind::kCount,
           .fallback = "2",
           .low = 2,
           .high = 1024,
           .help = "from one size to the next"},
    Choice{.name = "--nvls",
           .kind = Choice::Kind::kWord,
           .fallback = "both",
           .words = "on,off,both",
           .help = "sums within the NVSwitches"},
    Choice{.name = "--path",
           .kind = Choice::Kind::kWord,
           .fallback = "both",
           .words = "nvlink,hca,both",
           .help = "hca: NVLink and shared memory forbidden, so that the HCAs carry it"},
    Choice{.name = "--survey", .help = "only tells which algorithm NCCL chooses"},
    Choice{.name = "--times",
           .kind = Choice::Kind::kCount,
           .fallback = "20",
           .low = 1,
           .high = 10000,
           .help = "across nodes: how often each size is run for its time (nccl-tests -n)"},
    Choice{.name = "--if-available",
           .help = "measures nothing, and is content, where NVLS is not available"},
};
constexpr auto kChoices = with_across(kOwnChoices);

bool has_hcas() {
  std::error_code error;
  const fs::directory_iterator cards{"/sys/class/infiniband", error};
  return !error && cards != fs::directory_iterator{};
}

Failure no_hcas() {
  return {.code = "refused",
          .message =
              "path hca: this node has no HCA (/sys/class/infiniband is empty or missing); "
              "load mlx5_ib, or ask for --path nvlink"};
}

/// The rows for this much memory. Errors: memory, usage.
Outcome<std::vector<Row>> rows_for(const Options& options, int ranks, std::uint64_t free) {
  const auto least = static_cast<std::uint64_t>(options.number("--min"));
  const bool is_test = options.self_tests() > 0;
  const auto requested = std::min(static_cast<std::uint64_t>(options.number("--max")),
                                  is_test ? std::uint64_t{16} << 20 : std::uint64_t{1} << 40);
  const auto most = largest_fitting(requested, free);
  if (most < least || most == 0)
    return Failure{.code = requested < least ? "usage" : "memory",
                   .message = "no size from " + std::to_string(least) + " to " +
                              std::to_string(requested) + " bytes fits twice into the " +
                              std::to_string(free >> 20) + " MiB that are free on every GPU"};
  const auto sizes = size_ladder(least, most, static_cast<unsigned>(options.number("--factor")));
  auto rows = plan_rows(operations_of(options), ranks, sizes);
  if (rows.empty())
    return Failure{.code = "usage", .message = "no operation and no size was asked for"};
  return rows;
}

/// This process takes this way. NCCL's variables are set and it is loaded only now.
Outcome<> run_here(const Options& options, Report& report, Stop& stop, Watchdog& watchdog,
                   const Node& node, const Route& route) {
  const Scratch scratch;
  auto variables = variables_of(route, scratch.log());
  if (options.flag("--survey")) variables["NCCL_DEBUG_SUBSYS"] = "INIT,NET,P2P,SHM,NVLS,TUNING";
  const auto parameters = with_environment(options.parameters(), variables);
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  const auto library = nccl::Library::load(nccl::usual_places());
  const auto version = library ? library->version_name() : std::string{};
  auto start = start_of(options, node, version);
  start.parameters = parameters;
  report.start(start);
  if (!library) return library.error();
  if (route.hca && !has_hcas()) return no_hcas();
  std::vector<int> ordinals;
  for (const auto& device : node.devices) ordinals.push_back(device.ordinal);
  if (stop.by_signal()) return done();
  WatchdogScope scope{watchdog, ""};
  scope.doing("NCCL's beginning over " + std::to_string(ordinals.size()) + " ranks, nvls " +
              std::string{route.nvls_word()} + ", path " + std::string{route.path_word()});
  TRY(const auto all, Communicators::open(*library, ordinals));
  TRY(const auto free, free_memory(node));
  TRY(auto rows, rows_for(options, all->count(), free));
  std::uint64_t most = 0;
  for (const auto& row : rows) most = std::max(most, row.shape.bytes);
  scope.idle();
  watchdog.on_hang([raw = all.get()] { raw->abort(); });
  CollectiveBench bench{
      {options, report, stop, watchdog, node, *all, route, scratch.log(), std::move(rows), most}};
  bench.run();  // who fails says so itself
  watchdog.on_hang({});
  return done();
}

std::vector<std::string> words_for(const Options& options, const Route& route, double seconds,
                                   bool survey) {
  std::string gpus;
  for (const int gpu : options.gpus()) gpus += (gpus.empty() ? "" : ",") + std::to_string(gpu);
  const auto whole = [&](std::string_view name) {
    return std::to_string(static_cast<std::uint64_t>(options.number(name)));
  };
  std::vector<std::string> words{
      "/proc/self/exe", "collective",
      "--nvls",         std::string{route.nvls_word()},
      "--path",         std::string{route.path_word()},
      "--ops",          options.word("--ops"),
      "--min",          whole("--min"),
      "--max",          whole("--max"),
      "--factor",       whole("--factor"),
      "--rounds",       whole("--rounds"),
      "--repeats",      whole("--repeats"),
      "--seed",         std::to_string(options.seed()),
      "--seconds",      std::to_string(static_cast<int>(std::max(1.0, seconds))),
      "--hang-after",   std::to_string(static_cast<int>(options.hang_after().count()))};
  if (!gpus.empty()) words.insert(words.end(), {"--gpus", gpus});
  if (survey) words.emplace_back("--survey");
  // Not every chip has it; whether this one should is for its profile to say.
  if (route.nvls) words.emplace_back("--if-available");
  if (options.self_tests() > 0)
    words.insert(words.end(), {"--self-test", std::to_string(options.self_tests())});
  return words;
}

/// Errors: refused, where the child ended as no cupel-burn does.
Outcome<> run_child_for(const Options& options, Report& report, Stop& stop, WatchdogScope& scope,
                        const Route& route, double seconds, bool survey) {
  const auto what =
      "nvls " + std::string{route.nvls_word()} + ", path " + std::string{route.path_word()};
  scope.doing(what);
  Relay relay{report,
              [&](std::string_view doing) { doing.empty() ? scope.alive() : scope.doing(doing); }};
  TRY(const int status, run_child(
                            words_for(options, route, seconds, survey),
                            [&](std::string_view line) { relay.take(line); },
                            [&] { return stop.by_signal() || stop.given_up(); }));
  if (status == kHang) {
    report.end(false, false);
    ::_exit(kHang);
  }
  return judge_end(what, status, relay.has_ended(), stop.by_signal());
}

/// One child for each way; before them those that only tell what NCCL chooses.
Outcome<> run_children(const Options& options, Report& report, Stop& stop, Watchdog& watchdog,
                       const std::vector<Route>& routes) {
  WatchdogScope scope{watchdog, ""};
  for (std::size_t i = 0; i < routes.size() && !stop.by_signal(); ++i) {
    const auto& route = routes[i];
    if (route.hca && !has_hcas()) {
      report.failure(no_hcas());
      continue;
    }
    if (options.self_tests() == 0 && !options.flag("--survey")) {
      TRY(run_child_for(options, report, stop, scope, route, 60, true));
      if (stop.by_signal()) break;
    }
    const auto left = std::chrono::duration<double>(stop.deadline() - Stop::Clock::now()).count();
    TRY(run_child_for(options, report, stop, scope, route,
                      left / static_cast<double>(routes.size() - i), options.flag("--survey")));
  }
  return done();
}

Outcome<> check(const Options& options) {
  if (options.number("--min") <= options.number("--max")) return done();
  return Failure{.code = "usage", .message = "collective: --min is larger than --max"};
}

Outcome<> run(const Options& options, Report& report, Stop& stop, Watchdog& watchdog) {
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  auto scope = std::make_unique<WatchdogScope>(watchdog, "");
  scope->doing("listing the GPUs");
  TRY(const auto node, list_devices(options));
  scope->idle();
  if (options.number("--ranks") > 0) {
    scope.reset();
    return run_across(options, report, stop, watchdog, node);
  }
  auto routes = routes_of(options.word("--nvls"), options.word("--path"));
  if (options.self_tests() > 0) routes = {Route{}};  // the check is the same on every way
  if (node.devices.size() < 2) {
    report.start(start_of(options, node));
    return Failure{.code = "refused",
                   .message = "collectives need two GPUs or more; there is one: nothing was done"};
  }
  scope.reset();
  if (routes.size() == 1) return run_here(options, report, stop, watchdog, node, routes.front());
  const auto library = nccl::Library::load(nccl::usual_places());
  auto start = start_of(options, node, library ? library->version_name() : std::string{});
  start.parameters = with_environment(options.parameters(), {});
  report.start(start);
  if (!library) return library.error();
  return run_children(options, report, stop, watchdog, routes);
}

}  // namespace

Command collective_command() {
  return {.name = "collective",
          .help =
              "NCCL over the GPUs of this node, or of several nodes: bus bandwidth and latency, "
              "results checked",
          .choices = kChoices,
          .run = run,
          .check = check};
}

}  // namespace cupel::burn
