// Shell completion, made from the commands themselves, so that it cannot fall behind them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "orchestrator/cli/context.h"

namespace cupel::cli {
namespace {

/// "cupel bmc" -> its subcommands and options, for each command there is.
void add_words(const CLI::App& app, const std::string& path,
               std::vector<std::pair<std::string, std::string>>& into) {
  std::string words;
  for (const auto* option : app.get_options())
    for (const auto& name : option->get_lnames()) words += "--" + name + " ";
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    words += command->get_name() + " ";
    add_words(*command, path + " " + command->get_name(), into);
  }
  into.emplace_back(path, words);
}

std::string bash_script(const CLI::App& app) {
  std::vector<std::pair<std::string, std::string>> all;
  add_words(app, "cupel", all);
  std::string text =
      "# bash completion for cupel: source <(cupel completion bash)\n"
      "_cupel() {\n"
      "  local word path=cupel words= i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    word=${COMP_WORDS[i]}\n"
      "    case \"$path $word\" in\n";
  for (const auto& [path, words] : all)
    if (path != "cupel") text += fmt::format("      '{}') path='{}' ;;\n", path, path);
  text += "    esac\n  done\n  case $path in\n";
  for (const auto& [path, words] : all)
    text += fmt::format("    '{}') words='{}' ;;\n", path, words);
  text +=
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
      "  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
      "}\n"
      "complete -F _cupel cupel\n";
  return text;
}

}  // namespace

void add_completion(CLI::App& app, Context&, Exit& exit) {
  auto* command =
      app.add_subcommand("completion", "a script that completes cupel's words in your shell");
  command->footer(
      "Examples: source <(cupel completion bash)\n"
      "          autoload -U bashcompinit; bashcompinit; source <(cupel completion zsh)");
  auto shell = std::make_shared<std::string>("bash");
  command->add_option("SHELL", *shell, "bash, or zsh by way of its bashcompinit")
      ->check(CLI::IsMember({"bash", "zsh"}));
  command->callback([&app, &exit, shell] {
    std::fputs(bash_script(app).c_str(), stdout);
    exit = Exit::passed;
  });
}

}  // namespace cupel::cli
