#include "burnin/criteria/requalify_rules.h"

#include <fmt/format.h>

#include <array>

#include "base/enum_words.h"
#include "base/text.h"
#include "burnin/stage.h"
#include "inventory/parts.h"
#include "inventory/shipped.h"
#include "inventory/yaml.h"

namespace cupel::burnin {
namespace {

using inventory::Problem;
using inventory::YamlFields;

constexpr std::string_view kRequalifyFile = "burnin/criteria/requalify.yaml";
constexpr std::string_view kAnyChange = "any";

/// What a rule may be about besides kinds of parts.
constexpr std::array<std::string_view, 5> kOtherSubjects{"cable", "setting", "driver", "kernel",
                                                         "bios"};

bool is_known_subject(const std::string& word) {
  if (std::ranges::find(kOtherSubjects, word) != kOtherSubjects.end()) return true;
  return inventory::part_kind(word).has_value();
}

void read_stages(YamlFields& fields, std::string_view key, std::vector<std::string>& stages) {
  for (const auto& name : fields.texts(key)) {
    if (name.contains('@') || stage(name) == nullptr) {
      std::vector<std::string_view> known;
      for (const auto& each : burnin::stages()) known.push_back(each.name);
      fields.report(fields.place(key),
                    fmt::format("there is no stage '{}'{}", printable(name),
                                inventory::did_you_mean(name, std::span{known})));
      continue;
    }
    stages.push_back(name);
  }
}

void read_kinds(YamlFields& fields, RequalifyRule& rule) {
  for (const auto& word : fields.texts("change")) {
    if (word == kAnyChange) {
      for (const auto each : enum_words_of<ChangeKind, '-'>())
        rule.kinds.insert(*change_kind(each));
      continue;
    }
    if (const auto kind = change_kind(word))
      rule.kinds.insert(*kind);
    else
      fields.report(fields.place("change"),
                    fmt::format("there is no change '{}': replaced, moved, added, removed, "
                                "firmware, setting, cable or any",
                                printable(word)));
  }
  if (rule.kinds.empty()) fields.report(fields.place("change"), "a rule needs change:");
}

VersionName read_version(const inventory::YamlValue& value, const std::string& file,
                         std::vector<Problem>& problems) {
  YamlFields fields{value, "version", file, problems};
  VersionName version{.contains = lower_case(fields.required("contains")),
                      .of = fields.required("of")};
  if (!version.of.empty() && !is_known_subject(version.of))
    fields.report(fields.place("of"),
                  fmt::format("there is no kind of part '{}'", printable(version.of)));
  fields.finish();
  return version;
}

RequalifyRule read_rule(const inventory::YamlValue& value, const std::string& file,
                        std::vector<Problem>& problems) {
  YamlFields fields{value, "rule", file, problems};
  RequalifyRule rule{.of = fields.required("of"), .why = fields.required("why")};
  if (!rule.of.empty() && !is_known_subject(rule.of))
    fields.report(fields.place("of"),
                  fmt::format("there is no kind of part '{}'", printable(rule.of)));
  read_kinds(fields, rule);
  read_stages(fields, "stages", rule.stages);
  if (rule.stages.empty()) fields.report(fields.place("stages"), "a rule needs stages:");
  fields.finish();
  return rule;
}

}  // namespace

std::string_view to_string(ChangeKind kind) { return enum_word<'-'>(kind); }

std::optional<ChangeKind> change_kind(std::string_view word) {
  return enum_of<ChangeKind, '-'>(word);
}

std::string to_string(const Change& change) {
  auto text = fmt::format("{} {}", change.part,
                          change.kind == ChangeKind::firmware  ? "has another version"
                          : change.kind == ChangeKind::setting ? "is set otherwise"
                          : change.kind == ChangeKind::cable   ? "has another cable"
                                                               : to_string(change.kind));
  if (change.was.empty() && change.is.empty()) return text;
  if (change.was.empty()) return text + ": " + change.is;
  if (change.is.empty()) return text + ": was " + change.was;
  return fmt::format("{}: {} is now {}", text, change.was, change.is);
}

std::optional<RequalifyRules> parse_requalify_rules(std::string_view text, const std::string& file,
                                                    std::vector<Problem>& problems) {
  const auto before = problems.size();
  const auto document = inventory::parse_yaml(text, file, problems);
  if (!document) return std::nullopt;
  YamlFields fields{document->root, "file", file, problems};
  RequalifyRules rules;
  read_stages(fields, "always", rules.always);
  for (const auto& each : fields.list("versions"))
    rules.versions.push_back(read_version(each, file, problems));
  for (const auto& each : fields.list("rules"))
    rules.rules.push_back(read_rule(each, file, problems));
  fields.finish();
  return problems.size() == before ? std::optional{std::move(rules)} : std::nullopt;
}

std::string_view whole_node_stage(bool has_gpus) { return has_gpus ? "train" : "cpu-memory"; }

const RequalifyRules& requalify_rules() {
  static const auto kRules = [] {
    std::vector<Problem> problems;
    const auto* file = inventory::shipped_file(kRequalifyFile);
    auto rules = parse_requalify_rules(file == nullptr ? std::string_view{} : file->text,
                                       std::string{kRequalifyFile}, problems);
    if (!rules) throw std::logic_error{to_string(problems)};  // a shipped file, held by a test
    return *std::move(rules);
  }();
  return kRules;
}

std::string subject_of_version(const RequalifyRules& rules, std::string_view name) {
  const auto lower = lower_case(name);
  for (const auto& each : rules.versions)
    if (lower.contains(each.contains)) return each.of;
  return "firmware";
}

Voided voided_by(const RequalifyRules& rules, const Change& change) {
  Voided found;
  bool known = false;
  for (const auto& rule : rules.rules) {
    if (rule.of != change.of || !rule.kinds.contains(change.kind)) continue;
    known = true;
    found.stages.insert(rule.stages.begin(), rule.stages.end());
    if (!found.why.empty()) found.why += "; ";
    found.why += rule.why;
  }
  if (known) return found;
  return {.all = true, .why = "no rule says what this leaves untouched"};
}

}  // namespace cupel::burnin
