// Shell completion, made from the commands themselves, so that it cannot fall behind them. Names of
// nodes, playbooks, runs and racks are asked of cupel when they are needed.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "inventory/load.h"
#include "inventory/model.h"
#include "inventory/shipped.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/word_order.h"
#include "orchestrator/store/purpose.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kMostWords = 5000;
constexpr std::size_t kMostRuns = 50;
constexpr const char* kNodeNames = "$(_cupel_names nodes)";

/// What completes a value: words as they are, or "$(_cupel_names KIND)"; empty: files.
std::string values_of(const OptionRow& option) {
  const auto name = is_argument(option) ? option.names : long_name(option);
  const auto is = [&name](std::initializer_list<std::string_view> all) {
    return std::ranges::any_of(all, [&name](auto each) { return name == each; });
  };
  if (is({"NODE", "NODES", "nodes", "node"})) return kNodeNames;
  if (is({"RUN", "RUN_STEP", "run"})) return "$(_cupel_names runs)";
  if (is({"PLAYBOOK"})) return "$(_cupel_names playbooks)";
  if (is({"RACK", "rack"})) return "$(_cupel_names racks)";
  return fmt::format("{}", fmt::join(option.rules.among, " "));
}

/// What a shell gets of one command.
struct CommandWords {
  std::string path;                                            // "cupel bmc"
  std::string words;                                           // its subcommands and options
  std::vector<std::pair<std::string, std::string>> options{};  // "--nodes|-n" and what follows it
  std::vector<std::string> places{};                           // of its positional arguments
};

std::string pattern_of(const OptionRow& option) {
  auto pattern = fmt::format("--{}", long_name(option));
  if (const auto name = short_name(option); !name.empty()) pattern += fmt::format("|-{}", name);
  return pattern;
}

/// `before_nodes`: nodes may stand behind it, though its group takes them in front of it.
void add_words(const CommandRow& command, const std::string& path, bool before_nodes,
               std::vector<CommandWords>& into) {
  CommandWords own{path, {}};
  for (const auto& option : all_options(command)) {
    if (is_argument(option)) {
      own.places.push_back(values_of(option));
      continue;
    }
    own.words += fmt::format("--{} ", long_name(option));
    if (takes_value(option)) own.options.emplace_back(pattern_of(option), values_of(option));
  }
  for (const auto& each : command.subcommands) {
    own.words += fmt::format("{} ", each.name);
    add_words(each, fmt::format("{} {}", path, each.name), is_verb_of_nodes(command, each), into);
  }
  if (before_nodes && own.places.empty()) own.places.emplace_back();
  if (before_nodes) own.places[0] += fmt::format(" {}", kNodeNames);
  into.push_back(std::move(own));
}

/// Options that take a value: what stands behind them is neither a command nor an argument.
std::string options_with_values(const std::vector<CommandWords>& all) {
  std::set<std::string> patterns;
  for (const auto& each : all)
    for (const auto& [pattern, values] : each.options) patterns.insert(pattern);
  return fmt::format("{}", fmt::join(patterns, "|"));
}

/// Finds out which command is typed, and how many arguments it has already.
std::string script_start(const std::vector<CommandWords>& all) {
  std::string text =
      "# bash completion for cupel: source <(cupel completion bash)\n"
      "_cupel_names() { \"${_cupel_program:-cupel}\" completion --names \"$1\" 2> /dev/null; }\n"
      "_cupel() {\n"
      "  local word previous= path=cupel words= values=- i place=0\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} _cupel_program=${COMP_WORDS[0]}\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    word=${COMP_WORDS[i]}\n"
      "    case \"$path $word\" in\n";
  for (const auto& each : all)
    if (each.path != "cupel")
      text += fmt::format("      '{0}') path='{0}'; place=0 ;;\n", each.path);
  return text +
         fmt::format(
             "      *) case \"$previous\" in {}) ;;\n"
             "         *) case \"$word\" in -*) ;; *) place=$((place + 1)) ;; esac ;; esac ;;\n"
             "    esac\n    previous=$word\n  done\n",
             options_with_values(all));
}

std::string script_values(const std::vector<CommandWords>& all) {
  std::string text = "  case \"$path $previous\" in\n";
  for (const auto& each : all)
    for (const auto& [pattern, values] : each.options) {
      std::string patterns;
      for (std::size_t at = 0; at <= pattern.size();) {
        const auto end = std::min(pattern.find('|', at), pattern.size());
        patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : "|", each.path,
                                pattern.substr(at, end - at));
        at = end + 1;
      }
      text += fmt::format("    {}) values=\"{}\" ;;\n", patterns, values);
    }
  text += "  esac\n  if [ \"$values\" = - ]; then case \"$path $place\" in\n";
  for (const auto& each : all)
    for (std::size_t place = 0; place < each.places.size(); ++place)
      if (!each.places[place].empty())
        text +=
            fmt::format("    '{} {}') words=\"{} \" ;;\n", each.path, place, each.places[place]);
  return text + "  esac; fi\n";
}

std::string bash_script(const CommandRow& program) {
  std::vector<CommandWords> all;
  add_words(program, "cupel", false, all);
  auto text = script_start(all) + script_values(all) + "  case $path in\n";
  for (const auto& each : all)
    text += fmt::format("    '{}') words+='{}' ;;\n", each.path, each.words);
  return text +
         "  esac\n"
         "  [ \"$values\" = - ] || words=$values\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "}\n"
         "complete -F _cupel cupel\n";
}

/// zsh takes bash's script by its own bashcompinit. As an autoloaded function
/// (site-functions/_cupel) the file's first call both defines and completes.
std::string zsh_script(const CommandRow& program) {
  return "#compdef cupel\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(program);
}

/// The one argument of fish's -a: words, or a function that prints them.
std::string fish_words(const std::string& values) {
  constexpr std::string_view kCall = "$(_cupel_names ";
  if (!values.starts_with(kCall)) return values;
  return "(__cupel_names " + values.substr(kCall.size());
}

std::string fish_options(const CommandRow& command, const std::string& at) {
  std::string text;
  for (const auto& option : all_options(command)) {
    const auto values = values_of(option);
    if (is_argument(option)) {
      if (!values.empty())
        text += fmt::format("complete -c cupel -f {} -a '{}'\n", at, fish_words(values));
      continue;
    }
    auto names = fmt::format(" -l {}", long_name(option));
    if (const auto name = short_name(option); !name.empty()) names += fmt::format(" -s {}", name);
    const auto follows = !takes_value(option) ? std::string{}
                         : values.empty()     ? std::string{" -r -F"}
                                              : fmt::format(" -x -a '{}'", fish_words(values));
    text += fmt::format("complete -c cupel {}{}{}\n", at, names, follows);
  }
  return text;
}

void add_fish(const CommandRow& command, const std::string& path, std::string& paths,
              std::string& text) {
  paths += fmt::format(" '{}'", path);
  const auto at = fmt::format("-n '__cupel_at \"{}\"'", path);
  text += fish_options(command, at);
  for (const auto& each : command.subcommands) {
    const auto own_path = fmt::format("{} {}", path, each.name);
    text += fmt::format("complete -c cupel -f {} -a {}\n", at, each.name);
    if (is_verb_of_nodes(command, each))
      text += fmt::format("complete -c cupel -f -n '__cupel_at \"{}\"' -a '{}'\n", own_path,
                          fish_words(kNodeNames));
    add_fish(each, own_path, paths, text);
  }
}

std::string fish_script(const CommandRow& program) {
  std::string paths, text;
  add_fish(program, "cupel", paths, text);
  return fmt::format(
      "# fish completion for cupel: cupel completion fish | source\n"
      "set -g __cupel_paths{}\n"
      "set -g __cupel_program cupel\n"
      "function __cupel_names\n  $__cupel_program completion --names $argv[1] 2> /dev/null\nend\n"
      "# Whether the words typed so far name this command.\n"
      "function __cupel_at\n"
      "  set -l path cupel\n"
      "  for word in (commandline -opc)[2..]\n"
      "    contains -- \"$path $word\" $__cupel_paths; and set path \"$path $word\"\n"
      "  end\n"
      "  test \"$path\" = \"$argv[1]\"\n"
      "end\n{}",
      paths, text);
}

std::string script_for(std::string_view shell, const CommandRow& program) {
  if (shell == "fish") return fish_script(program);
  return shell == "zsh" ? zsh_script(program) : bash_script(program);
}

/// A shell expands what completes: nothing else may be in it.
bool is_plain(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:+";
  return !word.empty() && word.find_first_not_of(kPlain) == word.npos;
}

/// "playbooks/new-rack.yaml" of the folder "playbooks/": new-rack.
std::vector<std::string> shipped_names(std::string_view folder) {
  std::vector<std::string> names;
  for (const auto& file : inventory::shipped_files()) {
    const std::filesystem::path path{file.path};
    if (path.parent_path() == std::filesystem::path{folder}) names.push_back(path.stem().string());
  }
  return names;
}

std::vector<std::string> node_names() {
  std::vector<std::string> names{"all"};
  const auto loaded = inventory::load_inventory(default_inventory());
  if (!loaded.inventory) return names;
  std::set<std::string> racks;
  for (const auto& node : loaded.inventory->nodes) {
    names.push_back(node.name);
    if (!node.rack.empty()) racks.insert("rack:" + node.rack);
  }
  names.insert(names.end(), racks.begin(), racks.end());
  return names;
}

std::vector<std::string> run_numbers(const Context& context) {
  std::vector<std::string> numbers;
  // To look for runs makes no store where there is none.
  if (!store::has_store(context.state)) return numbers;
  const auto store = store::Store::open(context.state);
  if (!store) return numbers;
  const auto runs = (*store)->runs(kMostRuns);
  if (!runs) return numbers;
  for (const auto& run : *runs) numbers.push_back(std::to_string(run.id));
  return numbers;
}

void print_names(const Context& context, const std::string& kind) {
  std::vector<std::string> names;
  if (kind == "nodes") names = node_names();
  if (kind == "runs") names = run_numbers(context);
  if (kind == "playbooks") names = shipped_names("playbooks");
  if (kind == "racks") names = shipped_names("rehearsal/racks");
  std::size_t count = 0;
  for (const auto& name : names)
    if (is_plain(name) && count++ < kMostWords) say("{}\n", name);
}

}  // namespace

CommandRow completion_command(Context& context) {
  auto shell = std::make_shared<std::string>("bash");
  auto names = std::make_shared<std::string>();
  CommandRow row{"completion", "a completion script for your shell"};
  row.footer =
      "Examples: source <(cupel completion bash)\n"
      "          source <(cupel completion zsh)\n"
      "          cupel completion fish | source\n"
      "It completes commands, options, and the names of nodes ($CUPEL_INVENTORY or\n"
      "./inventory.yaml), shipped playbooks and racks, and runs ($CUPEL_STATE).";
  row.options = {
      {"SHELL", shell.get(), "whose script is printed [bash]", {.among = {"bash", "zsh", "fish"}}},
      {"--names",
       names.get(),
       "the names of nodes, runs, playbooks or racks, one a line",
       {.among = {"nodes", "runs", "playbooks", "racks"}}}};
  row.run = [&context, shell, names] {
    if (!names->empty())
      print_names(context, *names);
    else
      std::fputs(script_for(*shell, *context.program).c_str(), stdout);
    return Exit::passed;
  };
  return row;
}

}  // namespace cupel::cli
