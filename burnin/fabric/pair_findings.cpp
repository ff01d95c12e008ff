#include "burnin/fabric/pair_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "base/text.h"

namespace cupel::burnin::fabric {
namespace {

using inventory::Subject;

constexpr double kPercent = 100;

class Writer {
 public:
  Writer(const PairScreen& screen, const Names& names, const std::vector<bool>& left,
         const Unmeasured& unmeasured)
      : unmeasured_{unmeasured},
        screen_{screen},
        topology_{screen.topology()},
        names_{names},
        left_{left},
        culprits_{screen.culprits()},
        fabric_{whole_fabric(screen.readings(), culprits_)} {
    found_.members.resize(static_cast<std::size_t>(topology_.wiring().nodes));
    loss_.resize(topology_.part_count());
    open_.resize(topology_.part_count());
  }

  Result<GroupFindings> write() {
    count_flows();
    if (!carried_)
      return Error{Code::kNoMeasurement,
                   fmt::format("no flow between any two nodes carried data{}{}",
                               unmeasured_.first.empty() ? "" : ": ", unmeasured_.first)};
    for (const auto& each : culprits_.named) add_finding(each);
    for (const auto& each : culprits_.open) suspect(each);
    unexplained_.resize(found_.members.size());
    for (const auto id : culprits_.unexplained)
      for (const int node : {screen_.readings().flow(id).from, screen_.readings().flow(id).to})
        unexplained_[static_cast<std::size_t>(node)].push_back(id);
    for (auto& line : fabric_lines(topology_, names_, fabric_))
      fabric_words_ += (fabric_words_.empty() ? "" : "; ") + line;
    for (int node = 0; node < topology_.wiring().nodes; ++node) write_node(node);
    found_.reasons = reasons(screen_, culprits_, fabric_, names_);
    return std::move(found_);
  }

 private:
  std::size_t port_of(int node, int rail) const {
    return static_cast<std::size_t>(node) * static_cast<std::size_t>(topology_.wiring().rails) +
           static_cast<std::size_t>(rail);
  }

  void count_flows() {
    flows_.resize(found_.members.size());
    goes_across_.resize(found_.members.size());
    best_.resize(topology_.wiring().ports.size(), -1);
    const auto& readings = screen_.readings();
    for (FlowId id = 0; id < readings.size(); ++id) {
      if (readings.count(id) == 0) continue;
      const auto& flow = readings.flow(id);
      const double gigabits = readings.best(id) * screen_.limits(topology_.across(flow)).usual;
      carried_ |= readings.best(id) > 0 && gigabits > kLeast;
      measured_.insert({flow.from, flow.rail, 0});
      measured_.insert({flow.to, flow.rail, 1});
      for (const int node : {flow.from, flow.to}) {
        ++flows_[static_cast<std::size_t>(node)];
        if (topology_.across(flow)) goes_across_[static_cast<std::size_t>(node)] = true;
        auto& best = best_[port_of(node, flow.rail)];
        best = std::max(best, gigabits);
      }
    }
  }

  void add_finding(const Suspicion& suspicion) {
    const auto id = suspicion.parts.front();
    const double loss = kPercent * (1 - suspicion.level);
    if (is_of_a_node(id)) {
      loss_[topology_.whole(id)] = loss;
      if (suspicion.comes_and_goes())
        comes_and_goes_[topology_.whole(id)] =
            fmt::format(", in {} of {} readings", suspicion.dips, suspicion.readings);
    } else
      put_switch({"fabric.switch.loss", "", loss, "%", name_of(topology_, names_, id)}, id);
  }

  /// One of them is slow, or the one may be: what is not decided is no pass.
  void suspect(const Suspicion& suspicion) {
    std::string words;
    for (const auto part : suspicion.parts)
      words += (words.empty() ? "" : " | ") + name_of(topology_, names_, part);
    if (suspicion.parts.size() > 1) words += ": " + deciding_swap(topology_, names_, suspicion);
    for (const auto part : suspicion.parts) {
      if (is_of_a_node(part))
        open_[topology_.whole(part)] = words;
      else
        put_switch({"fabric.undecided", "", 1, "count", words}, part);
    }
  }

  bool is_of_a_node(PartId id) const {
    const auto kind = topology_.part(id).kind;
    return kind == PartKind::node || kind == PartKind::access;
  }

  void put_switch(Measurement measured, PartId id) {
    const auto part = topology_.part(id);
    const auto& owners = part.kind == PartKind::spine ? names_.spines : names_.leaves;
    const auto owner = static_cast<std::size_t>(part.owner);
    if (owner >= owners.size()) return;
    const auto uplink = owner * static_cast<std::size_t>(topology_.wiring().uplinks) +
                        static_cast<std::size_t>(part.index);
    const bool one_port = part.kind == PartKind::uplink && uplink < names_.uplink_ports.size();
    const Subject at{Subject::Kind::switch_port,
                     owners[owner],
                     one_port ? names_.uplink_ports[uplink] : "all",
                     {},
                     {}};
    found_.links.push_back({at, std::move(measured), behind(part)});
  }

  /// Nodes with a link to the leaf; of a spine: to any leaf that has an uplink to it.
  std::vector<std::string> behind(const Part& part) const {
    std::vector<std::string> nodes;
    const auto& wiring = topology_.wiring();
    for (int node = 0; node < wiring.nodes; ++node) {
      bool is_behind = false;
      for (int rail = 0; rail < wiring.rails; ++rail)
        is_behind |= reaches(part, topology_.port(node, rail).leaf);
      if (is_behind) nodes.push_back(names_.nodes[static_cast<std::size_t>(node)]);
    }
    return nodes;
  }

  bool reaches(const Part& part, int leaf) const {
    if (leaf < 0 || part.kind != PartKind::spine) return leaf >= 0 && leaf == part.owner;
    const auto& wiring = topology_.wiring();
    const auto first = static_cast<std::size_t>(leaf) * static_cast<std::size_t>(wiring.uplinks);
    for (int uplink = 0; uplink < wiring.uplinks; ++uplink)
      if (wiring.spine_of_uplink[first + static_cast<std::size_t>(uplink)] == part.owner)
        return true;
    return false;
  }

  /// No number where it is not decided: what is missing is no pass.
  void put_loss(Findings& findings, std::string measure, std::string part, PartId id) {
    if (!open_[id].empty()) {
      findings.unknown.push_back({measure, "pairs", "suspected: " + open_[id]});
      findings.measurements.push_back({"fabric.undecided", std::move(part), 1, "count", open_[id]});
      return;
    }
    findings.measurements.push_back(
        {std::move(measure), std::move(part), loss_[id], "%",
         loss_[id] > 0 ? name_of(topology_, names_, id) + words_on(id) : ""});
  }

  std::string words_on(PartId id) const {
    const auto found = comes_and_goes_.find(id);
    return found == comes_and_goes_.end() ? "" : found->second;
  }

  /// All jobs of the node that leave its leaf are held back, and by no part of it.
  void put_slow_across(Findings& findings, std::size_t node) const {
    if (fabric_.loss <= 0 || !goes_across_[node]) return;
    findings.measurements.push_back({"fabric.undecided", "across", 1, "count", fabric_words_});
  }

  /// Slow without a cause is no pass: where routing is not by destination an uplink or a spine may
  /// be what is slow, and no flow names it.
  void put_unexplained(Findings& findings, std::span<const FlowId> slow) const {
    if (slow.empty()) return;
    std::string words;
    for (const auto id : slow.first(std::min(slow.size(), kMostFlowsOfANode)))
      words += fmt::format("{}{}", words.empty() ? "" : ", ",
                           name_of(topology_, names_, screen_.readings().flow(id)));
    if (slow.size() > kMostFlowsOfANode)
      words += fmt::format(" and {} more", slow.size() - kMostFlowsOfANode);
    findings.measurements.push_back(
        {"fabric.undecided", "flows", 1, "count",
         fmt::format("slow flows that no part explains: {}{}{}{}", words, routing_text(),
                     fabric_words_.empty() ? "" : "; ", shortened(fabric_words_, kLongestWords))});
  }

  std::string_view routing_text() const {
    switch (topology_.wiring().routing) {
      case Routing::by_destination:
        return topology_.wiring().routes.empty() ? "; the forwarding tables are not known" : "";
      case Routing::ecmp:
        return "; routing is by a hash of each connection";
      case Routing::adaptive:
        return "; routing is adaptive";
      case Routing::unknown:
        return "; routing is not known";
    }
    return "";
  }

  /// Of a link one way or both were never measured: neither a fault of it nor a pass. Empty: none.
  std::string why_unmeasured(int node) const {
    std::string words, line;
    for (auto at = unmeasured_.why.lower_bound({node, 0, 0});
         at != unmeasured_.why.end() && at->first[0] == node; ++at) {
      if (measured_.contains(at->first)) continue;
      const auto& hca = names_.hcas[port_of(node, at->first[1])];
      words +=
          fmt::format("{}{} {}", words.empty() ? "" : ", ", at->first[2] == 0 ? "from" : "to", hca);
      if (line.empty()) line = at->second;
    }
    return words.empty() ? words : fmt::format("no flow was measured {}: {}", words, line);
  }

  void write_node(int node) {
    const auto at = static_cast<std::size_t>(node);
    auto& findings = found_.members[at];
    if (left_[at]) {
      // It could not be measured: no part of it is proven bad, and none good.
      constexpr std::string_view kWhy = "it took no part to the end";
      findings.unknown.push_back({"fabric.flows", "pairs", std::string{kWhy}});
      findings.measurements.push_back({"fabric.undecided", "all", 1, "count", std::string{kWhy}});
      return;
    }
    if (const auto why = why_unmeasured(node); !why.empty()) {
      findings.measurements.push_back({"fabric.undecided", "unmeasured", 1, "count", why});
      if (flows_[at] == 0) {
        findings.unknown.push_back({"fabric.flows", "pairs", why});
        return;
      }
    }
    findings.measurements.push_back({"fabric.flows", "", static_cast<double>(flows_[at]), "count"});
    if (flows_[at] == 0) return;
    put_loss(findings, "fabric.node.loss", "", topology_.id({PartKind::node, {}, node, 0}));
    for (int rail = 0; rail < topology_.wiring().rails; ++rail) {
      const auto port = port_of(node, rail);
      if (best_[port] < 0 || port >= names_.hcas.size() || names_.hcas[port].empty()) continue;
      put_loss(findings, "fabric.link.loss", names_.hcas[port],
               topology_.id({PartKind::access, {}, node, rail}));
      findings.measurements.push_back(
          {"fabric.link.bandwidth", names_.hcas[port], best_[port], "Gb/s"});
    }
    put_slow_across(findings, at);
    put_unexplained(findings, unexplained_[at]);
  }

  static constexpr double kLeast = 1e-3;  // Gb/s
  static constexpr std::size_t kMostFlowsOfANode = 4, kLongestWords = 600;

  const Unmeasured& unmeasured_;
  const PairScreen& screen_;
  const Topology& topology_;
  const Names& names_;
  const std::vector<bool>& left_;
  Culprits culprits_;
  WholeFabric fabric_;
  std::string fabric_words_{};
  std::map<PartId, std::string> comes_and_goes_{};
  std::vector<bool> goes_across_{};
  GroupFindings found_;
  std::vector<double> loss_, best_;
  std::vector<std::string> open_;  // of each part: what it is suspected with
  std::vector<int> flows_;
  std::vector<std::vector<FlowId>> unexplained_{};  // of each node
  std::set<std::array<int, 3>> measured_{};         // as Unmeasured::why
  bool carried_ = false;
};

}  // namespace

Result<GroupFindings> pair_findings(const PairScreen& screen, const Names& names,
                                    const std::vector<bool>& left, const Unmeasured& unmeasured) {
  return Writer{screen, names, left, unmeasured}.write();
}

}  // namespace cupel::burnin::fabric
