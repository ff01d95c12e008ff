#include "burnin/fabric/cable_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/fabric/cable_findings.h"
#include "burnin/fabric/discovery/ibnetdiscover.h"
#include "burnin/fabric/lldp_cables.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using std::chrono::seconds;

constexpr std::array<std::string_view, 3> kCableMeasures{"fabric.cables", "fabric.cable.wrong",
                                                         "fabric.undecided"};
constexpr std::string_view kStage = "fabric-cables";
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::size_t kMostAsked = 3;  // nodes that look, where the ones before could not
/// Eight rails that are fabrics of their own, with two minutes for each ibnetdiscover.
constexpr seconds kMostOfARound{8 * seconds{120}};

/// HCAs of one node that see the same switches: one that could look is enough.
using Island = std::vector<std::string>;

/// `report`: its HCAs, and their neighbours where they are Ethernet. Looks once for each island,
/// from the first of its HCAs that can.
Job cable_job(bool report, const std::vector<Island>& islands) {
  json::array look;
  for (const auto& island : islands) {
    json::array hcas;
    for (const auto& hca : island) hcas.emplace_back(hca);
    look.push_back(std::move(hcas));
  }
  return agent_job({.stage = kStage,
                    .order = {{"report", report}, {"look", std::move(look)}},
                    .helpful = {"lldpctl", "ibnetdiscover"}},
                   seconds{20}, kMostOfARound);
}

/// What cupel-node sent, as the shell script of an earlier version printed it: a line for each
/// note, and a section for each tool whose output is whole. Of such a script's job as it is.
/// Errors: as read_agent_output().
Result<Output> report_of(const Output& output) {
  TRY(const auto read, read_agent_output(kStage, output, {}));
  if (!read) return output;
  std::string text;
  for (const auto& [name, note] : read->notes) text += name + " " + note + "\n";
  for (const auto& tool : read->tools)
    text += fmt::format("cupel-begin: {}\n{}\n{}\n", tool.name == "lldpctl" ? "lldp" : "look",
                        tool.out, tool.cut ? "cupel-cut" : "cupel-end");
  return Output{std::move(text), "", output.exit_status};
}

/// Which switches cables connect: a fabric with spines is one island; without, each leaf is one.
class Islands {
 public:
  explicit Islands(const inventory::Fabric& plan) {
    for (const auto& cable : plan.cables)
      if (!cable.is_access()) join(cable.from.device, cable.to.device);
  }

  /// The node's HCAs that have a planned cable, island by island.
  std::vector<Island> of(const inventory::FabricNode& node, const inventory::FabricMap& map) const {
    std::vector<Island> islands;
    std::map<std::string_view, std::size_t> numbers;
    for (const auto& hca : node.hcas) {
      const auto* cable = map.cable_at({node.name, hca, 1});
      if (cable == nullptr) continue;
      const auto [at, fresh] = numbers.try_emplace(root(cable->to.device), islands.size());
      if (fresh) islands.emplace_back();
      islands[at->second].push_back(hca);
    }
    return islands;
  }

 private:
  std::string_view root(std::string_view name) const {
    for (auto at = above_.find(name); at != above_.end(); at = above_.find(name)) name = at->second;
    return name;
  }
  void join(std::string_view one, std::string_view other) {
    const auto of_one = root(one), of_other = root(other);
    if (of_one != of_other) above_[of_other] = of_one;
  }

  std::unordered_map<std::string_view, std::string_view> above_{};  // names of the plan
};

class CableRounds : public GroupRounds {
 public:
  CableRounds(const inventory::Fabric& plan, std::span<const Member> members)
      : plan_{plan}, map_{plan}, islands_{plan}, members_{members.begin(), members.end()} {}

  std::vector<std::optional<MemberJob>> next() override {
    if (seen_ || lldp_ || asked_ == std::min(kMostAsked, members_.size())) return {};
    std::vector<std::optional<MemberJob>> jobs(members_.size());
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const bool looks = i == asked_;
      if (!looks && asked_ > 0) continue;
      const auto* node = looks ? map_.find_node(members_[i].node) : nullptr;
      auto job = cable_job(asked_ == 0,
                           node == nullptr ? std::vector<Island>{} : islands_.of(*node, map_));
      jobs[i] = MemberJob{looks ? "looks" : "reports its HCAs", std::move(job.script), job.limit};
    }
    return jobs;
  }

  void take(std::span<const std::optional<Output>> outputs,
            const std::vector<bool>& left) override {
    std::vector<std::optional<Output>> reports(outputs.size());
    std::string why = "its job failed";
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i]) continue;
      auto report = report_of(*outputs[i]);
      if (report)
        reports[i] = *std::move(report);
      else if (i == asked_)
        why = report.error().what;
    }
    for (std::size_t i = 0; i < reports.size(); ++i)
      if (reports[i]) fabric::read_hca_guids(members_[i].node, reports[i]->text, guids_);
    if (asked_ == 0) read_lldp(reports);
    const auto& from = members_[asked_].node;
    if (lldp_)
      why_.clear();
    else if (reports[asked_])
      look(from, *reports[asked_]);
    else
      why_ += fmt::format("{}{}: {}", why_.empty() ? "" : "; ", from, why);
    left_ = left;
    ++asked_;
  }

  Result<GroupFindings> findings() const override {
    if (!seen_ && !lldp_) return Error{Code::kNoMeasurement, why_};
    TRY(auto found, seen_ ? by_ibnetdiscover() : by_lldp());
    for (std::size_t i = 0; i < left_.size(); ++i)
      if (left_[i]) found.members[i] = {};
    return found;
  }

 private:
  Result<GroupFindings> by_ibnetdiscover() const {
    auto found = fabric::cable_findings(plan_, audit_fabric(plan_, *seen_, guids_), members_);
    found.reasons.insert(found.reasons.begin(), "looked on " + members_[asked_ - 1].node);
    return found;
  }

  Result<GroupFindings> by_lldp() const {
    if (!*lldp_) return lldp_->error();
    const auto& lldp = **lldp_;
    auto found = fabric::cable_findings(lldp.compared, lldp.audit, members_);
    found.reasons.insert(found.reasons.begin(),
                         "looked by LLDP on each node: cables between switches are not compared");
    for (std::size_t i = 0; i < members_.size(); ++i) {
      auto& member = found.members[i];
      const auto why = lldp.not_compared.find(members_[i].node);
      if (why != lldp.not_compared.end()) {
        member = {.measurements = {{"fabric.undecided", "all", 1, "count", why->second}},
                  .unknown = {{"fabric.cables", "lldpctl", why->second}}};
        continue;
      }
      for (const auto& [end, reason] : lldp.undecided)
        if (end.device == members_[i].node)
          member.measurements.push_back({"fabric.undecided", end.hca, 1, "count", reason});
    }
    return found;
  }

  /// Where the fabric is Ethernet, each node reports its own cables.
  void read_lldp(std::span<const std::optional<Output>> outputs) {
    std::vector<fabric::EthernetNode> nodes;
    std::vector<std::string> reported;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i]) continue;
      reported.push_back(members_[i].node);
      if (auto node = fabric::read_ethernet(members_[i].node, *outputs[i]))
        nodes.push_back(*std::move(node));
    }
    if (!fabric::is_ethernet(plan_, reported, nodes)) return;
    lldp_ = fabric::audit_by_lldp(plan_, nodes);
    if (!*lldp_) return;
    for (const auto& name : reported)
      if (std::ranges::find(nodes, name, &fabric::EthernetNode::node) == nodes.end())
        (*lldp_)->not_compared.try_emplace(name, "none of its HCAs has a port that is Ethernet");
  }

  void look(const std::string& from, const Output& output) {
    std::string text;
    for (const auto& section : script::sections(output.text))
      if (section.whole && section.name.starts_with("look"))
        text += std::string{section.text} + "\n";
    auto seen = parse_ibnetdiscover(text);
    if (seen) {
      seen_ = *std::move(seen);
      return;
    }
    const bool missing = script::after_mark(output, "cupel-missing: ").has_value();
    why_ += fmt::format(
        "{}{}: {}", why_.empty() ? "" : "; ", from,
        missing ? "ibnetdiscover is not installed (infiniband-diags)" : seen.error().what);
  }

  const inventory::Fabric& plan_;
  inventory::FabricMap map_;
  Islands islands_;
  std::vector<Member> members_;
  std::size_t asked_ = 0;  // how many members have looked
  std::vector<bool> left_{};
  inventory::HcaGuids guids_{};
  std::optional<inventory::SeenFabric> seen_{};
  std::optional<Result<fabric::LldpAudit>> lldp_{};  // of an Ethernet fabric
  std::string why_{};
};

Result<std::unique_ptr<GroupRounds>> rounds_of_cables(const RoundsRequest& request) {
  if (request.fabric == nullptr)
    return Error{Code::kInvalid, "the inventory has no cable plan: add fabric: to it"};
  if (const int planes = inventory::plane_count(*request.fabric); planes > 1)
    return Error{
        Code::kInvalid,
        fmt::format("the cable plan has {} planes, and fabric-cables looks from port 1 of each HCA "
                    "alone: leave the stage out. On a node run ibnetdiscover -P PORT for each "
                    "plane, write all of it to one file, and compare: cupel fabric audit "
                    "--ibnetdiscover FILE",
                    planes)};
  return std::make_unique<CableRounds>(*request.fabric, request.members);
}

Result<Job> prepare_cables(const inventory::Profile&, const Parameters&) {
  // What one of the nodes runs; the others report their HCAs alone.
  return cable_job(true, {Island{"mlx5_0"}});
}

Result<Findings> parse_cables(const inventory::Profile&, const Output& output) {
  TRY(script::check_gave_up(output));
  return Error{Code::kNoMeasurement, "it takes two nodes or more: group_by: all"};
}

bool always(const Parameters&) { return true; }

constexpr GroupStage kCableGroup{
    .least = 2, .most = 4096, .rounds = rounds_of_cables, .needs_plan = always};

}  // namespace

Stage fabric_cables() {
  Stage row{"fabric-cables",
            "the cables of the nodes against the inventory's plan, to the port (ibnetdiscover; of "
            "Ethernet lldpctl)",
            {},
            prepare_cables,
            parse_cables,
            kCableMeasures,
            {0.02, 0.02, "it only asks"},
            kPrograms};
  row.group = &kCableGroup;
  return row;
}

}  // namespace cupel::burnin
