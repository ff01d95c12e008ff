// Rows of a file of cables to a fabric: which device is what, and which of them are of another
// network.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "inventory/cable_files.h"
#include "inventory/cable_ports.h"
#include "inventory/identity.h"
#include "inventory/sheet.h"
#include "inventory/yaml.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;

/// What one end of a row is.
struct RowEnd {
  enum class Kind {
    compute,     // a compute HCA of a node
    other_part,  // of a node: another HCA, its BMC
    switch_port,
    not_a_port,  // of a device that is no node
  } kind{};
  CableEnd at{};
};

class FileFabric {
 public:
  FileFabric(const std::vector<CableRow>& rows, const CableFileSite& site, Problems& problems)
      : rows_{rows}, site_{site}, problems_{problems} {
    for (const auto& member : site.members) {
      add_name(member.name, member);
      if (!member.host.empty()) add_name(member.host, member);
    }
  }

  CableFile read() {
    for (const auto& row : rows_)
      for (const auto& [device, port] :
           {std::pair{&row.from, &row.from_port}, std::pair{&row.to, &row.to_port}})
        if (member_named(*device) == nullptr) {
          const auto name = spellings_.known(*device);
          spellings_.add(name);
          ports_.add(name, *port);
        }
    ports_.decide(site_.ports_per_cage);
    std::vector<std::pair<RowEnd, RowEnd>> ends;
    for (const auto& row : rows_)
      ends.emplace_back(end_of(row.from, row.from_port), end_of(row.to, row.to_port));
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (!is_management(rows_[i])) connect(ends[i].first, ends[i].second);
    const auto before = problems_.size();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      add(rows_[i], ends[i].first, ends[i].second);
      if (problems_.size() - before < kMostBadRows) continue;
      problems_.push_back({rows_[i].where, too_many_bad_rows()});
      break;
    }
    level();
    group();
    for (auto& one : file_.fabric.switches) one.ports = site_.switch_ports;
    return std::move(file_);
  }

 private:
  using Kind = RowEnd::Kind;

  /// By the whole name, and without its domain where that leaves one node.
  void add_name(const std::string& name, const FabricMember& member) {
    members_.try_emplace(lower_case(name), &member);
    const auto host = lower_case(name.substr(0, name.find('.')));
    const auto [known, fresh] = hosts_.try_emplace(host, &member);
    if (!fresh && known->second != &member) known->second = nullptr;
  }

  const FabricMember* member_named(std::string_view device) const {
    const auto whole = members_.find(lower_case(device));
    if (whole != members_.end()) return whole->second;
    const auto host = hosts_.find(lower_case(device.substr(0, device.find('.'))));
    return host == hosts_.end() ? nullptr : host->second;
  }

  RowEnd end_of(const std::string& device, const std::string& port) const {
    if (const auto* member = member_named(device)) {
      const auto found = hca_port(*member, port);
      if (!found) return {Kind::other_part, {member->name, port, 1}};
      return {Kind::compute, {member->name, found->hca, found->port}};
    }
    const auto& name = spellings_.known(device);
    const auto found = ports_.port(name, port, site_.ports_per_cage);
    if (!found) return {Kind::not_a_port, {device, port, 0}};
    return {Kind::switch_port, {name + found->chip, "", found->port}};
  }

  /// Switches that cables connect are of one network; it is the plan's where a compute HCA is.
  void connect(const RowEnd& one, const RowEnd& other) {
    const bool switches = one.kind == Kind::switch_port && other.kind == Kind::switch_port;
    if (switches) {
      const auto of_one = root(lower_case(one.at.device)),
                 of_other = root(lower_case(other.at.device));
      if (of_one == of_other) return;
      above_[of_other] = of_one;
      has_compute_[of_one] = has_compute_[of_one] || has_compute_[of_other];
      has_others_[of_one] = has_others_[of_one] || has_others_[of_other];
      return;
    }
    for (const auto& [end, far] : {std::pair{&one, &other}, std::pair{&other, &one}}) {
      if (end->kind != Kind::switch_port) continue;
      const auto network = root(lower_case(end->at.device));
      auto& flag = far->kind == Kind::compute ? has_compute_[network] : has_others_[network];
      flag = true;
      any_compute_ = any_compute_ || far->kind == Kind::compute;
    }
  }

  /// Shortens the way on which it goes: of thousands of leaves each would be one more step.
  std::string root(const std::string& name) {
    auto top = name;
    for (auto at = above_.find(top); at != above_.end(); at = above_.find(top)) top = at->second;
    auto below = name;
    for (auto at = above_.find(below); at != above_.end(); at = above_.find(below))
      below = std::exchange(at->second, top);
    return top;
  }

  bool is_in(const std::unordered_map<std::string, bool>& networks, const RowEnd& end) {
    const auto found = networks.find(root(lower_case(end.at.device)));
    return found != networks.end() && found->second;
  }

  /// Storage, BMCs and consoles often stand in the same sheet.
  bool is_of_another_network(const RowEnd& one, const RowEnd& other) {
    if (!any_compute_) return false;
    bool others = false;
    for (const auto* end : {&one, &other}) {
      const bool of_switch = end->kind == Kind::switch_port || end->kind == Kind::not_a_port;
      if (end->kind == Kind::compute || (of_switch && is_in(has_compute_, *end))) return false;
      others = others || !of_switch || end->kind == Kind::not_a_port || is_in(has_others_, *end);
    }
    return others;
  }

  static bool is_management(const CableRow& row) {
    return is_management(row.from_port) || is_management(row.to_port);
  }

  static bool is_management(std::string_view port) {
    constexpr std::array<std::string_view, 7> kWords{"bmc", "ipmi", "idrac",  "ilo",
                                                     "xcc", "mgmt", "console"};
    const auto lower = lower_case(port);
    return std::ranges::any_of(kWords, [&](auto word) { return lower.starts_with(word); });
  }

  void add(const CableRow& row, const RowEnd& one, const RowEnd& other) {
    if (is_management(row) || is_of_another_network(one, other)) {
      if (file_.left_out++ == 0) file_.first_left_out = row.where;
      return;
    }
    const bool good = is_good(row, one, row.from_column, row.from, row.from_port);
    if (!is_good(row, other, row.to_column, row.to, row.to_port) || !good) return;
    if (one.kind == Kind::compute && other.kind == Kind::compute) {
      problems_.push_back({row.where, fmt::format("a cable between two nodes, {} and {}",
                                                  one.at.device, other.at.device)});
      return;
    }
    auto from = placed(one, row), to = placed(other, row);
    // A list of each device has the cable again, from its other end.
    if (written_.contains({to, from})) return;
    written_.emplace(from, to);
    locate(from, row.location_from);
    locate(to, row.location_to);
    auto at_from = row.at_from, at_to = row.at_to;
    if (from.at_switch() && !to.at_switch()) {
      std::swap(from, to);
      std::swap(at_from, at_to);
    }
    file_.fabric.cables.push_back({.from = std::move(from),
                                   .to = std::move(to),
                                   .type = row.type,
                                   .metres = row.metres,
                                   .speed = speed_of(row.speed),
                                   .serial = row.serial,
                                   .at_from = std::move(at_from),
                                   .at_to = std::move(at_to),
                                   .where = row.where});
  }

  /// Reports an end that is no port.
  bool is_good(const CableRow& row, const RowEnd& end, int column, const std::string& device,
               const std::string& port) {
    if (end.kind == Kind::compute || end.kind == Kind::switch_port) return true;
    auto where = row.where;
    where.column = column;
    if (end.kind == Kind::other_part) {
      problems_.push_back(
          {where, fmt::format("{} has no compute HCA '{}'; it has {}", end.at.device, port,
                              fmt::join(member_named(device)->hcas, ", "))});
      return false;
    }
    problems_.push_back(
        {where, fmt::format("'{}' is no port of a switch, and the inventory has no node '{}'{}",
                            port, device, hint(device))});
    return false;
  }

  /// A name is compared with those of all nodes, which is slow: after many none any more.
  std::string hint(const std::string& device) {
    constexpr std::size_t kMostHints = 20;
    const auto [found, fresh] = hints_.try_emplace(device);
    if (!fresh || hints_.size() > kMostHints) return found->second;
    std::vector<std::string> names;
    for (const auto& member : site_.members) names.push_back(member.name);
    found->second = did_you_mean(device, std::span{names});
    return found->second;
  }

  CableEnd placed(const RowEnd& end, const CableRow& row) {
    if (end.kind == Kind::compute) return end.at;
    return {switch_named(end.at.device, row.where), "", end.at.port};
  }

  /// Speeds in Mb/s, as in NDT files, say nothing that ibnetdiscover prints.
  std::string speed_of(const std::string& text) const {
    return text.empty() || number<double>(text) ? site_.speed : text;
  }

  /// The name as it was first written: cases differ between lines of one file.
  const std::string& switch_named(const std::string& name, const Place& where) {
    auto& switches = file_.fabric.switches;
    const auto [found, fresh] = switches_.try_emplace(lower_case(name), switches.size());
    if (fresh)
      switches.push_back({.name = name, .ports_per_cage = site_.ports_per_cage, .where = where});
    return switches[found->second].name;
  }

  void locate(const CableEnd& end, const std::string& location) {
    const auto found = switches_.find(lower_case(end.device));
    if (end.at_switch() && found != switches_.end() && !location.empty())
      file_.fabric.switches[found->second].location = location;
  }

  /// Leaves have nodes, spines have leaves, cores have spines; the lower end of a cable stands
  /// first.
  void level() {
    std::unordered_map<std::string_view, int> height;
    for (const auto& cable : file_.fabric.cables)
      if (cable.is_access()) height[cable.to.device] = 0;
    for (int below = 0; below < 2; ++below)
      for (const auto& cable : file_.fabric.cables) {
        if (cable.is_access()) continue;
        const auto raise = [&](const CableEnd& low, const CableEnd& high) {
          const auto found = height.find(low.device);
          if (found != height.end() && found->second == below)
            height.try_emplace(high.device, below + 1);
        };
        raise(cable.from, cable.to);
        raise(cable.to, cable.from);
      }
    const auto of = [&](std::string_view name) {
      const auto found = height.find(name);
      return found == height.end() ? 2 : found->second;
    };
    for (auto& one : file_.fabric.switches) one.level = static_cast<SwitchLevel>(of(one.name));
    for (auto& cable : file_.fabric.cables)
      if (!cable.is_access() && of(cable.from.device) > of(cable.to.device)) {
        std::swap(cable.from, cable.to);
        std::swap(cable.at_from, cable.at_to);
      }
  }

  /// Nodes with the same leaves are a group; a leaf that serves one rail has it.
  void group() {
    std::map<std::string, std::set<std::string>> leaves_of;
    std::map<std::string, std::set<int>> rails_of;
    for (const auto& cable : file_.fabric.cables) {
      if (!cable.is_access()) continue;
      leaves_of[cable.from.device].insert(cable.to.device);
      const auto& hcas = members_.at(lower_case(cable.from.device))->hcas;
      rails_of[cable.to.device].insert(
          static_cast<int>(std::ranges::find(hcas, cable.from.hca) - hcas.begin()));
    }
    std::map<std::set<std::string>, std::pair<int, int>> groups;  // number, and nodes so far
    for (const auto& member : site_.members) {
      const auto leaves = leaves_of.find(member.name);
      if (leaves == leaves_of.end()) continue;
      auto& known =
          groups.try_emplace(leaves->second, static_cast<int>(groups.size()), 0).first->second;
      file_.fabric.nodes.push_back(
          {member.name, member.hcas, known.first, known.second++, member.host});
      for (const auto& leaf : leaves->second)
        file_.fabric.switches[switches_.at(lower_case(leaf))].group = known.first;
    }
    for (const auto& [leaf, rails] : rails_of)
      if (rails.size() == 1)
        file_.fabric.switches[switches_.at(lower_case(leaf))].rail = *rails.begin();
  }

  const std::vector<CableRow>& rows_;
  const CableFileSite& site_;
  Problems& problems_;
  std::unordered_map<std::string, const FabricMember*> members_{}, hosts_{};
  std::unordered_map<std::string, std::size_t> switches_{};
  MachineNames spellings_{};  // of switches
  SwitchPorts ports_{};
  std::unordered_map<std::string, std::string> above_{};                // switches of one network
  std::unordered_map<std::string, bool> has_compute_{}, has_others_{};  // networks
  bool any_compute_ = false;
  std::unordered_map<std::string, std::string> hints_{};  // by device
  std::set<std::pair<CableEnd, CableEnd>> written_{};
  CableFile file_{};
};

}  // namespace

CableFile read_cable_file(const std::vector<CableRow>& rows, const CableFileSite& site,
                          Problems& problems) {
  return FileFabric{rows, site, problems}.read();
}

}  // namespace cupel::inventory
