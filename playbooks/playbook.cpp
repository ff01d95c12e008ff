#include "playbooks/playbook.h"

#include <fmt/format.h>

#include "base/text.h"
#include "playbooks/format.h"
#include "playbooks/order.h"
#include "playbooks/read_step.h"
#include "playbooks/roll_out.h"
#include "playbooks/texts.h"

namespace cupel::playbooks {
namespace {

using inventory::Place;
using inventory::Problem;
using inventory::YamlValue;

/// One file while its steps are read.
struct File {
  const Text& text;
  Arguments values;
  std::vector<Condition> when;  // of the includes that lead here
  std::size_t depth = 0;
  const File* including = nullptr;
};

/// Reads a playbook and all that it includes, into one list of steps.
class Reader {
 public:
  Reader(Library& library, Playbook& playbook, std::vector<Problem>& problems)
      : library_{library}, playbook_{playbook}, problems_{problems}, filler_{problems} {}

  void read(const Text& text, const Givens& given, std::vector<Condition> when,
            const File* including) {
    auto document = inventory::parse_yaml(text.text, text.file, problems_);
    complete_ = complete_ && document.has_value();
    if (!document) return;
    auto& root = document->root;
    auto parameters = read_parameters(root, text.file, given, problems_);
    File file{
        text, {}, std::move(when), including == nullptr ? 0 : including->depth + 1, including};
    for (const auto& each : parameters) file.values.emplace(each.name, each.value);
    std::set<std::string> used;
    filler_.fill(root, playbook_shape(), file.values, text.file, used);
    const bool fits = conforms(root, playbook_shape(), "playbook", text.file, problems_);
    if (fits) read_header(root, parameters, including == nullptr);
    if (fits && including == nullptr) read_deadline(root, text);
    complete_ = complete_ && fits;
    if (auto* steps = list_in(root, "steps"))
      for (auto& item : *steps) {
        if (playbook_.steps.size() > kMostSteps) return;
        read_item(item, file, used);
      }
    if (fits) check_used(root, text, used);
  }

  /// Whether every step could be read, and so nothing that is missed is only misspelled.
  bool complete() const { return complete_; }

 private:
  static std::vector<YamlValue>* list_in(YamlValue& root, std::string_view key) {
    if (root.kind != YamlValue::Kind::map) return nullptr;
    for (auto& item : root.items)
      if (item.key == key && item.kind == YamlValue::Kind::list) return &item.items;
    return nullptr;
  }

  /// An included file gives steps and limits; what else it says at its top is about runs of its
  /// own.
  void read_header(const YamlValue& root, std::vector<Parameter>& parameters, bool own) {
    if (const auto* limits = root.entry("limits"))
      for (const auto& each : limits->items)
        if (const auto count = number<int>(each.text))
          playbook_.limits.try_emplace(each.key, *count);
    if (!own) return;
    playbook_.parameters = std::move(parameters);
    playbook_.name = root.entry("playbook")->text;
    if (const auto* line = root.entry("description")) playbook_.description = line->text;
    const auto count = [&](std::string_view key, int fallback) {
      const auto* value = root.entry(key);
      return value == nullptr ? fallback : number<int>(value->text).value_or(fallback);
    };
    playbook_.nodes_at_once = count("max_parallel", playbook_.nodes_at_once);
    playbook_.priority = count("priority", playbook_.priority);
    if (const auto* canary = root.entry("canary"))
      for (const auto& each : canary->items)
        playbook_.canary.push_back(number<int>(each.text).value_or(1));
    const auto* one_per_rack = root.entry("one_per_rack");
    if (one_per_rack != nullptr && one_per_rack->text == "yes")
      playbook_.canary.push_back(kOnePerRack);
    if (one_per_rack != nullptr && one_per_rack->text == "images")
      playbook_.canary.push_back(kOneWrittenPerRack);
  }

  /// Empty is as good as none: a parameter's default.
  void read_deadline(const YamlValue& root, const Text& text) {
    const auto* written = root.entry("deadline");
    if (written == nullptr || written->text.empty() || written->text.contains("${")) return;
    deadline_ = inventory::duration_of(written->text);
    if (deadline_) return;
    complete_ = false;
    problems_.push_back({{text.file, written->line, written->column},
                         fmt::format("deadline must be a duration such as 90s, 15m or 72h, not "
                                     "'{}'",
                                     shortened(printable(written->text), 80))});
  }

  void read_item(YamlValue& item, const File& file, std::set<std::string>& used) {
    const bool includes = item.entry("include") != nullptr;
    const auto& shape = includes ? include_shape() : step_shape();
    filler_.fill(item, shape, file.values, file.text.file, used);
    if (includes) return include(item, file, used);
    auto steps = read_step(item, file.text.file, problems_);
    complete_ = complete_ && !steps.empty();
    for (auto& step : steps) {
      if (!condition_applies(step.when, file, used)) continue;
      if (!step.deadline) step.deadline = deadline_;
      step.when.insert(step.when.end(), file.when.begin(), file.when.end());
      playbook_.steps.push_back(std::move(step));
    }
    if (playbook_.steps.size() > kMostSteps)
      report(item, file, fmt::format("more than {} steps", kMostSteps));
  }

  void report(const YamlValue& at, const File& file, std::string what) {
    complete_ = false;
    problems_.push_back({{file.text.file, at.line, at.column}, std::move(what)});
  }

  /// "a.yaml, b.yaml and a.yaml again", where the text is one of those that lead here.
  static std::optional<std::string> circle(const Text& text, const File& file) {
    std::string way;
    for (const auto* at = &file; at != nullptr; at = at->including) {
      way = at->text.file + " > " + way;
      if (at->text.file == text.file && at->text.shipped == text.shipped) return way + text.file;
    }
    return std::nullopt;
  }

  void include(const YamlValue& item, const File& file, std::set<std::string>& used) {
    if (!conforms(item, include_shape(), "include", file.text.file, problems_)) {
      complete_ = false;
      return;
    }
    const auto& named = *item.entry("include");
    if (file.depth >= kDeepestInclude)
      return report(named, file, fmt::format("includes deeper than {} files", kDeepestInclude));
    if (++includes_ > kMostIncludes)
      return report(named, file, fmt::format("more than {} includes", kMostIncludes));
    auto found = library_.find(file.text, named.text);
    if (!found) return report(named, file, found.error().what);
    const auto text = *std::move(found);
    if (const auto way = circle(text, file))
      return report(named, file, fmt::format("includes itself: {}", *way));
    Givens given;
    if (const auto* with = item.entry("with"))
      for (const auto& each : with->items)
        given.emplace(each.key, Given{each.text, {file.text.file, each.key_line, each.key_column}});
    auto when = read_conditions(item, file.text.file, problems_);
    const bool is_step_due = condition_applies(when, file, used);
    when.insert(when.end(), file.when.begin(), file.when.end());
    const auto before = playbook_.steps.size();
    read(text, given, std::move(when), &file);
    // Read all the same: its mistakes are to be reported whatever the parameters are.
    if (!is_step_due) playbook_.steps.resize(std::min(before, playbook_.steps.size()));
  }

  /// What the conditions say about the file's own parameters.
  bool condition_applies(std::vector<Condition>& when, const File& file,
                         std::set<std::string>& used) {
    const Facts values{file.values.begin(), file.values.end()};
    std::vector<std::string> known;
    for (const auto& [name, value] : values) known.push_back(name);
    for (const auto& condition : when) {
      if (condition.about != Condition::About::parameter) continue;
      if (values.contains(condition.name))
        used.insert(condition.name);
      else
        problems_.push_back(
            {condition.where,
             fmt::format(
                 "there is no parameter '{}'{}", printable(condition.name),
                 inventory::did_you_mean(condition.name, std::span<const std::string>{known}))});
    }
    return settle(when, values);
  }

  /// A setting without effect would mislead its author.
  void check_used(const YamlValue& root, const Text& text, const std::set<std::string>& used) {
    const auto* table = root.entry("parameters");
    if (table == nullptr) return;
    for (const auto& item : table->items)
      if (!used.contains(item.key))
        problems_.push_back(
            {{text.file, item.key_line, item.key_column},
             fmt::format("parameter '{0}' is not used: ${{{0}}} may be a value in with, when, "
                         "deadline, stop_after, canary, limits and max_parallel",
                         printable(item.key))});
  }

  Library& library_;
  Playbook& playbook_;
  std::vector<Problem>& problems_;
  Filler filler_;
  std::optional<std::chrono::seconds> deadline_{};  // of steps that name none
  std::size_t includes_ = 0;
  bool complete_ = true;
};

std::optional<Playbook> read_bundle(Bundle bundle, Library::From from,
                                    std::vector<Problem>& problems) {
  std::vector<Problem> found;
  Playbook playbook;
  playbook.file = bundle.texts.front().file;
  Givens given;
  for (const auto& [name, value] : bundle.arguments)
    given.emplace(name, Given{value, {"--set " + printable(name), 0, 0}});
  const auto own = bundle.texts.front();
  Library library{bundle, from};
  Reader reader{library, playbook, found};
  reader.read(own, given, {}, nullptr);
  check_order(playbook, reader.complete(), found);
  const bool good = found.empty();
  if (!good)
    for (auto& problem : inventory::reported_once(std::move(found)))
      problems.push_back(std::move(problem));
  playbook.text = text_of(bundle);
  return good ? std::optional{std::move(playbook)} : std::nullopt;
}

}  // namespace

std::optional<Playbook> parse_playbook(std::string_view text, const std::string& file,
                                       std::vector<Problem>& problems, const Arguments& arguments) {
  auto bundle = bundle_of(text);
  const auto from = bundle ? Library::From::bundle : Library::From::shipped;
  if (!bundle) bundle.emplace(Bundle{{{file, false, std::string{text}}}, {}});
  for (const auto& [name, value] : arguments) bundle->arguments.insert_or_assign(name, value);
  return read_bundle(std::move(*bundle), from, problems);
}

std::optional<Playbook> load_playbook(const std::string& name, std::vector<Problem>& problems,
                                      const Arguments& arguments) {
  auto text = read_text(name);
  if (!text) {
    problems.push_back({{name, 0, 0}, text.error().what});
    return std::nullopt;
  }
  auto bundle = bundle_of(text->text);
  if (bundle) return parse_playbook(text->text, name, problems, arguments);
  return read_bundle({{*std::move(text)}, arguments}, Library::From::disk, problems);
}

}  // namespace cupel::playbooks
