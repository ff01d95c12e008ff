#include "playbooks/playbook.h"

#include <filesystem>

#include "base/file.h"
#include "inventory/shipped.h"
#include "inventory/yaml.h"

namespace cupel::playbooks {
namespace {

using inventory::did_you_mean;
using inventory::Problem;
using inventory::YamlFields;
using inventory::YamlValue;

constexpr std::size_t kFileLimit = 1u << 20;
constexpr std::size_t kMostSteps = 1000;

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  for (const auto& row : step_kinds()) names.push_back(row.name);
  return names;
}

std::vector<std::string_view> stage_names() {
  std::vector<std::string_view> names;
  for (const auto& stage : burnin::stages()) names.push_back(stage.name);
  return names;
}

void read_kind(YamlFields& fields, PlaybookStep& step) {
  const auto plain = fields.text("step");
  const auto stage = fields.text("stage");
  if (plain.has_value() == stage.has_value()) {
    fields.report(fields.place(), "a step needs exactly one of step: KIND and stage: NAME");
    return;
  }
  step.name = plain ? *plain : *stage;
  step.kind = StepKind::stage;
  if (stage && burnin::stage(*stage) == nullptr) {
    const auto known = stage_names();
    fields.report(fields.place("stage"),
                  "there is no stage '" + *stage + "'" + did_you_mean(*stage, std::span{known}));
  }
  if (!plain) return;
  const auto* row = step_kind(*plain);
  if (row != nullptr) {
    step.kind = row->kind;
    return;
  }
  const auto known = kind_names();
  const bool is_stage = burnin::stage(*plain) != nullptr;
  fields.report(fields.place("step"),
                "there is no step '" + *plain + "'" +
                    (is_stage ? " (it is a stage: write stage: " + *plain + ")"
                              : did_you_mean(*plain, std::span{known})));
}

std::vector<std::string_view> parameters_of(const PlaybookStep& step) {
  auto rows = row_of(step.kind).parameters;
  if (const auto* stage = burnin::stage(step.name)) rows = stage->parameters;
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

void read_with(YamlFields& fields, PlaybookStep& step, const std::string& file,
               std::vector<Problem>& problems) {
  const auto* with = fields.value("with");
  if (with == nullptr) return;
  if (with->kind != YamlValue::Kind::map) {
    fields.report(fields.place("with"), "with must be a map of parameters");
    return;
  }
  const auto known = parameters_of(step);
  for (const auto& entry : with->items) {
    if (std::ranges::find(known, entry.key) == known.end())
      problems.push_back({{file, entry.key_line, entry.key_column},
                          "'" + step.name + "' has no parameter '" + entry.key + "'" +
                              did_you_mean(entry.key, std::span{known})});
    else if (entry.kind != YamlValue::Kind::scalar)
      problems.push_back({{file, entry.line, entry.column}, entry.key + " must be a single value"});
    else
      step.with.emplace(entry.key, entry.text);
  }
}

PlaybookStep read_step(const YamlValue& item, const std::string& file,
                       std::vector<Problem>& problems) {
  YamlFields fields{item, "step", file, problems};
  PlaybookStep step;
  step.where = fields.place();
  read_kind(fields, step);
  read_with(fields, step, file, problems);
  step.deadline = fields.duration("deadline");
  if (const auto tries = fields.integer("tries", 1, 100)) step.tries = static_cast<int>(*tries);
  if (const auto word = fields.text("on_failure")) {
    constexpr std::array<std::string_view, 2> kWords{"stop", "continue"};
    if (*word != "stop" && *word != "continue")
      fields.report(fields.place("on_failure"), "on_failure must be stop or continue, not '" +
                                                    *word + "'" +
                                                    did_you_mean(*word, std::span{kWords}));
    step.on_failure = *word == "continue" ? OnFailure::go_on : OnFailure::stop;
  }
  fields.finish();
  return step;
}

/// What must stand before what: nothing is handed over that was not judged, nothing is judged
/// twice.
void check_order(const Playbook& playbook, std::vector<Problem>& problems) {
  std::set<std::string> seen;
  for (const auto& step : playbook.steps) {
    if (!seen.insert(step.name).second)
      problems.push_back({step.where, "'" + step.name + "' stands twice in the playbook"});
    if (step.kind == StepKind::hand_off && !seen.contains("verdict"))
      problems.push_back({step.where,
                          "hand-off must come after verdict: nothing is handed over "
                          "that was not judged"});
    const bool judged = seen.contains("verdict") && step.kind != StepKind::verdict;
    if (judged && step.kind != StepKind::hand_off && step.kind != StepKind::power_off)
      problems.push_back({step.where, "'" + step.name + "' after verdict would not be judged"});
  }
}

}  // namespace

std::optional<Playbook> parse_playbook(std::string_view text, const std::string& file,
                                       std::vector<Problem>& problems) {
  const auto before = problems.size();
  const auto document = inventory::parse_yaml(text, file, problems);
  if (!document) return std::nullopt;
  Playbook playbook;
  playbook.file = file;
  playbook.text = text;
  YamlFields fields{document->root, "playbook", playbook.file, problems};
  playbook.name = fields.required("playbook");
  playbook.description = fields.text("description").value_or("");
  playbook.nodes_at_once =
      static_cast<int>(fields.integer("nodes_at_once", 1, 10'000).value_or(64));
  const auto steps = fields.list("steps");
  if (steps.empty()) fields.report(fields.place("steps"), "playbook needs steps");
  if (steps.size() > kMostSteps) {
    fields.report(fields.place("steps"), "more than 1000 steps");
    return std::nullopt;
  }
  for (const auto& item : steps) playbook.steps.push_back(read_step(item, playbook.file, problems));
  fields.finish();
  if (problems.size() == before) check_order(playbook, problems);
  if (problems.size() > before) return std::nullopt;
  return playbook;
}

std::optional<Playbook> load_playbook(const std::string& name, std::vector<Problem>& problems) {
  auto text = read_file(name, kFileLimit);
  if (text) return parse_playbook(text.assume_value(), name, problems);
  const auto stem = std::filesystem::path{name}.stem().string();
  const auto folder = std::filesystem::path{name}.parent_path();
  const bool may_be_shipped = folder.empty() || folder == "playbooks";
  const auto* shipped =
      may_be_shipped ? inventory::shipped_file("playbooks/" + stem + ".yaml") : nullptr;
  if (shipped != nullptr)
    return parse_playbook(shipped->text, std::string{shipped->path}, problems);
  std::vector<std::string> known;
  for (const auto& file : inventory::shipped_files())
    if (file.path.starts_with("playbooks/"))
      known.push_back(std::filesystem::path{file.path}.stem().string());
  problems.push_back(
      {{name, 0, 0}, text.assume_error().what + did_you_mean(stem, std::span{known})});
  return std::nullopt;
}

}  // namespace cupel::playbooks
