// manual: man pages made from the commands themselves, so that they cannot fall behind them. For
// packages; people read `cupel COMMAND --help` or `man cupel`.
#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/word_order.h"

namespace cupel::cli {
namespace {

/// Text of ours as roff shows it as it is. Source: groff(7), "Escapes": a backslash begins one, and
/// a dot or an apostrophe at the start of a line begins a request; a plain hyphen may become
/// U+2010.
std::string roff_text(std::string_view text) {
  std::string out;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) out += "\\&";
    at_start = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

/// "-i, --inventory".
std::string names_of(const OptionRow& option) {
  const auto name = short_name(option);
  return (name.empty() ? "" : fmt::format("-{}, ", name)) + fmt::format("--{}", long_name(option));
}

/// "[OPTIONS] NODES [RUN]". Every command has options: --help.
std::string synopsis_of(const CommandRow& command) {
  std::string words = " [OPTIONS]";
  for (const auto& option : command.options)
    if (is_argument(option))
      words += option.rules.required ? fmt::format(" {}", option.names)
                                     : fmt::format(" [{}]", option.names);
  return words;
}

std::string options_section(const CommandRow& command) {
  std::string text;
  for (const auto& option : all_options(command)) {
    const bool argument = is_argument(option);
    const auto head = argument ? std::string{option.names} : names_of(option);
    text += fmt::format(".TP\n\\fB{}\\fR", roff_text(head));
    if (!argument && takes_value(option))
      text += fmt::format(" \\fI{}\\fR", roff_text(placeholder_of(option)));
    text += fmt::format("\n{}\n", roff_text(option.help));
  }
  return text;
}

/// What stands below the options: examples and exit codes, line by line as it is written.
std::string footer_section(std::string_view footer) {
  return footer.empty() ? std::string{} : fmt::format(".PP\n.nf\n{}\n.fi\n", roff_text(footer));
}

/// A command without a footer has that of its group.
std::string_view footer_of(const CommandRow& command, std::string_view of_group) {
  return command.footer.empty() ? of_group : command.footer;
}

/// "cupel bmc NODES power".
std::string path_of_verb(const std::string& path, const CommandRow& command,
                         const CommandRow& verb) {
  const auto* nodes = is_verb_of_nodes(command, verb) ? " NODES" : "";
  return fmt::format("{}{} {}", path, nodes, verb.name);
}

void add_section(const CommandRow& command, const std::string& path, std::string_view of_group,
                 std::string& page) {
  const auto footer = footer_of(command, of_group);
  page += fmt::format(".SS {}{}\n{}\n", roff_text(path), roff_text(synopsis_of(command)),
                      roff_text(command.help));
  page += options_section(command) + footer_section(footer);
  for (const auto& each : command.subcommands)
    add_section(each, path_of_verb(path, command, each), footer, page);
}

std::string page_head(std::string name, std::string_view summary) {
  auto upper = name;
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  });
  return fmt::format(".TH {} 1 \"\" \"cupel " CUPEL_VERSION "\" \"Cupel\"\n.SH NAME\n{} \\- {}\n",
                     roff_text(upper), roff_text(name), roff_text(summary));
}

std::string page_of_command(const CommandRow& command, std::string_view of_program) {
  const std::string name{command.name};
  const auto footer = footer_of(command, of_program);
  auto page = page_head("cupel-" + name, command.help);
  page += fmt::format(".SH SYNOPSIS\n\\fBcupel {}\\fR{}\n", roff_text(name),
                      roff_text(synopsis_of(command)));
  page += ".SH OPTIONS\n" + options_section(command);
  if (!command.subcommands.empty()) page += ".SH COMMANDS\n";
  for (const auto& each : command.subcommands)
    add_section(each, path_of_verb("cupel " + name, command, each), footer, page);
  return page + ".SH NOTES\n" + footer_section(footer) + ".SH SEE ALSO\n\\fBcupel\\fR(1)\n";
}

std::string page_of_program(const CommandRow& program) {
  auto page = page_head("cupel", "take GPU racks from cabled to in Slurm");
  page += ".SH SYNOPSIS\n\\fBcupel\\fR [OPTIONS] \\fICOMMAND\\fR [ARGUMENTS]\n.SH DESCRIPTION\n" +
          roff_text(program.help) + "\n.SH COMMANDS\n";
  for (const auto& each : program.subcommands)
    page +=
        fmt::format(".TP\n\\fBcupel\\-{}\\fR(1)\n{}\n", roff_text(each.name), roff_text(each.help));
  return page + ".SH OPTIONS\n" + options_section(program) + footer_section(program.footer) +
         ".SH ENVIRONMENT\n.TP\n\\fBCUPEL_STATE\\fR\nthe folder of journal, pins and evidence\n"
         ".TP\n\\fBCUPEL_INVENTORY\\fR\nthe inventory, where no \\-\\-inventory is given\n"
         ".TP\n\\fBCUPEL_SERVER\\fR\nthe service to ask: https://HOST:PORT, with CUPEL_TOKEN and "
         "CUPEL_CA, or "
         "unix:PATH\n"
         ".SH FILES\n.TP\n\\fI/run/cupel/cupel.sock\\fR\nthe package's service, which is asked "
         "where "
         "none of these names another one or a folder\n.TP\n\\fI/var/lib/cupel\\fR\nthe state "
         "folder of root\n"
         ".TP\n\\fI~/.local/state/cupel\\fR\nthe state folder of other users\n";
}

Result<void> write_pages(const CommandRow& program, const std::filesystem::path& folder) {
  TRY(write_file(folder / "cupel.1", page_of_program(program), kReadableByAll));
  for (const auto& each : program.subcommands) {
    TRY(write_file(folder / fmt::format("cupel-{}.1", each.name),
                   page_of_command(each, program.footer), kReadableByAll));
  }
  return ok();
}

Exit print_page(const Context& context, const std::string& name) {
  const auto& program = *context.program;
  const auto& all = program.subcommands;
  const auto command = std::ranges::find(all, name, &CommandRow::name);
  if (!name.empty() && command == all.end())
    return print_error(context,
                       Error{Code::kInvalid, fmt::format("there is no command '{}'", name)},
                       Exit::invalid);
  const auto page =
      name.empty() ? page_of_program(program) : page_of_command(*command, program.footer);
  std::fputs(page.c_str(), stdout);
  return Exit::passed;
}

}  // namespace

CommandRow manual_command(Context& context) {
  auto name = std::make_shared<std::string>();
  auto folder = std::make_shared<std::string>();
  CommandRow row{"manual", "the man page of a command, as roff"};
  row.footer =
      "Example: cupel manual run | man -l -\n"
      "Exit codes: 0 printed or written, 2 there is no such command or folder.";
  row.options = {{"COMMAND", name.get(), "a command's name; without it: cupel(1)"},
                 {"--folder",
                  folder.get(),
                  "write the pages of all commands into this folder",
                  {.existing = Existing::folder, .placeholder = "FOLDER"}}};
  row.run = [&context, name, folder] {
    if (folder->empty()) return print_page(context, *name);
    const auto written = write_pages(*context.program, *folder);
    return written ? Exit::passed : print_error(context, written.error(), Exit::invalid);
  };
  return row;
}

}  // namespace cupel::cli
