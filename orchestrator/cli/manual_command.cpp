// manual: man pages made from the commands themselves, so that they cannot fall behind them. For
// packages; people read `cupel COMMAND --help` or `man cupel`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/say.h"

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

std::string names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool takes_value(const CLI::Option& option) {
  return option.get_expected_max() > 0 && option.get_type_size_max() > 0;
}

/// "[OPTIONS] NODES [RUN]".
std::string synopsis_of(const CLI::App& app) {
  std::string words;
  for (const auto* option : app.get_options())
    if (!option->get_positional()) {
      words = " [OPTIONS]";
      break;
    }
  for (const auto* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const auto name = option->get_name();
    words += option->get_required() ? " " + name : fmt::format(" [{}]", name);
  }
  return words;
}

std::string options_section(const CLI::App& app) {
  std::string text;
  for (const auto* option : app.get_options()) {
    const auto positional = option->get_positional();
    auto head = positional ? option->get_name() : names_of(*option);
    if (head.empty()) continue;
    auto page_line = fmt::format(".TP\n\\fB{}\\fR", roff_text(head));
    if (!positional && takes_value(*option))
      page_line += fmt::format(" \\fI{}\\fR", roff_text(option->get_type_name()));
    text += fmt::format("{}\n{}\n", page_line, roff_text(option->get_description()));
  }
  return text;
}

/// What stands below the options: examples and exit codes, line by line as it is written.
std::string footer_of(const CLI::App& app) {
  const auto footer = app.get_footer();
  return footer.empty() ? std::string{} : fmt::format(".PP\n.nf\n{}\n.fi\n", roff_text(footer));
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  // A command of an empty group is not for people.
  return app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

void add_section(const CLI::App& app, const std::string& path, std::string& page) {
  page += fmt::format(".SS {}{}\n{}\n", roff_text(path), roff_text(synopsis_of(app)),
                      roff_text(app.get_description()));
  page += options_section(app) + footer_of(app);
  for (const auto* each : subcommands_of(app))
    add_section(*each, path + " " + each->get_name(), page);
}

std::string page_head(std::string name, std::string_view summary) {
  auto upper = name;
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  });
  return fmt::format(".TH {} 1 \"\" \"cupel " CUPEL_VERSION "\" \"Cupel\"\n.SH NAME\n{} \\- {}\n",
                     roff_text(upper), roff_text(name), roff_text(summary));
}

std::string page_of_command(const CLI::App& command) {
  const auto name = command.get_name();
  auto page = page_head("cupel-" + name, command.get_description());
  page += fmt::format(".SH SYNOPSIS\n\\fBcupel {}\\fR{}\n", roff_text(name),
                      roff_text(synopsis_of(command)));
  const auto own = options_section(command);
  if (!own.empty()) page += ".SH OPTIONS\n" + own;
  const auto nested = subcommands_of(command);
  if (!nested.empty()) page += ".SH COMMANDS\n";
  for (const auto* each : nested)
    add_section(*each, fmt::format("cupel {} {}", name, each->get_name()), page);
  const auto footer = footer_of(command);
  if (!footer.empty()) page += ".SH NOTES\n" + footer;
  return page + ".SH SEE ALSO\n\\fBcupel\\fR(1)\n";
}

std::string page_of_program(const CLI::App& app) {
  auto page = page_head("cupel", "take GPU racks from cabled to in Slurm");
  page += ".SH SYNOPSIS\n\\fBcupel\\fR [OPTIONS] \\fICOMMAND\\fR [ARGUMENTS]\n.SH DESCRIPTION\n" +
          roff_text(app.get_description()) + "\n.SH COMMANDS\n";
  for (const auto* each : subcommands_of(app))
    page += fmt::format(".TP\n\\fBcupel\\-{}\\fR(1)\n{}\n", roff_text(each->get_name()),
                        roff_text(each->get_description()));
  return page + ".SH OPTIONS\n" + options_section(app) + footer_of(app) +
         ".SH ENVIRONMENT\n.TP\n\\fBCUPEL_STATE\\fR\nthe folder of journal, pins and evidence\n"
         ".TP\n\\fBCUPEL_INVENTORY\\fR\nthe inventory, where no \\-\\-inventory is given\n"
         ".SH FILES\n.TP\n\\fI/var/lib/cupel\\fR\nthe state folder of root\n"
         ".TP\n\\fI~/.local/state/cupel\\fR\nthe state folder of other users\n";
}

Result<void> write_pages(const CLI::App& app, const std::filesystem::path& folder) {
  TRY(write_file(folder / "cupel.1", page_of_program(app)));
  for (const auto* each : subcommands_of(app)) {
    TRY(write_file(folder / fmt::format("cupel-{}.1", each->get_name()), page_of_command(*each)));
  }
  return ok();
}

Exit print_page(const CLI::App& app, const Context& context, const std::string& name) {
  if (name.empty()) {
    std::fputs(page_of_program(app).c_str(), stdout);
    return Exit::passed;
  }
  for (const auto* each : subcommands_of(app)) {
    if (each->get_name() != name) continue;
    std::fputs(page_of_command(*each).c_str(), stdout);
    return Exit::passed;
  }
  return complain(context, Error{Code::kInvalid, fmt::format("there is no command '{}'", name)},
                  Exit::invalid);
}

}  // namespace

void add_manual(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand("manual", "the man page of a command, as roff");
  command->footer(
      "Example: cupel manual run | man -l -\n"
      "Exit codes: 0 printed or written, 2 there is no such command or folder.");
  auto name = std::make_shared<std::string>();
  auto folder = std::make_shared<std::string>();
  command->add_option("COMMAND", *name, "a command's name; without it: cupel(1)");
  command->add_option("--folder", *folder, "write the pages of all commands into this folder")
      ->check(CLI::ExistingDirectory)
      ->type_name("FOLDER");
  command->callback([&app, &context, &exit, name, folder] {
    if (folder->empty()) {
      exit = print_page(app, context, *name);
      return;
    }
    const auto written = write_pages(app, *folder);
    exit = written ? Exit::passed : complain(context, written.error(), Exit::invalid);
  });
}

}  // namespace cupel::cli
