#include "rehearsal/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "rehearsal/bmc/message.h"

namespace cupel::rehearsal {
namespace {

std::string_view without_slash(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

/// A resource itself; a link to it has its id alone.
bool is_resource(const json::object& object, std::string_view odata_id) {
  const auto* id = object.if_contains("@odata.id");
  return id != nullptr && id->is_string() && object.size() > 1 &&
         without_slash(id->get_string()) == without_slash(odata_id);
}

/// Every place within `value` where that resource is shown. Answers are our own: they are as deep
/// as a resource is.
template <class Change>
void visit(json::value& value, std::string_view odata_id, const Change& change) {
  if (auto* list = value.if_array())
    for (auto& item : *list) visit(item, odata_id, change);
  auto* object = value.if_object();
  if (object == nullptr) return;
  for (auto& [key, item] : *object) visit(item, odata_id, change);
  if (is_resource(*object, odata_id)) change(value);
}

}  // namespace

bool RuleSet::is_spent(const Active& active) {
  return active.rule.times > 0 && active.met >= active.rule.skip + active.rule.times;
}

/// Of one resource, wherever it is shown.
bool RuleSet::is_inside(const Active& active) {
  const auto& rule = active.rule;
  const bool changes = rule.does == Does::merge || rule.does == Does::replace;
  return changes && !rule.odata_id.empty() && !is_spent(active);
}

bool RuleSet::looks_inside() const { return std::ranges::any_of(rules_, is_inside); }

bool RuleSet::add(Rule rule) {
  std::erase_if(rules_, is_spent);
  if (rules_.size() >= kMost) return false;
  rules_.push_back({.rule = std::move(rule), .number = added_++});
  return true;
}

bool RuleSet::asks_for(const Rule& rule, std::string_view method, std::string_view path) {
  if (!rule.method.empty() && rule.method != method) return false;
  if (!rule.odata_id.empty()) return without_slash(rule.odata_id) == path;
  return rule.path.empty() || is_like(path, rule.path);
}

/// One more that fits. False where it is not this rule's turn.
bool RuleSet::takes(Active& active) {
  if (is_spent(active)) return false;
  const bool turn = active.met++ >= active.rule.skip;
  if (turn) ++used_;
  return turn;
}

std::chrono::milliseconds RuleSet::draw(const Active& active) const {
  const auto& rule = active.rule;
  if (rule.jitter.count() <= 0) return rule.late;
  constexpr std::size_t kDigits = 13;  // 52 bits
  const auto digest = sha256_hex(fmt::format("{}/{}/{}", seed_, active.number, active.met));
  const auto bits = std::stoull(digest.substr(0, kDigits), nullptr, 16);
  const double share = static_cast<double>(bits) / static_cast<double>(1ull << (4 * kDigits));
  return rule.late + std::chrono::milliseconds{
                         static_cast<long>(share * static_cast<double>(rule.jitter.count() + 1))};
}

RuleSet::Met RuleSet::meet(std::string_view method, std::string_view path) {
  Met met;
  for (auto& active : rules_) {
    const bool latency = active.rule.does == Does::latency;
    if (!latency && met.rule != nullptr) continue;
    if (!asks_for(active.rule, method, path) || !takes(active)) continue;
    met.late += draw(active);
    if (!latency) met.rule = &active.rule;
  }
  return met;
}

bool RuleSet::change_inside(std::string_view method, std::string_view path, json::value& body) {
  bool changed = false;
  for (auto& active : rules_) {
    const auto& rule = active.rule;
    if (!is_inside(active) || asks_for(rule, method, path)) continue;
    if (!rule.method.empty() && rule.method != method) continue;
    bool counted = false, taken = false;
    visit(body, rule.odata_id, [&](json::value& shown) {
      if (!std::exchange(counted, true)) taken = takes(active);
      if (!taken) return;
      auto other = rule.does == Does::replace ? parse_json(rule.body.value_or(""))
                                              : Result<json::value>{json::value(rule.merge)};
      if (!other) return;
      if (rule.does == Does::replace)
        shown = *std::move(other);
      else
        merge(shown, *other);
      changed = true;
    });
  }
  return changed;
}

}  // namespace cupel::rehearsal
