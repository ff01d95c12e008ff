#include "burnin/fabric/pair_findings.h"

#include <fmt/format.h>

#include <algorithm>

namespace cupel::burnin::fabric {
namespace {

using inventory::Subject;

constexpr double kPercent = 100;

class Writer {
 public:
  Writer(const PairScreen& screen, const Names& names, const std::vector<bool>& left)
      : screen_{screen},
        topology_{screen.topology()},
        names_{names},
        left_{left},
        culprits_{screen.culprits()} {
    found_.members.resize(static_cast<std::size_t>(topology_.wiring().nodes));
    loss_.resize(topology_.part_count());
    open_.resize(topology_.part_count());
  }

  Result<GroupFindings> write() {
    count_flows();
    if (!carried_) return Error{Code::kNoMeasurement, "no flow between any two nodes carried data"};
    for (const auto& each : culprits_.named) accuse(each);
    for (const auto& each : culprits_.open)
      for (const auto part : each.parts) open_[topology_.whole(part)] = true;
    for (int node = 0; node < topology_.wiring().nodes; ++node) write_node(node);
    found_.reasons = reasons(screen_, culprits_, names_);
    return std::move(found_);
  }

 private:
  std::size_t port_of(int node, int rail) const {
    return static_cast<std::size_t>(node) * static_cast<std::size_t>(topology_.wiring().rails) +
           static_cast<std::size_t>(rail);
  }

  void count_flows() {
    flows_.resize(found_.members.size());
    best_.resize(topology_.wiring().ports.size(), -1);
    const auto& readings = screen_.readings();
    for (FlowId id = 0; id < readings.size(); ++id) {
      if (readings.count(id) == 0) continue;
      const auto& flow = readings.flow(id);
      const double gigabits = readings.best(id) * screen_.limits(topology_.across(flow)).usual;
      carried_ |= readings.best(id) > 0 && gigabits > kLeast;
      for (const int node : {flow.from, flow.to}) {
        ++flows_[static_cast<std::size_t>(node)];
        auto& best = best_[port_of(node, flow.rail)];
        best = std::max(best, gigabits);
      }
    }
  }

  void accuse(const Suspicion& suspicion) {
    const auto id = suspicion.parts.front();
    const auto part = topology_.part(id);
    const double loss = kPercent * (1 - suspicion.level);
    if (part.kind == PartKind::node || part.kind == PartKind::access) {
      loss_[topology_.whole(id)] = loss;
      return;
    }
    const bool spine = part.kind == PartKind::spine;
    const auto& owners = spine ? names_.spines : names_.leaves;
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
    found_.links.push_back(
        {at, {"fabric.switch.loss", "", loss, "%", name_of(topology_, names_, id)}});
  }

  /// No number where it is not decided: what is missing is no pass.
  void put_loss(Findings& findings, std::string measure, std::string part, PartId id) {
    if (open_[id])
      findings.unknown.push_back(
          {measure, "pairs", name_of(topology_, names_, id) + " is suspected, among others"});
    else
      findings.measurements.push_back({std::move(measure), std::move(part), loss_[id], "%",
                                       loss_[id] > 0 ? name_of(topology_, names_, id) : ""});
  }

  void write_node(int node) {
    const auto at = static_cast<std::size_t>(node);
    auto& findings = found_.members[at];
    if (left_[at]) {
      findings.unknown.push_back({"fabric.flows", "pairs", "it took no part to the end"});
      return;
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
  }

  static constexpr double kLeast = 1e-3;  // Gb/s

  const PairScreen& screen_;
  const Topology& topology_;
  const Names& names_;
  const std::vector<bool>& left_;
  Culprits culprits_;
  GroupFindings found_;
  std::vector<double> loss_, best_;
  std::vector<bool> open_;
  std::vector<int> flows_;
  bool carried_ = false;
};

}  // namespace

Result<GroupFindings> pair_findings(const PairScreen& screen, const Names& names,
                                    const std::vector<bool>& left) {
  return Writer{screen, names, left}.write();
}

}  // namespace cupel::burnin::fabric
