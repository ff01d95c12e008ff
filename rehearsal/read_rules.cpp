#include "rehearsal/read_rules.h"

#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/scenario.h"

namespace cupel::rehearsal {
namespace {

using inventory::YamlFields;
using inventory::YamlValue;
using Problems = std::vector<inventory::Problem>;
using std::chrono::milliseconds;

/// What one kind of rule says besides whom it is about.
struct Row {
  std::string_view name;
  Does does;
  std::string_view needs;  // one key; empty: none
  std::vector<std::string_view> takes{};
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all{
      {"latency", Does::latency, "late", {}},
      {"merge", Does::merge, "merge", {"headers"}},
      {"replace", Does::replace, "body", {"headers", "status"}},
      {"status", Does::status, "status", {"body", "headers", "effect"}},
      {"drop", Does::drop, "", {"effect"}},
      {"truncate", Does::truncate, "bytes", {}},
      {"black-hole", Does::black_hole, "", {"effect"}},
  };
  return all;
}

class RuleReader {
 public:
  RuleReader(const YamlValue& item, const std::string& file, RackSpec& into, Problems& problems)
      : fields_{item, "rule", file, problems}, file_{file}, into_{into} {}

  void read() {
    std::vector<NodeSpec*> nodes;
    if (fields_.has("nodes")) {
      nodes = nodes_named(fields_, "nodes", into_);
    } else {
      for (auto& node : into_.nodes) nodes.push_back(&node);
    }
    const auto* row = named_row();
    // What else it may say depends on that: nothing is reported about the rest.
    if (row == nullptr) return;
    const auto rule = details(*row);
    fields_.finish();
    for (auto* node : nodes) give(*node, rule);
  }

 private:
  const Row* named_row() {
    const auto name = fields_.required("do");
    const auto row = std::ranges::find(rows(), name, &Row::name);
    if (row != rows().end()) return &*row;
    std::vector<std::string_view> names;
    for (const auto& each : rows()) names.push_back(each.name);
    if (!name.empty())
      fields_.report(fields_.place("do"), "no rule does '" + printable(name) + "'" +
                                              inventory::did_you_mean(name, std::span{names}));
    return nullptr;
  }

  bool takes(const Row& row, std::string_view key) {
    const bool needed = row.needs == key;
    if (needed && !fields_.has(key))
      fields_.report(fields_.place(), fmt::format("rule {} needs {}", row.name, key));
    const bool allowed = needed || std::ranges::find(row.takes, key) != row.takes.end();
    return allowed && fields_.has(key);
  }

  Rule details(const Row& row) {
    constexpr long kMostTimes = 1'000'000, kMostBytes = 1 << 20;
    Rule rule{.does = row.does, .times = 0};
    whom(rule);
    rule.note = fields_.text("note").value_or("");
    if (const auto times = fields_.integer("times", 1, kMostTimes))
      rule.times = static_cast<int>(*times);
    if (const auto skip = fields_.integer("skip", 0, kMostTimes))
      rule.skip = static_cast<int>(*skip);
    (void)takes(row, "late");
    rule.late = span("late");
    rule.jitter = span("jitter");
    if (takes(row, "status"))
      rule.status = static_cast<int>(fields_.integer("status", 200, 599).value_or(503));
    if (takes(row, "bytes"))
      rule.bytes = static_cast<std::size_t>(fields_.integer("bytes", 0, kMostBytes).value_or(0));
    if (takes(row, "body")) rule.body = body();
    if (takes(row, "merge")) rule.merge = merged();
    if (takes(row, "headers")) read_headers(rule);
    if (takes(row, "effect")) rule.effect = fields_.flag("effect").value_or(false);
    return rule;
  }

  void whom(Rule& rule) {
    rule.method = fields_.text("method").value_or("");
    constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (rule.method.find_first_not_of(kLetters) != std::string::npos)
      fields_.report(fields_.place("method"), "method must be one such as GET or PATCH");
    rule.path = fields_.text("path").value_or("");
    rule.odata_id = fields_.text("odata_id").value_or("");
    if (rule.path.empty() == rule.odata_id.empty())
      fields_.report(fields_.place(), "rule needs path or odata_id, one of them");
    for (const auto* key : {"path", "odata_id"}) {
      const auto& value = std::string_view{key} == "path" ? rule.path : rule.odata_id;
      if (!value.empty() && value[0] != '/' && value[0] != '*')
        fields_.report(fields_.place(key), fmt::format("{} must begin with / or *", key));
    }
  }

  /// "200ms", or as every other duration.
  milliseconds span(std::string_view key) {
    constexpr milliseconds kMost{3'600'000};
    const auto* value = fields_.value(key);
    if (value == nullptr) return milliseconds{0};
    std::optional<milliseconds> found;
    if (value->text.ends_with("ms")) {
      const auto count = number<unsigned>(value->text.substr(0, value->text.size() - 2));
      if (count) found = milliseconds{*count};
    } else if (const auto seconds = inventory::duration_of(value->text)) {
      found = *seconds;
    }
    if (!found || *found > kMost)
      fields_.report(fields_.place(key),
                     fmt::format("{} must be a duration such as 200ms, 5s or 2m, at most an hour, "
                                 "not '{}'",
                                 key, printable(value->text)));
    return found.value_or(milliseconds{0});
  }

  /// A text goes out as it stands; anything else as JSON.
  std::string body() {
    const auto* value = fields_.value("body");
    return value->kind == YamlValue::Kind::scalar ? value->text : json::serialize(json_of(*value));
  }

  json::object merged() {
    const auto value = json_of(*fields_.value("merge"));
    if (value.is_object()) return value.as_object();
    fields_.report(fields_.place("merge"), "merge must be a map: what is merged into the answer");
    return {};
  }

  void read_headers(Rule& rule) {
    const auto& value = *fields_.value("headers");
    if (value.kind != YamlValue::Kind::map)
      return fields_.report(fields_.place("headers"), "headers must be a map of texts");
    for (const auto& item : value.items) {
      // RFC 9110, 5.5: nothing in it that could begin another header.
      const bool plain = std::ranges::all_of(item.key + item.text, [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
      });
      if (item.kind != YamlValue::Kind::scalar || !plain)
        fields_.report({file_, item.key_line, item.key_column},
                       "a header must be one line of text");
      else
        rule.headers[item.key] = item.text;
    }
  }

  void give(NodeSpec& node, const Rule& rule) {
    if (node.rules.size() < RuleSet::kMost) return node.rules.push_back(rule);
    fields_.report(fields_.place(),
                   fmt::format("node '{}' has more than {} rules", node.name, RuleSet::kMost));
  }

  YamlFields fields_;
  const std::string& file_;
  RackSpec& into_;
};

}  // namespace

json::value json_of(const YamlValue& value) {
  switch (value.kind) {
    case YamlValue::Kind::null:
      return nullptr;
    case YamlValue::Kind::list: {
      json::array items;
      for (const auto& item : value.items) items.push_back(json_of(item));
      return items;
    }
    case YamlValue::Kind::map: {
      json::object items;
      for (const auto& item : value.items) items[item.key] = json_of(item);
      return items;
    }
    case YamlValue::Kind::scalar:
      break;
  }
  // YAML 1.2, 10.2: the JSON schema's words; whatever is no JSON is a text.
  auto typed =
      value.quoted ? Result<json::value>{Error{Code::kMalformed, ""}} : parse_json(value.text);
  return typed ? *std::move(typed) : json::value(value.text);
}

void read_rules(std::span<const YamlValue> items, const std::string& file, RackSpec& into,
                Problems& problems) {
  for (const auto& item : items) RuleReader{item, file, into, problems}.read();
}

}  // namespace cupel::rehearsal
