#include "orchestrator/cli/catalogue_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>
#include <cmath>
#include <set>

#include "base/for_each_of.h"
#include "base/json.h"
#include "base/process.h"
#include "burnin/consequences.h"
#include "burnin/verdict_text.h"
#include "inventory/shipped.h"
#include "orchestrator/cli/interrupt.h"
#include "orchestrator/cli/rehearsal_images.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/sim_program.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/report/detection.h"
#include "orchestrator/report/part_shares.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;
using report::Detection;
using report::NodeSummary;

/// So long in the rack's time, but never too short for a machine that computes many nodes at once.
long scaled(double seconds, double speed, double least) {
  return static_cast<long>(std::ceil(std::max(seconds / speed, least)));
}

constexpr std::string_view kOs = "os";

/// The shipped playbook, with shorter burns, and longer phases of the supplies: each needs two
/// readings of a BMC in the time of a machine that computes many of them at once. Nothing stops the
/// run early: here most nodes are to fail. A controller counts its deadlines in our time: who never
/// answers is given up after as long as a person would wait in the rack's.
std::vector<std::string> playbook_words(const std::string& playbook, double speed) {
  if (playbook == "fabric")
    return {playbook,
            "--set",
            "routing=by-destination",
            "--set",
            "memory=gpu",
            "--set",
            fmt::format("wait={}s", scaled(7200, speed, 240))};
  if (playbook == kOs) return {playbook, "--set", "canary=100000", "--set", "max_failures=100000"};
  const auto deadline = fmt::format("deadline={}s", scaled(7200, speed, 240));
  if (playbook == "firmware")  // no canary, and no limit of nodes at once
    return {playbook,          "--set", "canary=100000",       "--set", "per_rack=100000", "--set",
            "per_leaf=100000", "--set", "max_failures=100000", "--set", deadline};
  return {"new-rack",
          "--set",
          "burn=90s",
          "--set",
          "soak=6m",
          "--set",
          "phase=4m",
          "--set",
          "canary=100000",
          "--set",
          "max_failures=100000",
          "--set",
          "max_failed_share=1",
          "--set",
          deadline};
}

/// One node of a rack.
struct PlacedNode {
  std::string name;
  std::optional<report::Planted> fault{};
  bool neighbour = false;  // only there for somebody else's fault: not judged
};

struct RackRun {
  std::string name;
  fs::path folder;
  std::string playbook{};
  std::vector<PlacedNode> places{};
  std::vector<std::string> settings{};  // of new-rack: NAME=VALUE
  double speed = 1;                     // as it was
  std::vector<NodeSummary> nodes{};
};

std::string text_at(const boost::json::object& object, std::string_view key) {
  return std::string{object.at(key).as_string()};
}

PlacedNode placed(const boost::json::object& place) {
  PlacedNode node{.name = text_at(place, "node")};
  node.neighbour = place.contains("neighbour");
  const auto* planted = place.if_contains("fault");
  if (planted == nullptr) return node;
  const auto& fault = planted->as_object();
  const auto verdict = text_at(fault, "verdict");
  node.fault =
      report::Planted{.fault = text_at(fault, "name"),
                      .node = node.name,
                      .verdict = verdict == "pass" || verdict == "slow" ? burnin::Decision::pass
                                 : verdict == "fail"                    ? burnin::Decision::fail
                                                     : burnin::Decision::inconclusive,
                      .part = text_at(fault, "part"),
                      .check = text_at(fault, "check"),
                      .like = text_at(fault, "like"),
                      .because = text_at(fault, "because"),
                      .slow = verdict == "slow",
                      .needs = text_at(fault, "needs")};
  return node;
}

/// The racks as cupel-sim lists them.
Result<std::vector<RackRun>> racks_in(const boost::json::value& answer, const fs::path& folder) {
  std::vector<RackRun> runs;
  try {
    for (const auto& each : answer.as_object().at("racks").as_array()) {
      const auto& rack = each.as_object();
      auto& run = runs.emplace_back(RackRun{.name = text_at(rack, "name"), .folder = {}});
      run.folder = folder / run.name;
      run.playbook = text_at(rack, "playbook");
      for (const auto& place : rack.at("places").as_array())
        run.places.push_back(placed(place.as_object()));
    }
  } catch (const std::exception& thrown) {
    return Error{Code::kMalformed, std::string{"cupel-sim catalogue: "} + thrown.what()};
  }
  return runs;
}

/// The last of what a rack's process has printed.
double speed_in(std::string_view printed, double requested) {
  const auto at = printed.find("{\"speed\":");
  if (at == printed.npos) return requested;
  boost::system::error_code failure;
  const auto value = boost::json::parse(printed.substr(at), failure);
  return failure ? requested : value.as_object().at("speed").to_number<double>();
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
                  "--programs-on-nodes",  // virtual ones have what the real ones would be brought
                  "--wait-for-repair",
                  "0s"};  // nobody will come
  // Why a machine does not boot stands on its console.
  if (run.playbook != kOs) request.argv.emplace_back("--no-console");
  const auto playbook = playbook_words(run.playbook, speed);
  request.argv.insert(request.argv.end(), playbook.begin(), playbook.end());
  if (run.playbook == "new-rack")
    for (const auto& each : run.settings) request.argv.insert(request.argv.end(), {"--set", each});
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

/// A node behind a slow part of a switch, or of an oversubscribed fabric, is not handed over, and
/// is not blamed either, where that is the very thing that was planted.
NodeSummary without_planted_switches(NodeSummary node, const RackRun& run) {
  // A wrong plug of an uplink is behind all nodes of its leaf: the faulty one's verdict has it too.
  const auto is_reported_of = [&](std::size_t place, const burnin::Cause& cause) {
    return cause.criterion == "fabric.cable.wrong" &&
           std::ranges::any_of(run.nodes[place].causes, [&](const burnin::Cause& its) {
             return its.part == cause.part && its.criterion == cause.criterion;
           });
  };
  const auto is_planted = [&](const burnin::Cause& cause) {
    if (!cause.part.starts_with("port:") && cause.part != "across") return false;
    for (std::size_t i = 0; i < run.places.size(); ++i) {
      const auto& fault = run.places[i].fault;
      if (fault && fault->check == cause.criterion &&
          (fault->part == cause.part || is_reported_of(i, cause)))
        return true;
    }
    return false;
  };
  std::set<std::string> planted;
  for (const auto& cause : node.causes)
    if (is_planted(cause)) planted.insert(burnin::cause_name(cause));
  // NCCL is as slow as what it crosses.
  std::erase_if(node.causes, [&](const burnin::Cause& cause) {
    return is_planted(cause) || planted.contains(cause.consequence_of) ||
           (!planted.empty() &&
            (cause.criterion == "nccl.loss" || cause.criterion == "nccl.undecided"));
  });
  if (node.causes.empty()) node.decision = burnin::Decision::pass;
  return node;
}

class Rehearsal {
 public:
  explicit Rehearsal(const CatalogueOptions& options) : options_{options} {}

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

  /// Errors: kInvalid: there is no such fault.
  Result<void> plan(std::vector<inventory::Problem>& problems) {
    TRY(const auto answer, ask_sim(options_.programs, sim_words()));
    problems = problems_of(answer);
    if (!problems.empty()) return ok();
    if (const auto* error = answer.as_object().if_contains("error"))
      return Error{Code::kInvalid, std::string{error->as_string()}};
    TRY(runs_, racks_in(answer, options_.folder));
    for (auto& run : runs_) run.settings = options_.settings;
    return ok();
  }

  std::vector<Detection> detections() const {
    std::vector<Detection> all;
    for (const auto& run : runs_)
      for (std::size_t i = 0; i < run.places.size(); ++i) {
        const auto& place = run.places[i];
        if (!place.fault || place.neighbour) continue;
        all.push_back(report::detected(*place.fault, run.nodes[i], run.speed));
      }
    return all;
  }

  std::vector<NodeSummary> healthy() const {
    std::vector<NodeSummary> all;
    for (const auto& run : runs_)
      for (std::size_t i = 0; i < run.places.size(); ++i)
        if (!run.places[i].fault) all.push_back(without_planted_switches(run.nodes[i], run));
    return all;
  }

  std::size_t racks() const { return runs_.size(); }

 private:
  std::vector<std::string> sim_words() const {
    std::vector<std::string> words{"catalogue",
                                   "--speed",
                                   fmt::format("{}", options_.speed),
                                   "--seed",
                                   std::to_string(options_.seed),
                                   "--rack-nodes",
                                   std::to_string(options_.nodes)};
    if (options_.healthy_seeds > 0)
      words.insert(words.end(), {"--healthy", std::to_string(options_.healthy_seeds)});
    if (!options_.scenario.empty()) words.insert(words.end(), {"--scenario", options_.scenario});
    for (const auto& name : options_.only) words.insert(words.end(), {"--only", name});
    return words;
  }

  Task<Result<bool>> run_one(std::size_t index) {
    auto& run = runs_[index];
    auto words = sim_words();
    words.insert(words.begin() + 1, {run.name, "--folder", run.folder.string()});
    const bool empty_disks = run.playbook == kOs;
    if (empty_disks) {
      CO_TRY(auto address, free_boot_address());
      words.insert(words.end(), {"--boot", std::move(address)});
    }
    RackProcess rack;
    CO_TRY(rack.start(options_.programs, std::move(words)));
    if (empty_disks) {
      CO_TRY(add_rehearsal_images(options_.programs, run.folder));
    }
    CO_TRY(co_await run_controller(run, options_.speed));
    // Where this machine could not keep up, the rack's time went slower than asked.
    run.speed = speed_in(rack.stop(), options_.speed);
    CO_TRY(run.nodes, summaries(run));
    co_return true;
  }

  /// In the order of the rack's nodes.
  static Result<std::vector<NodeSummary>> summaries(const RackRun& run) {
    TRY(const auto store, store::Store::open(run.folder / "state"));
    TRY(auto summary, report::summarize(*store, 1));
    std::vector<NodeSummary> nodes;
    for (const auto& place : run.places) {
      const auto found = std::ranges::find_if(
          summary.nodes, [&](const NodeSummary& each) { return each.record.node == place.name; });
      if (found == summary.nodes.end())
        return Error{Code::kFailed, "the run tells nothing of " + place.name};
      nodes.push_back(std::move(*found));
    }
    return nodes;
  }

  CatalogueOptions options_;
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

constexpr std::string_view kShares = "rehearsal/weights.yaml";

void print(const report::PartShares& shares, const report::Weighed& weighed) {
  std::vector<Row> rows{{"PART", "SHARE", "FAULTS", "SHOWN", "ESCAPED"}};
  for (const auto& each : weighed.parts)
    rows.push_back({each.part, fmt::format("{:g}", each.share), std::to_string(each.tried),
                    each.tried == 0 ? "not run" : std::to_string(each.shown),
                    fmt::format("{}", fmt::join(each.escaped, " "))});
  say("\n{}\n  {}: {:.1f} are shown by their part", table(rows), shares.title, weighed.shown);
  if (weighed.untried > 0) say("; of {:g} none of the faults was run", weighed.untried);
  say("\n");
}

/// Many virtual racks and their controllers end then.
constexpr std::chrono::minutes kCleanUpOfRuns{2};

}  // namespace

Exit rehearse_catalogue(const Context& context, const CatalogueOptions& options) {
  Rehearsal rehearsal{options};
  std::vector<inventory::Problem> problems;
  const auto* file = inventory::shipped_file(kShares);
  const auto shares = report::parse_part_shares(file->text, std::string{kShares}, problems);
  if (!shares) return print_error(context, problems);
  const auto planned = rehearsal.plan(problems);
  if (!problems.empty()) return print_error(context, problems);
  if (!planned) return print_error(context, planned.error(), Exit::invalid);
  asio::io_context io{1};
  const auto ran = run_to_end(io, until_interrupted(rehearsal.run_all(), kCleanUpOfRuns)).value;
  if (!ran) return print_error(context, ran.error(), Exit::unfinished);
  const auto detections = rehearsal.detections();
  const auto healthy = rehearsal.healthy();
  const auto score = report::score_of(detections, healthy);
  if (context.json) {
    for (const auto& each : detections)
      std::printf("%s\n", boost::json::serialize(report::to_json(each)).c_str());
    boost::json::object last{{"score", report::to_json(score)}};
    if (options.weights) last["weights"] = report::to_json(report::weigh(*shares, detections));
    std::printf("%s\n", boost::json::serialize(last).c_str());
  } else {
    if (!detections.empty()) print(detections);
    print(score, healthy);
    if (options.weights) print(*shares, report::weigh(*shares, detections));
    say("  {} racks, {}; journals lie in {}\n", rehearsal.racks(),
        fmt::format("{} times faster than life", options.speed), options.folder);
  }
  return score.whole() ? Exit::passed : Exit::failed;
}

}  // namespace cupel::cli
