#include "inventory/select.h"

#include <unordered_set>

#include "base/text.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/node_range.h"
#include "inventory/yaml.h"

namespace cupel::inventory {
namespace {

/// Of one range; each is compared with every node's name, which is slow.
constexpr std::size_t kMostComplaints = 10;

/// Commas outside of brackets part terms.
std::vector<std::string_view> terms_of(std::string_view text) {
  std::vector<std::string_view> found;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    found.push_back(trimmed(text.substr(start, i - start)));
    start = i + 1;
  }
  return found;
}

/// What the terms of one text mean.
class Terms {
 public:
  Terms(const Inventory& inventory, const RackScope& visible, const NodesOfRun& of_run)
      : inventory_{inventory}, of_run_{of_run}, sees_all_{visible.is_all()} {
    for (const auto& node : inventory.nodes)
      if (visible.has(node.rack)) there_.push_back(&node);
    for (const auto* node : there_) known_.insert(node->name);
  }

  const std::vector<const Node*>& there() const { return there_; }
  const std::string& complaints() const { return complaints_; }

  std::vector<std::string> names_of(std::string_view term) {
    if (term == "all") return where([](const Node&) { return true; });
    if (term.starts_with("rack:")) return of_rack(term.substr(5));
    if (term.starts_with("profile:")) return of_profile(term.substr(8));
    if (term.starts_with('@')) return of_group(term.substr(1));
    for (const std::string_view verdict : {"passed", "failed", "inconclusive"})
      if (term.starts_with(verdict) && term.substr(verdict.size()).starts_with(':'))
        return of_run(verdict, term.substr(verdict.size() + 1));
    return of_range(term);
  }

 private:
  void print_error(const std::string& what) {
    if (!complaints_.empty()) complaints_ += "; ";
    complaints_ += what;
  }

  template <class Selected>
  std::vector<std::string> where(const Selected& requested) const {
    std::vector<std::string> names;
    for (const auto* node : there_)
      if (requested(*node)) names.push_back(node->name);
    return names;
  }

  std::vector<std::string> of_rack(std::string_view rack) {
    // Or it would be all nodes that are in no rack: "rack:$RACK" without a RACK.
    if (rack.empty()) {
      print_error("'rack:' names no rack");
      return {};
    }
    auto names = where([&](const Node& node) { return node.rack == rack; });
    if (names.empty()) print_error("no node is in rack '" + std::string{rack} + "'");
    return names;
  }

  std::vector<std::string> of_profile(std::string_view profile) {
    if (profile.empty()) {
      print_error("'profile:' names no profile");
      return {};
    }
    auto names = where([&](const Node& node) { return node.profile == profile; });
    if (names.empty()) print_error("no node has profile '" + std::string{profile} + "'");
    return names;
  }

  /// A group that has no node here does not exist.
  std::vector<std::string> of_group(std::string_view group) {
    std::vector<std::string> groups;
    for (const auto& [name, members] : inventory_.groups) {
      auto here = members;
      std::erase_if(here, [&](const auto& member) { return !known_.contains(member); });
      if (here.empty()) continue;
      if (name == group) return here;
      groups.push_back(name);
    }
    print_error("there is no group '" + std::string{group} + "'" +
                did_you_mean(group, std::span{groups}));
    return {};
  }

  std::vector<std::string> of_run(std::string_view verdict, std::string_view number_of_run) {
    const auto run = number<std::int64_t>(number_of_run);
    if (!run || *run < 1) {
      print_error("'" + std::string{number_of_run} + "' is no number of a run");
      return {};
    }
    auto names = of_run_ ? of_run_(verdict, *run)
                         : Result<std::vector<std::string>>{
                               Error{Code::kInvalid, "what runs have found is not asked for here"}};
    if (!names) {
      print_error(names.error().what);
      return {};
    }
    if (!sees_all_) std::erase_if(*names, [&](const auto& name) { return !known_.contains(name); });
    if (names->empty())
      print_error(verdict == "inconclusive"
                      ? "no node of run " + std::to_string(*run) + " is inconclusive"
                      : "no node of run " + std::to_string(*run) + " has " + std::string{verdict});
    return known_alone(*std::move(names));
  }

  std::vector<std::string> of_range(std::string_view term) {
    auto expanded = expand(term);
    if (expanded) return known_alone(*std::move(expanded));
    print_error(expanded.error().what);
    return {};
  }

  /// " (a range is written d[01-04])" for "d01-d04" where both are nodes; else empty.
  std::string as_range(std::string_view name) const {
    for (auto dash = name.find('-'); dash != name.npos; dash = name.find('-', dash + 1)) {
      const auto from = name.substr(0, dash), to = name.substr(dash + 1);
      const auto stem = from.substr(0, from.find_last_not_of("0123456789") + 1);
      const bool numbers = stem.size() < from.size() && stem.size() < to.size();
      if (!numbers || !to.starts_with(stem) || !known_.contains(from) || !known_.contains(to))
        continue;
      return " (a range is written " + std::string{stem} + "[" +
             std::string{from.substr(stem.size())} + "-" + std::string{to.substr(stem.size())} +
             "])";
    }
    return {};
  }

  /// These names; complains of those that no node has.
  std::vector<std::string> known_alone(std::vector<std::string> names) {
    std::size_t wrong = 0;
    for (const auto& name : names) {
      if (known_.contains(name) || ++wrong > kMostComplaints) continue;
      const auto all = where([](const Node&) { return true; });
      const auto range = as_range(name);
      print_error("there is no node '" + name + "'" +
                  (range.empty() ? did_you_mean(name, std::span{all}) : range));
    }
    if (wrong > kMostComplaints)
      print_error("nor are there " + std::to_string(wrong - kMostComplaints) + " more of them");
    return names;
  }

  const Inventory& inventory_;
  const NodesOfRun& of_run_;
  bool sees_all_;
  std::vector<const Node*> there_{};
  std::unordered_set<std::string_view> known_{};  // their names
  std::string complaints_{};
};

}  // namespace

Result<std::vector<const Node*>> select(const Inventory& inventory, std::string_view text,
                                        const RackScope& visible, const NodesOfRun& of_run) {
  Terms terms{inventory, visible, of_run};
  std::unordered_set<std::string> chosen;
  bool first = true;
  for (auto term : terms_of(text)) {
    const bool takes_away = term.starts_with('!');
    if (takes_away) term.remove_prefix(1);
    // "!a01-n03" alone means all but that one.
    if (takes_away && first)
      for (const auto* node : terms.there()) chosen.insert(node->name);
    first = false;
    for (auto& name : terms.names_of(term)) {
      if (takes_away)
        chosen.erase(name);
      else
        chosen.insert(std::move(name));
    }
  }
  if (!terms.complaints().empty())
    return Error{Code::kInvalid, "nodes '" + std::string{text} + "': " + terms.complaints()};
  std::vector<const Node*> nodes;
  for (const auto* node : terms.there())
    if (chosen.contains(node->name)) nodes.push_back(node);
  if (nodes.empty())
    return Error{Code::kInvalid, "nodes '" + std::string{text} + "': none are left"};
  return nodes;
}

}  // namespace cupel::inventory
