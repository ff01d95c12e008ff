#include "orchestrator/cli/catalogue_run.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>
#include <set>

#include "base/file.h"
#include "base/for_each_of.h"
#include "base/process.h"
#include "inventory/load_profile.h"
#include "orchestrator/cli/interrupt.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/report/detection.h"
#include "rehearsal/catalogue.h"
#include "rehearsal/virtual_rack.h"
#include "rehearsal/virtual_slurm.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;
using report::Detection;
using report::NodeSummary;
using Problems = std::vector<inventory::Problem>;

constexpr std::string_view kProfile = "catalogue";

/// So long in the rack's time, but never too short for a machine that computes many nodes at once.
long scaled(double seconds, double speed, double least) {
  return static_cast<long>(std::ceil(std::max(seconds / speed, least)));
}

/// The shipped playbook, with shorter phases. Nothing stops the run early: here most nodes are to
/// fail. A controller counts its deadlines in our time: who never answers is given up after as long
/// as a person would wait in the rack's.
std::vector<std::string> playbook_words(double speed) {
  return {"new-rack",
          "--set",
          "burn=90s",
          "--set",
          "soak=6m",
          "--set",
          "phase=20s",
          "--set",
          "canary=100000",
          "--set",
          "max_failures=100000",
          "--set",
          "max_failed_share=1",
          "--set",
          fmt::format("deadline={}s", scaled(7200, speed, 120))};
}

/// A site's own profile: what it wants of its BIOS.
std::string profile_text(double speed) {
  return fmt::format(
      "profile: {}\nextends: dgx-h100\n"
      "patience: {{power_on: {}s, post: {}s, bmc_restart: {}s}}\n"
      "bios:\n  - {{attribute: LogicalProc, value: Enabled, source: the site's choice}}\n",
      kProfile, scaled(120, speed, 20), scaled(900, speed, 25), scaled(300, speed, 20));
}

struct RackRun {
  rehearsal::CatalogueRack planned;
  std::uint64_t seed = 1;
  fs::path folder;
  double speed = 1;  // as it was
  std::vector<NodeSummary> nodes{};
};

Result<void> write_site(const RackRun& run, const inventory::Profile& profile,
                        const std::vector<rehearsal::CatalogueEntry>& catalogue, double speed,
                        const rehearsal::VirtualRack& rack) {
  std::error_code failure;
  fs::create_directories(run.folder / "profiles", failure);
  if (failure) return Error{Code::kStorage, run.folder.string() + ": " + failure.message()};
  std::vector<std::string> known;
  for (const auto& place : run.planned.places) {
    const bool unaware =
        place.entry >= 0 &&
        rehearsal::find_fault(catalogue[static_cast<std::size_t>(place.entry)].faults,
                              rehearsal::FaultKind::slurm_unaware) != nullptr;
    if (!unaware) known.push_back(place.node);
  }
  TRY(rehearsal::make_scontrol(run.folder / "slurm", known, profile));
  TRY(write_file(run.folder / "profiles" / fmt::format("{}.yaml", kProfile), profile_text(speed),
                 0644));
  return write_file(run.folder / "inventory.yaml",
                    rack.inventory_yaml() + "slurm: {partition: gpu, features: [qualified]}\n",
                    0600);
}

/// `cupel run`, as a person would start it.
Task<Result<void>> run_controller(const RackRun& run, double speed) {
  constexpr std::chrono::minutes kMost{40};  // several racks share a machine that may be busy
  constexpr std::size_t kOutput = 64u << 20;
  const auto* path = std::getenv("PATH");
  ProcessRequest request;
  request.argv = {"/proc/self/exe",
                  "--state",
                  (run.folder / "state").string(),
                  "run",
                  "--inventory",
                  (run.folder / "inventory.yaml").string(),
                  "--no-console",
                  "--programs-on-nodes",  // virtual ones have what the real ones would be brought
                  "--wait-for-hands",
                  "0s",  // nobody will come
                  "--json"};
  const auto playbook = playbook_words(speed);
  request.argv.insert(request.argv.end(), playbook.begin(), playbook.end());
  request.environment = {"PATH=" + (run.folder / "slurm").string() + ":" +
                         (path == nullptr ? "/usr/bin:/bin" : path)};
  request.output_limit = kOutput;
  auto ran = co_await run_process(std::move(request), Deadline::in(kMost));
  if (!ran) co_return std::move(ran).error().within("the controller of " + run.folder.string());
  const auto& outcome = *ran;
  if (outcome.exit_status <= static_cast<int>(Exit::failed)) co_return ok();
  co_return Error{Code::kFailed,
                  fmt::format("the controller of {} ended with exit status {}: {}",
                              run.folder.string(), outcome.exit_status, outcome.error)};
}

class Rehearsal {
 public:
  Rehearsal(const CatalogueOptions& options, inventory::Profile profile)
      : options_{options}, profile_{std::move(profile)} {}

  /// Every rack, some at once. Errors: the first that could not be run.
  Task<Result<bool>> run_all() {
    const auto one = [this](std::size_t index) { return run_one(index); };
    std::vector<std::size_t> all(runs_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    auto ended = co_await for_each_of<bool>(std::move(all), options_.racks_at_once, one);
    for (auto& each : ended)
      if (!each) co_return std::move(each).error();
    co_return true;
  }

  Result<void> plan_catalogue(Problems& problems) {
    catalogue_ = rehearsal::shipped_catalogue(profile_, problems);
    if (!options_.only.empty())
      std::erase_if(catalogue_, [&](const auto& entry) {
        return std::ranges::find(options_.only, entry.name) == options_.only.end();
      });
    if (catalogue_.empty()) return Error{Code::kInvalid, "the catalogue has no such fault"};
    for (auto& rack : rehearsal::racks_of(catalogue_, profile_.name, options_.nodes))
      add(std::move(rack), options_.seed);
    return ok();
  }

  void plan_healthy() {
    for (int i = 0; i < options_.healthy_seeds; ++i)
      add(rehearsal::healthy_rack(profile_.name, options_.nodes, static_cast<std::size_t>(i)),
          options_.seed + static_cast<std::uint64_t>(i));
  }

  std::vector<Detection> detections() const {
    std::vector<Detection> all;
    for (const auto& run : runs_)
      for (std::size_t i = 0; i < run.planned.places.size(); ++i) {
        const auto& place = run.planned.places[i];
        if (place.entry < 0 || place.neighbour) continue;
        const auto& entry = catalogue_[static_cast<std::size_t>(place.entry)];
        all.push_back(report::detected(planted(entry, place.node), run.nodes[i], run.speed));
      }
    return all;
  }

  std::vector<NodeSummary> healthy() const {
    std::vector<NodeSummary> all;
    for (const auto& run : runs_)
      for (std::size_t i = 0; i < run.planned.places.size(); ++i)
        if (run.planned.places[i].entry < 0) all.push_back(run.nodes[i]);
    return all;
  }

  std::size_t racks() const { return runs_.size(); }

 private:
  static report::Planted planted(const rehearsal::CatalogueEntry& entry, const std::string& node) {
    const auto& expected = entry.expected;
    const auto verdict = expected.verdict == "pass"   ? burnin::Decision::pass
                         : expected.verdict == "fail" ? burnin::Decision::fail
                                                      : burnin::Decision::inconclusive;
    return {.fault = entry.name,
            .node = node,
            .verdict = verdict,
            .part = expected.part,
            .check = expected.check,
            .like = expected.like,
            .needs = std::string{to_string(entry.needs)}};
  }

  void add(rehearsal::CatalogueRack rack, std::uint64_t seed) {
    rack.rack.profiles[profile_.name] = profile_;
    auto folder = fs::path{options_.folder} / rack.rack.name;
    runs_.push_back({std::move(rack), seed, std::move(folder)});
  }

  Task<Result<bool>> run_one(std::size_t index) {
    auto& run = runs_[index];
    rehearsal::RackOptions how;
    how.speed = options_.speed;
    how.seed = run.seed;
    how.folder = run.folder / "rack";
    CO_TRY(const auto rack, rehearsal::VirtualRack::start(run.planned.rack, how));
    CO_TRY(write_site(run, profile_, catalogue_, options_.speed, *rack));
    CO_TRY(co_await run_controller(run, options_.speed));
    rack->stop();
    // Where this machine could not keep up, the rack's time went slower than it was told.
    run.speed = rack->pace().speed;
    CO_TRY(run.nodes, summaries(run));
    co_return true;
  }

  /// In the order of the rack's nodes.
  static Result<std::vector<NodeSummary>> summaries(const RackRun& run) {
    TRY(const auto store, store::Store::open(run.folder / "state"));
    TRY(auto summary, report::summarize(*store, 1));
    std::vector<NodeSummary> nodes;
    for (const auto& place : run.planned.places) {
      const auto found = std::ranges::find_if(
          summary.nodes, [&](const NodeSummary& each) { return each.record.node == place.node; });
      if (found == summary.nodes.end())
        return Error{Code::kFailed, "the run tells nothing of " + place.node};
      nodes.push_back(std::move(*found));
    }
    return nodes;
  }

  CatalogueOptions options_;
  inventory::Profile profile_;
  std::vector<rehearsal::CatalogueEntry> catalogue_{};
  std::vector<RackRun> runs_{};
};

std::string part_text(const std::string& part, const std::string& check) {
  if (check.empty()) return "-";
  return part.empty() ? check : part + ": " + check;
}

void print(const std::vector<Detection>& detections) {
  std::vector<Row> rows{{"FAULT", "NODE", "PLANTED", "VERDICT", "NAMED", "AFTER", "TESTS", ""}};
  for (const auto& each : detections) {
    const auto outcome = report::outcome_of(each);
    const bool idle = !each.planted.needs.empty();
    auto last = std::string{outcome};
    if (idle) last += " (needs " + each.planted.needs + ")";
    if (outcome == "missed" || outcome == "not borne") last += ": " + each.measured;
    rows.push_back({each.planted.fault, each.planted.node,
                    part_text(each.planted.part, each.planted.check),
                    std::string{to_string(each.verdict)}, part_text(each.part, each.check),
                    each.check.empty() ? "-" : report::span_text(each.took),
                    each.tests == 0 ? "-" : std::to_string(each.tests), std::move(last)});
  }
  say("{}\n", table(rows));
}

void print(const report::Score& score, const std::vector<NodeSummary>& healthy) {
  for (const auto& node : healthy)
    if (node.decision != burnin::Decision::pass)
      say("  blamed without a fault: {}: {}\n", node.record.node,
          node.causes.empty() ? std::string{"no cause"} : burnin::to_string(node.causes.front()));
  say("\n  recall        {:.3f}  ({} of {} that are to be found)\n", score.recall(), score.found,
      score.looked_for);
  say("  right part    {:.3f}  ({} of {})\n", score.right_part(), score.right, score.found);
  say("  precision     {:.3f}  ({} of {} healthy nodes blamed; {} of {} faults borne)\n",
      score.precision(), score.blamed, score.healthy, score.borne, score.to_bear);
  say("  not looked for yet: {}\n", score.not_yet);
}

std::optional<inventory::Profile> own_profile(const CatalogueOptions& options, Problems& problems) {
  return inventory::parse_profile(profile_text(options.speed), fmt::format("{}.yaml", kProfile),
                                  inventory::ProfileSource{{}}, problems);
}

}  // namespace

Exit rehearse_catalogue(const Context& context, const CatalogueOptions& options) {
  Problems problems;
  auto profile = own_profile(options, problems);
  if (!profile) return complain(context, problems);
  Rehearsal rehearsal{options, std::move(*profile)};
  if (options.healthy_seeds > 0) {
    rehearsal.plan_healthy();
  } else {
    const auto planned = rehearsal.plan_catalogue(problems);
    if (!problems.empty()) return complain(context, problems);
    if (!planned) return complain(context, planned.error(), Exit::invalid);
  }
  asio::io_context io{1};
  const auto ran = run_to_end(io, until_interrupted(rehearsal.run_all())).value;
  if (!ran) return complain(context, ran.error(), Exit::unfinished);
  const auto detections = rehearsal.detections();
  const auto healthy = rehearsal.healthy();
  const auto score = report::score_of(detections, healthy);
  if (context.json) {
    for (const auto& each : detections)
      std::printf("%s\n", boost::json::serialize(report::to_json(each)).c_str());
    const boost::json::object last{{"score", report::to_json(score)}};
    std::printf("%s\n", boost::json::serialize(last).c_str());
  } else {
    if (!detections.empty()) print(detections);
    print(score, healthy);
    say("  {} racks, {}; journals lie in {}\n", rehearsal.racks(),
        fmt::format("{} times faster than life", options.speed), options.folder);
  }
  return score.whole() ? Exit::passed : Exit::failed;
}

}  // namespace cupel::cli
