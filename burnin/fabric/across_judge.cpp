#include "burnin/fabric/across_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "burnin/fabric/nccl_figures.h"

namespace cupel::burnin::fabric {
namespace {

constexpr double kPercent = 100;
constexpr std::size_t kLeastTeams = 3;  // of which the middle one is what is usual
constexpr std::size_t kMostReasons = 200;
constexpr double kClean = 0.05;  // of the usual rate: less is no loss that has to be explained

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const auto middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string text_of(const BurnResult& result, const std::string& label) {
  const auto found = result.labels.find(label);
  return found == result.labels.end() ? "" : found->second;
}

/// What a team reached in one operation, at its largest size and its smallest.
struct Rate {
  double bytes = 0, bus = 0, algorithm = 0, least_bytes = 0, latency = 0;
};
using Rates = std::map<std::string, Rate>;  // by operation

Rates rates_of(const BurnReport& report) {
  Rates rates;
  for (const auto& result : report.results) {
    const auto bytes = number<double>(text_of(result, "bytes"));
    const auto operation = text_of(result, "op");
    if (!bytes || *bytes <= 0 || operation.empty() || !result.value || *result.value <= 0) continue;
    auto& rate = rates[operation];
    if (result.name == "across.busbw" && *bytes >= rate.bytes) {
      rate.bytes = *bytes;
      rate.bus = *result.value;
    } else if (result.name == "across.algbw" && *bytes >= rate.bytes) {
      rate.algorithm = *result.value;
    } else if (result.name == "across.time" &&
               (rate.least_bytes == 0 || *bytes <= rate.least_bytes)) {
      rate.least_bytes = *bytes;
      rate.latency = *result.value;
    }
  }
  std::erase_if(rates, [](const auto& each) { return each.second.bus <= 0; });
  return rates;
}

/// The slowest node's: all wait for it. An operation that a node did not report is no one's.
Rates rates_of(const TeamRun& run) {
  Rates all = rates_of(run.reports.front()->burn);
  for (const auto& report : run.reports) {
    const auto own = rates_of(report->burn);
    for (auto& [operation, rate] : all) {
      const auto found = own.find(operation);
      const bool same = found != own.end() && found->second.bytes == rate.bytes;
      rate.bus = same ? std::min(rate.bus, found->second.bus) : 0;
      rate.algorithm = same ? std::min(rate.algorithm, found->second.algorithm) : 0;
      rate.latency = same ? std::max(rate.latency, found->second.latency) : 0;
    }
  }
  std::erase_if(all, [](const auto& each) { return each.second.bus <= 0; });
  return all;
}

/// What each GPU took for its own work at the largest size, in us.
std::map<std::string, double> own_work(const BurnReport& report) {
  std::map<std::string, std::pair<double, double>> largest;
  for (const auto& result : report.results) {
    const auto bytes = number<double>(text_of(result, "bytes")).value_or(0);
    if (result.name != "across.own" || !result.value || result.part.empty()) continue;
    auto& [of, value] = largest[result.part];
    if (bytes < of) continue;
    value = bytes > of ? *result.value : std::min(value, *result.value);
    of = bytes;
  }
  std::map<std::string, double> own;
  for (const auto& [part, value] : largest) own[part] = value.second;
  return own;
}

/// Seconds of each GPU's own part of a step.
std::map<std::string, double> own_steps(const BurnReport& report) {
  std::map<std::string, double> own;
  for (const auto& result : report.results)
    if (result.name == "train.own" && !result.part.empty() && result.value && *result.value > 0)
      own[result.part] = *result.value;
  return own;
}

/// What each node reported, of those that did.
std::vector<double> reported(const TeamRun& run, std::string_view name) {
  std::vector<double> values;
  for (const auto& report : run.reports)
    for (const auto& result : report->burn.results)
      if (result.name == name && result.value && *result.value > 0) values.push_back(*result.value);
  return values;
}

double errors_of(const BurnReport& report) {
  double errors = 0;
  for (const auto& result : report.results)
    if (result.name == "collective.errors" || result.name == "train.loss.differs")
      errors += result.value.value_or(1);
  for (const auto& [part, count] : report.faults_by_part) errors = std::max(errors, count);
  return errors;
}

class Writer {
 public:
  Writer(std::span<const TeamRun> runs, std::span<const std::string> nodes,
         std::span<const std::string> hcas, int rails, const std::vector<bool>& left)
      : runs_{runs}, nodes_{nodes}, hcas_{hcas}, rails_{rails}, left_{left} {
    found_.members.resize(nodes.size());
    nodes_state_.resize(nodes.size());
  }

  Result<GroupFindings> write() {
    for (const auto& run : runs_) take(run);
    blame_whom_partners_clear();
    explain_losses();
    // Last: they are long, and must not take the place of a line that says what is wrong.
    for (auto& line : std::exchange(tables_, {})) say(std::move(line));
    const bool any = std::ranges::any_of(
        nodes_state_, [](const State& state) { return state.teams > 0 || state.is_to_blame; });
    if (!any)
      return Error{Code::kNoMeasurement,
                   stalls_.empty() ? "no collective came to its end" : stalls_.front()};
    for (std::size_t node = 0; node < nodes_.size(); ++node) put_node(node);
    return std::move(found_);
  }

 private:
  struct Best {
    double bus = 0, latency = 0, loss = 0;
    const PublishedRate* published = nullptr;  // of a run like the one that reached `bus`
  };
  struct State {
    int teams = 0;  // that came to their end
    bool is_to_blame = false;
    std::string why{}, waited{};
    bool is_explained = false;  // its loss may be its partners'
    double errors = 0, lag = -1;
    std::string slowest{};                                       // the GPU of the lag
    double step = 0, tokens = 0;                                 // of training
    std::map<std::string, double> own_lag{};                     // of a GPU's own part of a step
    std::map<std::pair<std::string, std::string>, Best> best{};  // by operation and part
  };

  /// Of a rail its HCA, else the node as a whole.
  std::string part_of(const Team& team, std::size_t node) const {
    if (team.rail < 0) return {};
    const auto at = node * static_cast<std::size_t>(rails_) + static_cast<std::size_t>(team.rail);
    return at < hcas_.size() && !hcas_[at].empty() ? hcas_[at] : fmt::format("rail{}", team.rail);
  }

  void say(std::string reason) {
    if (found_.reasons.size() < kMostReasons) found_.reasons.push_back(std::move(reason));
  }

  void take(const TeamRun& run) {
    for (std::size_t place = 0; place < run.reports.size(); ++place)
      if (run.reports[place])
        nodes_state_[run.team.members[place]].errors += errors_of(run.reports[place]->burn);
    if (const auto stall = stall_of(run, nodes_))
      stalled(run, *stall);
    else
      measured(run);
  }

  void stalled(const TeamRun& run, const Stall& stall) {
    stalls_.push_back(fmt::format("{}: {}", run.team.name, stall.why));
    say("hung: " + stalls_.back());
    for (std::size_t place = 0; place < run.reports.size(); ++place)
      if (run.reports[place] && !run.reports[place]->ras.empty())
        say(fmt::format("NCCL's RAS on {}: {}", nodes_[run.team.members[place]],
                        run.reports[place]->ras));
    for (std::size_t place = 0; place < run.team.members.size(); ++place) {
      auto& state = nodes_state_[run.team.members[place]];
      if (std::ranges::find(stall.nodes, place) != stall.nodes.end()) {
        state.is_to_blame = true;
        state.why = stall.why;
      } else {
        state.waited = stall.why;
      }
    }
  }

  bool came_through(std::size_t node) const {
    return nodes_state_[node].teams > 0 && !nodes_state_[node].is_to_blame;
  }

  bool partners_came_through(std::size_t node, std::span<const TeamRun* const> pairs) const {
    return std::ranges::all_of(pairs, [&](const TeamRun* pair) {
      const auto& two = pair->team.members;
      return came_through(two[0] == node ? two[1] : two[0]);
    });
  }

  /// Of pairs that did not end, where neither says why: one of them failed with two partners at
  /// least, and each of these came through with another.
  void blame_whom_partners_clear() {
    std::map<std::size_t, std::vector<const TeamRun*>> failed;
    for (const auto& run : runs_) {
      const auto stall = run.team.members.size() == 2 ? stall_of(run, nodes_) : std::nullopt;
      if (!stall || !stall->nodes.empty()) continue;
      for (const auto node : run.team.members) failed[node].push_back(&run);
    }
    for (const auto& [node, runs] : failed) {
      auto& state = nodes_state_[node];
      if (runs.size() < 2 || state.teams > 0 || state.is_to_blame ||
          !partners_came_through(node, runs))
        continue;
      state.is_to_blame = true;
      state.why = fmt::format("{} met none of its {} partners, and each of them met another: {}",
                              nodes_[node], runs.size(), state.waited);
      say(state.why);
    }
  }

  /// A node between two slow ones is slow with both. Its loss is its own only where a partner that
  /// is fast with another is slow with it.
  void explain_losses() {
    std::map<std::size_t, std::vector<std::size_t>> partners;
    for (const auto& run : runs_) {
      if (run.team.members.size() != 2 || stall_of(run, nodes_)) continue;
      partners[run.team.members[0]].push_back(run.team.members[1]);
      partners[run.team.members[1]].push_back(run.team.members[0]);
    }
    for (const auto& [node, others] : partners)
      nodes_state_[node].is_explained =
          loss_of(node) > kClean && std::ranges::all_of(others, [this](std::size_t other) {
            return loss_of(other) > kClean;
          });
  }

  double loss_of(std::size_t node) const {
    double loss = 0;
    for (const auto& [key, best] : nodes_state_[node].best) loss = std::max(loss, best.loss);
    return loss;
  }

  /// A step is as long for all ranks: each waits for the slowest, which its own part of it tells.
  void trained(const TeamRun& run) {
    const auto steps = reported(run, "train.step"), tokens = reported(run, "train.tokens");
    std::vector<double> all;
    for (const auto& report : run.reports)
      for (const auto& [part, seconds] : own_steps(report->burn)) all.push_back(seconds);
    const double middle = all.size() < kLeastTeams ? 0 : median(all);
    for (std::size_t place = 0; place < run.reports.size(); ++place) {
      auto& state = nodes_state_[run.team.members[place]];
      ++state.teams;
      if (!steps.empty()) state.step = std::ranges::max(steps);
      if (!tokens.empty()) state.tokens = std::ranges::min(tokens);
      if (middle <= 0) continue;
      for (const auto& [part, seconds] : own_steps(run.reports[place]->burn)) {
        auto& lag = state.own_lag[part];
        lag = std::max(lag, kPercent * std::max(0.0, seconds / middle - 1));
      }
    }
    if (steps.empty() || tokens.empty()) return;
    say(fmt::format(
        "{}: training over {} ranks: {:.3f} s a step, {:.0f} tokens/s; own part of the "
        "middle GPU {:.3f} s",
        run.team.name, run.team.members.size() * static_cast<std::size_t>(run.ranks_each),
        std::ranges::max(steps), std::ranges::min(tokens), middle));
  }

  void measured(const TeamRun& run) {
    if (run.trains) return trained(run);
    const auto rates = rates_of(run);
    for (const auto& [operation, rate] : rates) {
      const auto* published = published_for(run, operation);
      say(fmt::format("{}: {} of {:.0f} bytes over {} ranks: algbw {:.2f}, busbw {:.2f} GB/s{}",
                      run.team.name, operation, rate.bytes,
                      run.team.members.size() * static_cast<std::size_t>(run.ranks_each),
                      rate.algorithm, rate.bus,
                      published == nullptr
                          ? ""
                          : fmt::format("; {:.0f} % of {}", kPercent * rate.bus / published->busbw,
                                        described(*published))));
    }
    // Of pairs the largest size alone: they are many.
    if (run.team.members.size() > 2 && !run.bisects)
      for (const auto& line : rate_table(run))
        if (tables_.size() < kMostReasons)
          tables_.push_back(fmt::format("{}: {}", run.team.name, line));
    const auto usual = usual_of(run);
    for (const auto node : run.team.members) {
      auto& state = nodes_state_[node];
      ++state.teams;
      for (const auto& [operation, rate] : rates) {
        auto& best = state.best[{operation, part_of(run.team, node)}];
        if (rate.bus > best.bus) best.published = published_for(run, operation);
        best.bus = std::max(best.bus, rate.bus);
        // One size alone, and bisection.h says what is lost. A node of a fast half is not slow.
        if (run.bisects) continue;
        best.latency = best.latency > 0 ? std::min(best.latency, rate.latency) : rate.latency;
        const auto found = usual.find(operation);
        best.loss = found == usual.end() ? -1 : std::max(0.0, 1 - best.bus / found->second);
      }
    }
    compare_own(run);
  }

  /// What teams like this one reach, of each operation that enough of them have run.
  std::map<std::string, double> usual_of(const TeamRun& like) {
    const auto size = like.team.members.size();
    auto& usual = usual_[size];
    if (usual) return *usual;
    std::map<std::string, std::vector<double>> all;
    for (const auto& run : runs_) {
      if (run.team.members.size() != size || stall_of(run, nodes_)) continue;
      for (const auto& [operation, rate] : rates_of(run)) all[operation].push_back(rate.bus);
    }
    usual.emplace();
    for (auto& [operation, values] : all)
      if (values.size() >= kLeastTeams) (*usual)[operation] = median(std::move(values));
    return *usual;
  }

  void compare_own(const TeamRun& run) {
    std::vector<double> all;
    for (const auto& report : run.reports)
      for (const auto& [part, value] : own_work(report->burn)) all.push_back(value);
    if (all.size() < kLeastTeams) return;
    const double middle = median(all);
    if (middle <= 0) return;
    for (std::size_t place = 0; place < run.reports.size(); ++place) {
      auto& state = nodes_state_[run.team.members[place]];
      for (const auto& [part, value] : own_work(run.reports[place]->burn)) {
        const double lag = std::max(0.0, kPercent * (value / middle - 1));
        if (lag <= state.lag) continue;
        state.lag = lag;
        state.slowest = part;
      }
    }
  }

  void put_node(std::size_t node) {
    auto& findings = found_.members[node];
    const auto& state = nodes_state_[node];
    const auto put = [&](std::string name, std::string part, double value, std::string unit,
                         std::string traced = {}) {
      findings.measurements.push_back(
          {std::move(name), std::move(part), value, std::move(unit), std::move(traced)});
    };
    const bool is_known = state.teams > 0 || state.is_to_blame;
    put("nccl.groups", "", state.teams, "count");
    if (is_known) put("nccl.absent", "", state.is_to_blame ? 1 : 0, "count", state.why);
    if (state.teams > 0 || state.errors > 0) put("nccl.errors", "", state.errors, "errors");
    if (state.lag >= 0) put("nccl.lag", "", state.lag, "%", state.lag > 0 ? state.slowest : "");
    if (state.step > 0) put("nccl.train.step", "", state.step, "s");
    if (state.tokens > 0) put("nccl.train.tokens", "", state.tokens, "tokens/s");
    for (const auto& [part, lag] : state.own_lag) put("nccl.train.lag", part, lag, "%");
    std::map<std::string, double> loss;
    for (const auto& [key, best] : state.best) {
      const auto& [operation, part] = key;
      put(fmt::format("nccl.{}.busbw", operation), part, best.bus, "GB/s");
      put(fmt::format("nccl.{}.latency", operation), part, best.latency, "us");
      if (best.published != nullptr)
        put(fmt::format("nccl.{}.published", operation), part,
            kPercent * best.bus / best.published->busbw, "%", described(*best.published));
      if (best.loss >= 0) loss[part] = std::max(loss[part], kPercent * best.loss);
    }
    for (const auto& [part, value] : loss) {
      const auto& of = part.empty() ? nodes_[node] : part;
      if (state.is_explained)
        put("nccl.undecided", of, 1, "count", "each of its partners is slow with every other too");
      else
        put("nccl.loss", of, value, "%");
    }
    if (is_known) return;
    const auto why =
        left_[node] ? std::string{"it took no part to the end"} : "inconclusive: " + state.waited;
    const bool trains = std::ranges::any_of(runs_, &TeamRun::trains);
    for (const auto* measure :
         {"nccl.absent", "nccl.errors", trains ? "nccl.train.step" : "nccl.all_reduce.busbw"})
      findings.unknown.push_back({measure, "collectives", why});
    // Without this, what it did not measure would count as its own fault.
    if (!left_[node]) put("nccl.undecided", nodes_[node], 1, "count", state.waited);
  }

  std::span<const TeamRun> runs_;
  std::span<const std::string> nodes_, hcas_;
  int rails_;
  const std::vector<bool>& left_;
  std::vector<State> nodes_state_;
  std::vector<std::string> stalls_{}, tables_{};
  std::map<std::size_t, std::optional<std::map<std::string, double>>> usual_{};
  GroupFindings found_{};
};

}  // namespace

double busbw_of(const TeamRun& run, std::span<const std::string> nodes,
                std::string_view operation) {
  if (run.trains || stall_of(run, nodes)) return 0;
  const auto rates = rates_of(run);
  const auto found = rates.find(std::string{operation});
  return found == rates.end() ? 0 : found->second.bus;
}

Result<GroupFindings> across_findings(std::span<const TeamRun> runs,
                                      std::span<const std::string> nodes,
                                      std::span<const std::string> hcas, int rails,
                                      const std::vector<bool>& left) {
  return Writer{runs, nodes, hcas, rails, left}.write();
}

}  // namespace cupel::burnin::fabric
