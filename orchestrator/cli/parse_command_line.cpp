// The one file that includes CLI11, which takes four seconds of each file that does.
#include "orchestrator/cli/parse_command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/terminal.h"
#include "orchestrator/cli/word_order.h"

namespace cupel::cli {
namespace {

CLI::Option* add_option(CLI::App& app, const OptionRow& row) {
  const auto add = [&]<class Place>(const Place& place) {
    std::string names{row.names}, help{row.help};
    if constexpr (std::is_same_v<Place, bool*>)
      return app.add_flag(names, *place, help);
    else if constexpr (std::is_same_v<Place, std::function<void()>>)
      return app.add_flag_callback(names, place, help);
    else if constexpr (std::is_same_v<Place, std::function<void(const std::string&)>>)
      return app.add_option_function<std::string>(names, place, help);
    else
      return app.add_option(names, *place, help);
  };
  return std::visit(add, row.place);
}

CLI::Range range_of(const OptionRow& row) {
  const auto [least, most] = *row.rules.range;
  if (std::holds_alternative<std::optional<double>*>(row.place)) return {least, most};
  return {static_cast<int>(least), static_cast<int>(most)};
}

void apply_rules(CLI::Option& option, const OptionRow& row) {
  const auto& rules = row.rules;
  if (rules.required) option.required();
  if (rules.repeatable) option.take_all()->allow_extra_args(false);
  if (rules.up_to > 0) option.expected(0, rules.up_to);
  if (rules.separator != '\0') option.delimiter(rules.separator);
  if (!rules.among.empty())
    option.check(CLI::IsMember(std::vector<std::string>{rules.among.begin(), rules.among.end()}));
  if (rules.range) option.check(range_of(row));
  if (rules.existing == Existing::file) option.check(CLI::ExistingFile);
  if (rules.existing == Existing::folder) option.check(CLI::ExistingDirectory);
  if (rules.check) option.check(rules.check);
  if (!rules.placeholder.empty()) option.type_name(std::string{rules.placeholder});
  if (rules.given != nullptr)
    option.each([given = rules.given](const std::string&) { *given = true; });
}

void add_options(CLI::App& app, const CommandRow& command) {
  std::map<std::string_view, CLI::Option_group*> groups;
  std::vector<CLI::Option*> added;
  for (const auto& row : command.options) {
    const auto name = row.rules.only_one_of;
    auto* home = &app;
    if (!name.empty()) {
      auto& group = groups[name];
      if (group == nullptr) group = app.add_option_group(std::string{name});
      group->require_option(0, 1);
      home = group;
    }
    added.push_back(add_option(*home, row));
    apply_rules(*added.back(), row);
  }
  // Once all are there: an option may name a later one.
  for (std::size_t at = 0; at < added.size(); ++at) {
    const auto& rules = command.options[at].rules;
    for (const auto name : rules.excludes) added[at]->excludes(app.get_option(std::string{name}));
    for (const auto name : rules.needs) added[at]->needs(app.get_option(std::string{name}));
  }
}

/// The commands of `command` too; the one that is parsed is put into `chosen`. A command that is
/// none of the `words` can only be listed: it gets no options, which would cost each start more
/// than all else that it does before its command runs.
void add_command(CLI::App& app, const CommandRow& command, const std::vector<std::string>& words,
                 const CommandRow*& chosen) {
  if (!command.footer.empty()) app.footer(std::string{command.footer});
  if (!command.version.empty()) app.set_version_flag("--version", std::string{command.version});
  if (!command.subcommands.empty()) app.require_subcommand(1);
  add_options(app, command);
  for (const auto& each : command.subcommands) {
    auto& added = *app.add_subcommand(std::string{each.name}, std::string{each.help});
    if (std::ranges::find(words, each.name) != words.end()) add_command(added, each, words, chosen);
  }
  if (command.run) app.callback([&command, &chosen] { chosen = &command; });
}

/// The command that was typed, down to the last word that is one: "cupel bmc".
const CLI::App& last_command(const CLI::App& app, std::string& path) {
  path += (path.empty() ? "" : " ") + app.get_name();
  const auto typed = app.get_subcommands();
  return typed.empty() ? app : last_command(*typed.back(), path);
}

/// Where CLI11's own words leave out what was typed or what could be; else its own.
std::string plain_words(const CLI::App& app, const CLI::ParseError& error) {
  const std::string_view own = error.what();
  constexpr std::string_view kNoNumber = "Could not convert: ";
  if (const auto equals = own.find(" = "); own.starts_with(kNoNumber) && equals != own.npos)
    return fmt::format("{}: '{}' is not a number", own.substr(0, equals).substr(kNoNumber.size()),
                       printable(own.substr(equals + 3)));
  std::string path;
  const auto& command = last_command(app, path);
  if (error.get_name() != "RequiredError" || command.get_require_subcommand_min() == 0)
    return std::string{own};
  std::vector<std::string> known;
  for (const auto* each : command.get_subcommands({})) known.push_back(each->get_name());
  if (const auto rest = app.remaining(true); !rest.empty())
    return fmt::format("there is no command '{}' of {}{}; see {} --help", printable(rest.front()),
                       path, inventory::did_you_mean(rest.front(), std::span{std::as_const(known)}),
                       path);
  if (&command == &app) return std::string{own};
  return fmt::format("which command of {}? {}; see {} --help", path, fmt::join(known, ", "), path);
}

constexpr std::size_t kHelpColumn = 30;  // where CLI11 puts what it says of an option

/// Its lines are at most `width` columns wide, as far as words allow. What does not fit goes on
/// below where its text began: that of an option at its column.
std::string wrapped(std::string_view text, std::size_t width) {
  constexpr std::size_t kNarrowest = 20;
  std::string all;
  for (const auto line : split(text, '\n')) {
    const auto first = std::min(line.find_first_not_of(' '), line.size());
    const bool of_option = first == 2 && line.size() > kHelpColumn && line[kHelpColumn - 1] == ' ';
    const auto indent = of_option ? kHelpColumn : first;
    if (line.size() <= width || width < indent + kNarrowest) {
      all += std::string{line} + "\n";
      continue;
    }
    std::string row{line.substr(0, indent)};
    for (const auto word : words(line.substr(indent))) {
      const bool fits = row.size() == indent || row.size() + 1 + word.size() <= width;
      if (!fits) all += std::exchange(row, std::string(indent, ' ')) + "\n";
      row += (row.size() == indent ? "" : " ") + std::string{word};
    }
    all += row + "\n";
  }
  all.pop_back();
  return all;
}

/// Columns for help: the terminal's, or what $COLUMNS says; 0: they are not known.
std::size_t help_width() {
  constexpr std::size_t kLeast = 40;
  auto width = terminal_width();
  if (const char* reported = std::getenv("COLUMNS"); width == 0 && reported != nullptr)
    width = number<std::size_t>(reported).value_or(0);
  return width < kLeast ? 0 : width;
}

/// The usage of a verb leaves out the nodes in front of it: "cupel bmc power [OPTIONS] [WHAT]".
std::string usage_with_nodes(std::string help, const CLI::App& app, const CommandRow& program) {
  const auto typed = app.get_subcommands();
  const auto verbs = typed.empty() ? typed : typed.back()->get_subcommands();
  if (verbs.empty()) return help;
  const auto name = typed.back()->get_name(), verb = verbs.back()->get_name();
  const auto command = std::ranges::find(program.subcommands, name, &CommandRow::name);
  const auto row = std::ranges::find(command->subcommands, verb, &CommandRow::name);
  const auto words = fmt::format("Usage: {} {} ", program.name, name);
  const auto at = help.find(words);
  if (at != help.npos && is_verb_of_nodes(*command, *row)) help.insert(at + words.size(), "NODES ");
  return help;
}

void print_help(std::FILE* to, const CLI::App& app, const CommandRow& program) {
  const auto width = help_width();
  const auto help = usage_with_nodes(app.help(), app, program);
  fmt::print(to, "{}", width == 0 ? help : wrapped(help, width));
}

Exit refused(CLI::App& app, const CommandRow& program, const CLI::ParseError& error, bool json) {
  if (error.get_name() == "CallForHelp") {
    print_help(stdout, app, program);
    return Exit::passed;
  }
  // "cupel" alone.
  const bool typed = !app.get_subcommands().empty() || !app.remaining(true).empty();
  if (error.get_name() == "RequiredError" && !typed && !json) {
    print_help(stderr, app, program);
    return Exit::invalid;
  }
  if (error.get_exit_code() == 0) {  // --version
    app.exit(error);
    return Exit::passed;
  }
  const auto words = plain_words(app, error);
  const bool is_own = words == error.what();
  fmt::print(stderr, "cupel: {}\n{}", printable(words),
             is_own ? "Run with --help for more information.\n" : "");
  if (json) {
    const boost::json::object object{{"error", valid_utf8(words)},
                                     {"code", to_string(Code::kInvalid)}};
    std::printf("%s\n", boost::json::serialize(object).c_str());
  }
  return Exit::invalid;
}

}  // namespace

OrExit<const CommandRow*> parse_command_line(const CommandRow& program,
                                             std::vector<std::string> words, bool json) {
  const CommandRow* chosen = nullptr;
  CLI::App app{std::string{program.help}, std::string{program.name}};
  app.fallthrough();
  add_command(app, program, words, chosen);
  try {
    std::ranges::reverse(words);  // as CLI11 wants a vector of them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return refused(app, program, error, json);
  }
  return chosen;
}

}  // namespace cupel::cli
