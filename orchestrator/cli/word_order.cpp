#include "orchestrator/cli/word_order.h"

#include <algorithm>
#include <set>
#include <utility>

namespace cupel::cli {
namespace {

using Names = std::set<std::string, std::less<>>;

const OptionRow* first_argument(const CommandRow& command) {
  const auto row = std::ranges::find_if(command.options, is_argument);
  return row == command.options.end() ? nullptr : &*row;
}

bool begins_with_nodes(const CommandRow& command) {
  const auto* argument = first_argument(command);
  return argument != nullptr && (argument->names == "NODES" || argument->names == "NODE");
}

const CommandRow* part_of(const CommandRow& command, std::string_view name) {
  const auto row = std::ranges::find(command.subcommands, name, &CommandRow::name);
  return row == command.subcommands.end() ? nullptr : &*row;
}

/// "--inventory" and "-i": what stands behind them is their value.
void add_options_with_values(const CommandRow& command, bool deep, Names& into) {
  for (const auto& option : command.options) {
    if (is_argument(option) || !takes_value(option)) continue;
    if (!long_name(option).empty()) into.insert("--" + std::string{long_name(option)});
    if (!short_name(option).empty()) into.insert("-" + std::string{short_name(option)});
  }
  if (!deep) return;
  for (const auto& each : command.subcommands) add_options_with_values(each, true, into);
}

/// Where the words stand that are neither options nor their values.
std::vector<std::size_t> plain_words(const std::vector<std::string>& words, const Names& options) {
  std::vector<std::size_t> plain;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at].starts_with('-'))
      at += options.contains(words[at]) ? 1 : 0;
    else
      plain.push_back(at);
  }
  return plain;
}

void move_word(std::vector<std::string>& words, std::size_t from, std::size_t to) {
  const auto begin = words.begin();
  const auto at = [begin](std::size_t place) { return begin + static_cast<std::ptrdiff_t>(place); };
  if (from < to)
    std::rotate(at(from), at(from + 1), at(to + 1));
  else
    std::rotate(at(to), at(from), at(from + 1));
}

/// No name of a node: of "bios set NAME=VALUE", of "boot http URL".
bool is_value(std::string_view word) { return word.contains('=') || word.contains("://"); }

/// "power all on", "bios set all NAME=VALUE": the place of the nodes behind the verb; 0: nowhere.
std::size_t nodes_behind(const CommandRow& verb, const std::vector<std::string>& words,
                         const std::vector<std::size_t>& plain) {
  const auto* argument = first_argument(verb);
  const bool has_word =
      argument != nullptr &&
      std::ranges::find(argument->rules.among, words[plain[2]]) != argument->rules.among.end();
  const std::size_t place = has_word ? 3 : 2;
  return place < plain.size() && !is_value(words[plain[place]]) ? plain[place] : 0;
}

}  // namespace

bool is_verb_of_nodes(const CommandRow& command, const CommandRow& verb) {
  const auto* argument = first_argument(verb);
  const bool is_free = argument != nullptr && argument->rules.among.empty();
  return begins_with_nodes(command) && verb.subcommands.empty() && !is_free;
}

std::vector<std::string> in_order(const CommandRow& program, std::vector<std::string> words) {
  Names options;
  add_options_with_values(program, false, options);
  auto plain = plain_words(words, options);
  const auto* command = plain.empty() ? nullptr : part_of(program, words[plain[0]]);
  if (command == nullptr) return words;
  add_options_with_values(*command, true, options);
  plain = plain_words(words, options);
  if (plain.size() < 3) return words;
  const auto* first = part_of(*command, words[plain[1]]);
  const auto* second = part_of(*command, words[plain[2]]);
  if (first != nullptr && is_verb_of_nodes(*command, *first)) {
    const auto nodes = nodes_behind(*first, words, plain);
    if (nodes != 0) move_word(words, nodes, plain[1]);
  } else if (first == nullptr && second != nullptr && begins_with_nodes(*second)) {
    move_word(words, plain[1], plain[2]);
  }
  return words;
}

}  // namespace cupel::cli
