#include "orchestrator/requalify/fabric_swap.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "burnin/fabric/swap_choice.h"
#include "inventory/node_range.h"
#include "inventory/subject.h"

namespace cupel::requalify {
namespace {

using burnin::fabric::SlowLinks;
using burnin::fabric::SwapAnswer;
using Outcome = SwapAnswer::Outcome;
using inventory::CableEnd;
using inventory::Subject;
using record::NodeRecord;

/// Of the last of them, where the node did the stage more than once; nullptr: never.
const burnin::Findings* pairs_of(const NodeRecord& record) {
  const burnin::Findings* found = nullptr;
  for (const auto& [name, findings] : record.findings)
    if (name.substr(0, name.find('@')) == burnin::fabric::kExchangeStage) found = &findings;
  return found;
}

/// "mlx5_6" of the node, "port:leaf1-r3/33"; nothing for a whole switch or node.
std::optional<CableEnd> end_of(const std::string& node, const std::string& part,
                               const inventory::Fabric& plan) {
  const auto subject = Subject::part_of(node, part);
  if (subject.kind == Subject::Kind::switch_port) {
    const auto port = number<int>(subject.part);
    return port ? std::optional{CableEnd{subject.name, "", *port}} : std::nullopt;
  }
  for (const auto& cable : plan.cables)
    if (cable.from.device == node && cable.from.hca == part) return cable.from;
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(const inventory::Fabric& plan) : plan_{plan} {}

  void read(const NodeRecord& record) {
    const auto* found = pairs_of(record);
    if (found == nullptr) return;
    if (const auto fact = record.facts.find("fabric.exchanged"); fact != record.facts.end())
      readings_.exchanged = fact->second;
    for (const auto& each : found->measurements) take(record.node, each);
  }

  PairReadings readings() {
    for (auto& [words, links] : undecided_) slow_.insert({links.begin(), links.end()});
    readings_.slow.assign(slow_.begin(), slow_.end());
    return std::move(readings_);
  }

 private:
  void take(const std::string& node, const burnin::Measurement& each) {
    if (each.value <= 0) return;
    if (each.name == "fabric.flows") readings_.measured.insert(node);
    const bool open = each.name == "fabric.undecided";
    if (!open && each.name != "fabric.link.loss" && each.name != "fabric.switch.loss") return;
    const auto end = end_of(node, each.part, plan_);
    if (!end) return;
    readings_.nodes_of[*end].insert(node);
    if (open)
      undecided_[each.traced_to].insert(*end);  // what cannot be distinguished has the same words
    else
      slow_.insert({*end});
  }

  const inventory::Fabric& plan_;
  std::map<std::string, std::set<CableEnd>> undecided_{};
  std::set<SlowLinks> slow_{};
  PairReadings readings_{};
};

void add_nodes_of(const inventory::Fabric& plan, const CableEnd& end,
                  std::set<std::string>& nodes) {
  for (const auto& cable : plan.cables)
    if (cable.is_access() && (cable.from == end || cable.to == end))
      nodes.insert(cable.from.device);
}

/// A node that was not measured again may be where the fault is now.
Result<void> all_measured(const PairReadings& before, const PairReadings& after,
                          const inventory::Fabric& plan, const burnin::fabric::Exchange& exchange,
                          const std::vector<SwapAnswer>& answers) {
  std::set<std::string> needed;
  for (const auto* end : {&exchange.one, &exchange.other}) add_nodes_of(plan, *end, needed);
  for (const auto& answer : answers)
    for (const auto& end : answer.was)
      if (const auto nodes = before.nodes_of.find(end); nodes != before.nodes_of.end())
        needed.insert(nodes->second.begin(), nodes->second.end());
  std::vector<std::string> missing;
  std::ranges::set_difference(needed, after.measured, std::back_inserter(missing));
  if (missing.empty()) return ok();
  return Error{
      Code::kInvalid,
      fmt::format("not measured after the exchange: {0}. Measure again with them: cupel run "
                  "fabric --nodes ... --set exchanged={1}",
                  inventory::fold(missing), printable(after.exchanged))};
}

/// What the exchange that `after` was measured with says of what was slow before.
Result<std::vector<SwapAnswer>> read_swapped_cables(const PairReadings& before,
                                                    const PairReadings& after,
                                                    const inventory::Fabric& plan) {
  TRY(const auto exchange, burnin::fabric::exchange_of(after.exchanged, plan));
  TRY(auto answers, burnin::fabric::read_exchange(plan, exchange, before.slow, after.slow));
  TRY(all_measured(before, after, plan, exchange, answers));
  return answers;
}

class Inquiry {
 public:
  Inquiry(std::span<const PairRun> newest_first, const inventory::Fabric& plan)
      : runs_{newest_first}, plan_{plan} {}

  Result<SwapInquiry> answer() {
    const auto newest = next_plain(0);
    if (!newest)
      return Error{Code::kNotFound,
                   "no run measured pairs as the plan is cabled: cupel run fabric --nodes ..."};
    TRY(read_exchanges(*newest));
    const auto& before = runs_[*newest].readings;
    SwapInquiry made{.before = runs_[*newest].run};
    for (std::size_t i = 0; i < *newest; ++i) made.after.push_back(runs_[i].run);
    std::set<CableEnd> slow;
    for (const auto& links : before.slow) slow.insert(links.begin(), links.end());
    for (const auto& links : before.slow) {
      auto found = known_of(links);
      choose_next(found, before, slow);
      made.cases.push_back(std::move(found));
    }
    return made;
  }

 private:
  /// The newest run without an exchange from `from` on.
  std::optional<std::size_t> next_plain(std::size_t from) const {
    for (auto i = from; i < runs_.size(); ++i)
      if (runs_[i].readings.exchanged.empty()) return i;
    return std::nullopt;
  }

  Result<void> read_exchanges(std::size_t newest) {
    answers_.resize(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const auto base = next_plain(i);
      if (!base || *base == i) continue;
      auto read = read_swapped_cables(runs_[*base].readings, runs_[i].readings, plan_);
      if (read)
        answers_[i] = *std::move(read);
      else if (i == 0 && newest > 0)
        return read.error();
    }
    return ok();
  }

  /// From the newest run back to the first in which the link was not slow.
  SwapCase known_of(const SlowLinks& links) const {
    const auto parts = burnin::fabric::parts_of_links(plan_, links);
    SwapCase found{.answer = {.outcome = Outcome::open, .was = links, .parts = parts}};
    bool since = true;  // the newest run without an exchange
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const auto& readings = runs_[i].readings;
      if (readings.exchanged.empty()) {
        if (std::ranges::find(readings.slow, links) == readings.slow.end()) break;
        since = false;
        continue;
      }
      const auto answer = std::ranges::find(answers_[i], links, &SwapAnswer::was);
      if (answer == answers_[i].end()) continue;
      if (since || answer->outcome == Outcome::named) add(found, *answer, runs_[i].run);
    }
    if (found.by.empty()) return found;
    found.answer.cleared.clear();
    std::ranges::set_difference(parts, found.answer.parts,
                                std::back_inserter(found.answer.cleared));
    return found;
  }

  static void add(SwapCase& found, const SwapAnswer& answer, engine::RunId run) {
    auto& now = found.answer;
    const bool settled = now.outcome != Outcome::open && now.outcome != Outcome::named;
    if (settled) return;
    if (answer.outcome != Outcome::named) {
      if (now.outcome != Outcome::open) return;  // a newer one named parts
      now = answer;
      found.by.push_back(run);
      return;
    }
    std::vector<burnin::fabric::LinkPart> left;
    std::ranges::set_intersection(now.parts, answer.parts, std::back_inserter(left));
    now.outcome = left.empty() ? Outcome::contradicted : Outcome::named;
    now.parts = std::move(left);
    found.by.push_back(run);
  }

  void choose_next(SwapCase& found, const PairReadings& before,
                   const std::set<CableEnd>& slow) const {
    const auto outcome = found.answer.outcome;
    if (outcome != Outcome::open && outcome != Outcome::named) return;
    found.next = burnin::fabric::deciding_exchange(plan_, found.answer.parts, slow);
    if (!found.next) return;
    found.uplinks = !burnin::fabric::is_of_a_node(plan_, *found.next);
    std::set<std::string> concerned;
    for (const auto* end : {&found.next->one, &found.next->other})
      add_nodes_of(plan_, *end, concerned);
    for (const auto& end : found.answer.was)
      if (const auto nodes = before.nodes_of.find(end); nodes != before.nodes_of.end())
        concerned.insert(nodes->second.begin(), nodes->second.end());
    found.measure = found.uplinks ? before.measured : with_their_groups(before, concerned);
  }

  /// A limit is learned from what shares the leaves.
  std::set<std::string> with_their_groups(const PairReadings& before,
                                          const std::set<std::string>& concerned) const {
    std::set<int> groups;
    for (const auto& node : plan_.nodes)
      if (concerned.contains(node.name)) groups.insert(node.group);
    auto all = concerned;
    for (const auto& node : plan_.nodes)
      if (groups.contains(node.group) && before.measured.contains(node.name)) all.insert(node.name);
    return all;
  }

  std::span<const PairRun> runs_;
  const inventory::Fabric& plan_;
  std::vector<std::vector<SwapAnswer>> answers_{};  // by run
};

}  // namespace

PairReadings pair_readings(std::span<const NodeRecord> records, const inventory::Fabric& plan) {
  Reader reader{plan};
  for (const auto& record : records) reader.read(record);
  return reader.readings();
}

Result<SwapInquiry> inquire(std::span<const PairRun> newest_first, const inventory::Fabric& plan) {
  return Inquiry{newest_first, plan}.answer();
}

}  // namespace cupel::requalify
