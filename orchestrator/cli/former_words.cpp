#include "orchestrator/cli/former_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace cupel::cli {
namespace {

std::string warning(std::string_view former, std::string_view now) {
  return fmt::format("'{}' is called '{}' now; the former name goes with the next release", former,
                     now);
}

/// "--look-again=5m" as well as "--look-again".
void replace_option(std::string& word, std::vector<std::string>& warnings) {
  const auto name = word.substr(0, word.find('='));
  const auto row = std::ranges::find(kFormerOptions, name, &FormerOption::former);
  if (row == kFormerOptions.end()) return;
  warnings.push_back(warning(row->former, row->now));
  word.replace(0, name.size(), row->now);
}

}  // namespace

std::vector<std::string> replace_former_words(std::vector<std::string>& words,
                                              std::span<const std::string_view> with_values) {
  std::vector<std::string> warnings;
  std::string group;
  bool may_be_command = true, is_value = false;
  for (auto& word : words) {
    const bool value = std::exchange(is_value, false);
    if (word.starts_with('-')) {
      is_value = std::ranges::find(with_values, word) != with_values.end();
      replace_option(word, warnings);
      continue;
    }
    if (value || !may_be_command) continue;
    for (const auto& row : kFormerCommands) {
      if (row.group != group || row.former != word) continue;
      const auto prefix = group.empty() ? "cupel " : "cupel " + group + " ";
      warnings.push_back(warning(prefix + word, prefix + std::string{row.now}));
      word = row.now;
      break;
    }
    may_be_command =
        group.empty() &&
        std::ranges::find(kFormerCommands, word, &FormerCommand::group) != kFormerCommands.end();
    group = word;
  }
  return warnings;
}

}  // namespace cupel::cli
