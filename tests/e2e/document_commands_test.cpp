// Every command of Cupel that a document names exists, with every option that stands beside it, and
// every parameter of a shipped playbook that is set there.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/text.h"
#include "tests/e2e/forked_cupel.h"
#include "tests/support/markdown.h"

namespace cupel::testing {
namespace {

using Names = std::set<std::string, std::less<>>;

/// What there is, as shell completion has it: it is printed from the rows of all commands.
struct Grammar {
  Names commands;                        // "cupel bmc power"
  std::map<std::string, Names> options;  // of a command: "--json"

  bool is_group(const std::string& command) const {
    const auto next = commands.upper_bound(command + " ");
    return next != commands.end() && next->starts_with(command + " ");
  }
  /// Of the command, or of one that it belongs to.
  bool has_option(std::string command, const std::string& option) const {
    for (;;) {
      const auto own = options.find(command);
      if (own != options.end() && own->second.contains(option)) return true;
      const auto blank = command.rfind(' ');
      if (blank == command.npos) return false;
      command.resize(blank);
    }
  }
};

/// A line of the script: "'cupel run') path=...", "'cupel exec --fanout'|'cupel exec -f')
/// values=..." or "'cupel run') words+='--help --nodes '".
void take_line(Grammar& grammar, std::string_view line) {
  const auto open = line.find('\''), close = line.find("') ");
  if (open == line.npos || close == line.npos) return;
  const std::string names{line.substr(open + 1, close - open - 1)};
  const auto rest = line.substr(close + 3);
  if (rest.starts_with("path=")) grammar.commands.insert(names);
  if (rest.starts_with("words+='"))
    for (const auto word : words(rest.substr(8, rest.rfind('\'') - 8)))
      grammar.options[names].emplace(word);
  if (!rest.starts_with("values=")) return;
  for (const auto name : split(names, '\'')) {
    const auto blank = name.rfind(" -");
    if (blank != name.npos)
      grammar.options[std::string{name.substr(0, blank)}].emplace(name.substr(blank + 1));
  }
}

const Grammar& grammar() {
  static const auto made = [] {
    Grammar all;
    const auto script = run_forked_cupel({"completion", "bash"}).out;
    for (const auto line : lines(script)) take_line(all, line);
    return all;
  }();
  return made;
}

/// Where the command ends that begins the text: at what a shell takes for an end outside of quotes,
/// at a comment, or at what stands aside behind two blanks.
std::string_view command_in(std::string_view text) {
  char quote = '\0';
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const auto rest = text.substr(at);
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (std::string_view{"`;|)<>"}.contains(c) || rest.starts_with(" #") ||
               rest.starts_with("  ") || rest.starts_with(" &") || rest.starts_with(" -- ")) {
      return text.substr(0, at);
    }
  }
  return text;
}

/// The words behind each "cupel" that stands where a shell expects a command.
std::vector<std::vector<std::string>> commands_in(const std::string& text) {
  static const std::regex kBegin{
      R"((?:^|&& |\|\| |; |\| |[(]|time |^[$#] )(?:(?:sudo|runuser) -u \S+ (?:-- )?)?)"
      R"((?:[A-Z_]+=\S* )*cupel (?:--state \S+ |--programs \S+ )?(?=[a-z]))"};
  std::vector<std::vector<std::string>> found;
  for (auto it = std::sregex_iterator{text.begin(), text.end(), kBegin};
       it != std::sregex_iterator{}; ++it) {
    const auto begin = static_cast<std::size_t>(it->position() + it->length());
    auto& command = found.emplace_back();
    for (const auto word : words(command_in(std::string_view{text}.substr(begin))))
      if (!word.contains("...")) command.emplace_back(word);
  }
  return found;
}

/// "power\|boot" of a table is "power" and "boot".
std::vector<std::string> alternatives_of(const std::string& text) {
  static const std::regex kChoice{R"((\S+?)((?:\\\|\S+?)+)(?=$|\s))"};
  std::smatch found;
  if (!std::regex_search(text, found, kChoice)) return {text};
  std::string choices = std::regex_replace(found.str(), std::regex{R"(\\\|)"}, "\n");
  std::vector<std::string> all;
  for (const auto each : lines(choices))
    all.push_back(found.prefix().str() + std::string{each} + found.suffix().str());
  return all;
}

/// Of a line outside of blocks: what stands between backticks.
std::vector<std::string> spans_of(const std::string& line) {
  std::vector<std::string> spans;
  const auto pieces = split(line, '`');
  for (std::size_t i = 1; i < pieces.size(); i += 2)
    for (auto& each : alternatives_of(std::string{pieces[i]})) spans.push_back(std::move(each));
  return spans;
}

/// Parameters are keys of the playbook's `parameters:`. "" where all that is set is one.
std::string unknown_parameter(const std::vector<std::string>& command) {
  static const Names kTakers{"run", "plan", "rehearse"};
  if (command.size() < 2 || !kTakers.contains(command[0])) return "";
  std::ostringstream playbook;
  playbook << std::ifstream{SOURCE_DIR "/playbooks/" + command[1] + ".yaml"}.rdbuf();
  if (playbook.str().empty()) return "";
  for (std::size_t i = 2; i + 1 < command.size(); ++i) {
    if (command[i] != "--set") continue;
    auto name = command[i + 1].substr(0, command[i + 1].find('='));
    if (name.starts_with('\'')) name.erase(0, 1);  // 'window=Sat 02:00 +6h'
    if (!playbook.str().contains("\n  " + name + ":")) return name;
  }
  return "";
}

/// What of it does not exist; "" where all does.
std::string unknown_in(const std::vector<std::string>& command) {
  std::string path = "cupel";
  int others = 0;  // words that are no command of the group
  for (const auto& word : command) {
    if (word.starts_with('-') && word.size() > 1) {
      const auto option = word.substr(0, word.find('='));
      if (!grammar().has_option(path, option)) return path + " " + option;
    } else if (grammar().commands.contains(path + " " + word)) {
      path += " " + word;
    } else if (path == "cupel") {
      return "cupel " + word;
    } else {
      others += grammar().is_group(path) ? 1 : 0;
    }
  }
  // Of these the nodes stand before the command.
  const int allowed = path == "cupel bmc" ? 1 : 0;
  if (grammar().is_group(path) && others > allowed) return path + " with another word";
  const auto parameter = unknown_parameter(command);
  return parameter.empty() ? "" : "the parameter " + parameter;
}

TEST(DocumentCommands, ExistWithTheirOptionsAndParameters) {
  ASSERT_GT(grammar().commands.size(), 60u);
  std::size_t commands = 0;
  for (const auto& page : markdown_pages())
    for (const auto& [text, code] : page.lines) {
      const auto spans =
          code ? std::vector<std::string>{std::string{trimmed(text)}} : spans_of(text);
      for (const auto& span : spans)
        for (const auto& command : commands_in(span)) {
          ++commands;
          EXPECT_EQ(unknown_in(command), "") << page.name << ": " << text;
        }
    }
  EXPECT_GT(commands, 300u);
}

TEST(DocumentCommands, AreAllInTheListOfCommands) {
  std::string list;
  for (const auto& line : read_markdown(SOURCE_DIR "/docs/know/commands.md").lines)
    if (line.text.starts_with("| ")) list += line.text + "\n";
  for (const auto& command : grammar().commands) {
    const bool top = std::ranges::count(command, ' ') == 1;
    if (top) EXPECT_NE(list.find("`" + command), list.npos) << command << " is not in the list";
  }
}

TEST(DocumentCommands, AreFoundWhereAShellHasThemAndRefusedWhereTheyAreWrong) {
  const auto first = [](const std::string& text) { return commands_in(text).at(0); };

  EXPECT_EQ(unknown_in(first("$ cupel run audit --detach --set wait=20m   # waits")), "");
  EXPECT_EQ(unknown_in(first("sudo -u cupel cupel --state /x token add bob --role viewer")), "");
  EXPECT_EQ(unknown_in(first("cupel bmc a01-n07 powr on")), "cupel bmc with another word");
  EXPECT_EQ(unknown_in(first("cupel auditt")), "cupel auditt");
  EXPECT_EQ(unknown_in(first("cupel run audit --detached")), "cupel run --detached");
  EXPECT_EQ(unknown_in(first("cupel run audit --set wiat=2m")), "the parameter wiat");
  EXPECT_TRUE(commands_in("usermod -aG cupel alice").empty());
  EXPECT_EQ(spans_of("| `cupel audit assets\\|arrivals` |"),
            (std::vector<std::string>{"cupel audit assets", "cupel audit arrivals"}));
}

}  // namespace
}  // namespace cupel::testing
