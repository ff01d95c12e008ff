#include "orchestrator/report/clusters.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <cmath>
#include <set>

#include "base/text.h"

namespace cupel::report {
namespace {

constexpr std::size_t kMostQuestions = 4096;  // about one group
constexpr std::size_t kLongestCause = 100;    // bytes
constexpr std::size_t kLongestText = 400;     // bytes
/// Traits that say more together than alone: the same firmware on another model is another one.
constexpr std::pair<std::string_view, std::string_view> kTogether[] = {{"model", "bmc"},
                                                                       {"model", "bios"}};

using Nodes = std::vector<bool>;  // by index among those that ended the step

/// One question: those with these traits against all others.
struct Question {
  Traits traits;
  Nodes with;
};

struct Ended {
  std::vector<std::string> names{};
  std::vector<const Traits*> traits{};
};

std::size_t count(const Nodes& nodes) {
  return static_cast<std::size_t>(std::ranges::count(nodes, true));
}

std::size_t count_both(const Nodes& a, const Nodes& b) {
  std::size_t both = 0;
  for (std::size_t i = 0; i < a.size(); ++i) both += a[i] && b[i] ? 1 : 0;
  return both;
}

/// Who has which value of which trait, and some of them two by two; by the values' names.
std::map<std::string, Question> all_questions(const Ended& ended) {
  std::map<std::string, Question> all;
  const auto add = [&](std::size_t node, const Traits& traits) {
    std::string name;
    for (const auto& [trait, value] : traits) name += trait + '\0' + value + '\0';
    if (all.size() >= kMostQuestions && !all.contains(name)) return;
    const auto [at, is_new] = all.try_emplace(name);
    if (is_new) at->second = {traits, Nodes(ended.names.size())};
    at->second.with[node] = true;
  };
  for (std::size_t node = 0; node < ended.names.size(); ++node) {
    const auto& traits = *ended.traits[node];
    for (const auto& trait : traits)
      if (!trait.second.empty()) add(node, Traits{trait});
    for (const auto& [one, other] : kTogether) {
      const auto a = traits.find(one), b = traits.find(other);
      const bool both = a != traits.end() && b != traits.end();
      if (both && !a->second.empty() && !b->second.empty()) add(node, Traits{*a, *b});
    }
  }
  return all;
}

/// Those worth asking: enough nodes with it to tell anything, and some without it. Whether a
/// question is worth asking must not depend on who failed: that would be asking twice.
std::vector<Question> questions_about(const Ended& ended, const ClusterRules& rules) {
  std::vector<Question> questions;
  std::map<Nodes, std::size_t> known;
  for (auto& [name, question] : all_questions(ended)) {
    auto& [traits, with] = question;
    const auto all = count(with);
    if (all < rules.least_failed || all == with.size()) continue;
    const auto [at, is_new] = known.try_emplace(with, questions.size());
    if (is_new) questions.push_back({traits, std::move(with)});
    // The same nodes: one question with all that they have in common.
    else
      questions[at->second].traits.insert(traits.begin(), traits.end());
  }
  return questions;
}

/// A cluster whose nodes are all in a more surprising one, or the other way round, adds nothing.
bool tells_the_same(const Nodes& a, const Nodes& b) {
  const auto both = count_both(a, b);
  return both == count(a) || both == count(b);
}

std::vector<Cluster> clusters_of(const std::vector<Question>& questions, const Nodes& failed,
                                 double limit, const ClusterRules& rules) {
  struct Found {
    Cluster cluster;
    const Question* question;
  };
  std::vector<Found> found;
  const auto all_failed = count(failed);
  for (const auto& question : questions) {
    const auto both = count_both(question.with, failed);
    if (both < rules.least_failed) continue;
    const auto all = count(question.with);
    Cluster cluster{question.traits, {both, all}, {all_failed - both, failed.size() - all}};
    cluster.chance = fisher_exact(cluster.with, cluster.others);
    if (cluster.chance <= limit) found.push_back({std::move(cluster), &question});
  }
  std::ranges::stable_sort(found, {}, [](const Found& each) { return each.cluster.chance; });
  std::vector<Cluster> clusters;
  std::vector<const Question*> kept;
  for (auto& each : found) {
    const bool known = std::ranges::any_of(kept, [&](const Question* better) {
      return tells_the_same(better->with, each.question->with);
    });
    if (known) continue;
    kept.push_back(each.question);
    clusters.push_back(std::move(each.cluster));
  }
  return clusters;
}

double log_choose(std::size_t n, std::size_t k) {
  const auto gamma = [](std::size_t of) { return std::lgamma(static_cast<double>(of) + 1); };
  return gamma(n) - gamma(k) - gamma(n - k);
}

/// Those that failed a step alike.
struct Alike {
  std::string text{};  // of the first of them
  std::set<std::size_t> nodes{};
};

/// All that ended one step, and who failed how.
struct Step {
  std::string name;
  Ended ended{};
  std::map<std::string, Alike> causes{};
};

std::vector<Step> steps_of(std::span<const Trial> trials,
                           const std::map<std::string, Traits, std::less<>>& traits) {
  static const Traits kNone;
  std::vector<Step> steps;
  std::map<std::string_view, std::size_t> by_name;
  for (const auto& trial : trials) {
    const auto [at, is_new] = by_name.try_emplace(trial.step, steps.size());
    if (is_new) steps.push_back({.name = trial.step});
    auto& step = steps[at->second];
    const auto index = step.ended.names.size();
    const auto known = traits.find(trial.node);
    step.ended.names.push_back(trial.node);
    step.ended.traits.push_back(known == traits.end() ? &kNone : &known->second);
    for (const auto& [cause, text] : trial.causes) {
      auto& alike = step.causes[cause];
      if (alike.nodes.empty()) alike.text = text.empty() ? cause : text;
      alike.nodes.insert(index);
    }
  }
  return steps;
}

}  // namespace

double fisher_exact(const Share& with, const Share& others) {
  const auto all = with.all + others.all, failed = with.failed + others.failed;
  const auto whole = log_choose(all, failed);
  double chance = 0;
  for (auto k = with.failed; k <= std::min(with.all, failed); ++k) {
    if (failed - k > others.all) continue;
    chance += std::exp(log_choose(with.all, k) + log_choose(others.all, failed - k) - whole);
  }
  return std::min(chance, 1.0);
}

std::vector<FailureGroup> group_failures(std::span<const Trial> trials,
                                         const std::map<std::string, Traits, std::less<>>& traits,
                                         const ClusterRules& rules) {
  const auto steps = steps_of(trials, traits);
  std::vector<std::vector<Question>> questions;
  std::size_t asked = 0;
  for (const auto& step : steps) {
    questions.push_back(step.causes.empty() ? std::vector<Question>{}
                                            : questions_about(step.ended, rules));
    asked += questions.back().size() * step.causes.size();
  }
  const double limit = rules.false_alarms / static_cast<double>(std::max<std::size_t>(asked, 1));
  std::vector<FailureGroup> groups;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const auto& [cause, alike] : steps[i].causes) {
      FailureGroup group{steps[i].name, cause, alike.text, {}, steps[i].ended.names.size(), {}};
      Nodes failed(steps[i].ended.names.size());
      for (const auto index : alike.nodes) {
        failed[index] = true;
        group.nodes.push_back(steps[i].ended.names[index]);
      }
      group.clusters = clusters_of(questions[i], failed, limit, rules);
      groups.push_back(std::move(group));
    }
  }
  std::ranges::stable_sort(groups, std::greater{},
                           [](const FailureGroup& group) { return group.nodes.size(); });
  return groups;
}

std::string cause_of(std::string_view detail, std::string_view node) {
  constexpr std::string_view kNode = "NODE";
  std::string text = printable(detail);
  // Behind what was put in: a node may be named "D".
  for (auto at = text.find(node); !node.empty() && at != text.npos;
       at = text.find(node, at + kNode.size()))
    text.replace(at, node.size(), kNode);
  std::string cause;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && cause.ends_with('#')) continue;
    cause += digit ? '#' : c;
    if (cause.size() >= kLongestCause) break;
  }
  return cause;
}

std::string words_of_cause(std::string_view detail, std::string_view node) {
  const auto safe = printable(detail);
  std::string_view text = safe;
  if (!node.empty() && text.starts_with(node) && text.substr(node.size()).starts_with(": "))
    text.remove_prefix(node.size() + 2);
  return shortened_at_word(text, kLongestText);
}

std::string to_text(const FailureGroup& group, const Cluster& cluster) {
  std::string traits;
  for (const auto& [name, value] : cluster.traits)
    traits += fmt::format("{}{} {}", traits.empty() ? "" : ", ", name, printable(value));
  return fmt::format("{} of {} with {} fail at {}; {} of {} others do", cluster.with.failed,
                     cluster.with.all, traits, group.step, cluster.others.failed,
                     cluster.others.all);
}

std::string to_text(const FailureGroup& group) {
  const auto whole = fmt::format("{}: {} of {} nodes", group.step, group.nodes.size(), group.ended);
  if (group.text.empty() || group.nodes.empty()) return whole + ": failed";
  return fmt::format("{}, for example {}: {}", whole, group.nodes.front(), group.text);
}

boost::json::array to_json(std::span<const FailureGroup> groups) {
  boost::json::array all;
  for (const auto& group : groups) {
    boost::json::array clusters;
    for (const auto& each : group.clusters) {
      boost::json::object traits;
      for (const auto& [name, value] : each.traits) traits[name] = value;
      clusters.push_back({{"traits", std::move(traits)},
                          {"failed", each.with.failed},
                          {"of", each.with.all},
                          {"others_failed", each.others.failed},
                          {"others", each.others.all},
                          {"chance", each.chance},
                          {"text", to_text(group, each)}});
    }
    boost::json::array nodes;
    for (const auto& node : group.nodes) nodes.emplace_back(node);
    all.push_back({{"step", group.step},
                   {"cause", group.cause},
                   {"text", group.text},
                   {"nodes", std::move(nodes)},
                   {"ended", group.ended},
                   {"clusters", std::move(clusters)}});
  }
  return all;
}

}  // namespace cupel::report
