// The one place where the parts meet: a table of commands, and nothing else.
#include "orchestrator/cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "base/text.h"
#include "inventory/yaml.h"
#include "orchestrator/api/endpoint.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/parse_command_line.h"
#include "orchestrator/cli/state_owner.h"
#include "orchestrator/cli/word_order.h"

namespace cupel::cli {
namespace {

using RowOfCommand = CommandRow (*)(Context&);

/// Every command there is, in the order in which a newcomer meets them.
constexpr RowOfCommand kCommands[] = {
    inventory_command,  playbook_command,  plan_command,        run_command,
    resume_command,     follow_command,    cancel_command,      controller_command,
    pause_command,      unpause_command,   approve_command,     retry_command,
    skip_command,       continue_command,  status_command,      actions_command,
    show_command,       report_command,    certificate_command, verify_command,
    verdict_command,    requalify_command, check_command,       rma_command,
    profile_command,    audit_command,     parts_command,       exec_command,
    bmc_command,        firmware_command,  settings_command,    fabric_command,
    slurm_command,      rehearse_command,  rack_command,        store_command,
    image_command,      boot_command,      serve_command,       token_command,
    backup_command,     restore_command,   doctor_command,      manual_command,
    completion_command, export_command,    compliance_command,  baseline_command,
    login_command,      logout_command,
};

constexpr const char* kFooter =
    "Exit codes: 0 all nodes passed, 1 some node failed or is inconclusive,\n"
    "            2 the input is wrong (nothing was touched), 3 the run could not finish,\n"
    "            4 the run is halted, and waits for an operator.";

/// The words up to "--", without the program's name. What follows "--" is the command line of
/// another program, which no parser of ours reads.
std::vector<std::string> own_words(int argc, char** argv, std::vector<std::string>& behind) {
  std::vector<std::string> words{argv + 1, argv + argc};
  const auto end = std::ranges::find(words, "--");
  if (end == words.end()) return words;
  behind.assign(end + 1, words.end());
  words.erase(end, words.end());
  return words;
}

CommandRow program_for(Context& context) {
  CommandRow program{
      .name = "cupel",
      .help = "Cupel takes GPU racks from \"cabled\" to \"in Slurm\", and keeps the proof.",
      .footer = kFooter,
      .version = "cupel " CUPEL_VERSION,
      .options = {{"--state",
                   &context.state,
                   "folder of the journal, pins and evidence [$CUPEL_STATE]",
                   {.given = &context.state_named}},
                  {"--programs",
                   &context.programs,
                   "folder of the programs for nodes (cupel-node, cupel-burn) and of cupel-sim, "
                   "the virtual rack [beside cupel, or ../libexec/cupel]",
                   {.existing = Existing::folder}},
                  {"--log", &context.log,
                   "where the controller logs: stderr, none or a file [cupel controller: stderr, "
                   "others: none]"}},
  };
  for (const auto command : kCommands) program.subcommands.push_back(command(context));
  return program;
}

/// "help run" is "run --help", and "version" is "--version".
std::vector<std::string> as_options(std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (words.size() == 1 && words[0] == "version") words[0] = "--version";
  return words;
}

/// A word in the command's place that is no command. The parser reports only that one is required.
std::optional<std::string> unknown_command(const CommandRow& program,
                                           const std::vector<std::string>& words) {
  if (words.empty() || words[0].starts_with('-')) return std::nullopt;
  const std::string_view typed = words[0];
  std::vector<std::string> known;
  for (const auto& command : program.subcommands) known.emplace_back(command.name);
  if (std::ranges::find(known, typed) != known.end()) return std::nullopt;
  std::vector<std::string> homes;  // of "power", which is one of "bmc"
  for (const auto& command : program.subcommands)
    if (std::ranges::find(command.subcommands, typed, &CommandRow::name) !=
        command.subcommands.end())
      homes.push_back(fmt::format("{} {} {} --help", program.name, command.name, typed));
  if (!homes.empty())
    return fmt::format("there is no command '{}'; see {}", typed, fmt::join(homes, ", "));
  return fmt::format("there is no command '{}'{}; see cupel --help", typed,
                     inventory::did_you_mean(typed, std::span<const std::string>{known}));
}

bool has_in_it(const CommandRow& row, const CommandRow* leaf) {
  return &row == leaf || std::ranges::any_of(row.subcommands, [leaf](const CommandRow& each) {
    return has_in_it(each, leaf);
  });
}

/// `command`: "store", or "fabric health".
bool is_part_of(const CommandRow& program, std::string_view command, const CommandRow* chosen) {
  const auto first = std::min(command.find(' '), command.size());
  const auto row =
      std::ranges::find(program.subcommands, command.substr(0, first), &CommandRow::name);
  if (row == program.subcommands.end()) return false;
  return first == command.size() ? has_in_it(*row, chosen)
                                 : is_part_of(*row, command.substr(first + 1), chosen);
}

/// "cupel fabric health".
std::string path_of(const CommandRow& row, const CommandRow* leaf) {
  std::string path{row.name};
  for (const auto& each : row.subcommands)
    if (has_in_it(each, leaf)) path += " " + path_of(each, leaf);
  return path;
}

/// Images lie in the state folder where no other is named. Making a root file system needs root.
bool works_on_own_images(const CommandRow& program, const CommandRow* chosen,
                         const std::vector<std::string>& words) {
  const bool named = std::ranges::any_of(words, [](const std::string& word) {
    return word == "--images" || word.starts_with("--images=");
  });
  return is_part_of(program, "image", chosen) && (named || chosen->name == "build");
}

/// Whether the command reads or writes records. The others work for whoever calls them: in a folder
/// of their own, or with root's privileges.
bool works_on_state(const CommandRow& program, const CommandRow* chosen) {
  constexpr std::string_view kOthers[] = {"boot",      "completion", "login",
                                          "logout",    "manual",     "rehearse",
                                          "rack list", "rack serve", "verify"};
  return std::ranges::none_of(
      kOthers, [&](std::string_view each) { return is_part_of(program, each, chosen); });
}

bool is_one_of(std::span<const std::string_view> commands, const CommandRow& program,
               const CommandRow* chosen) {
  return std::ranges::any_of(
      commands, [&](std::string_view each) { return is_part_of(program, each, chosen); });
}

/// Commands that a service answers as the state folder would.
constexpr std::string_view kOfServicesToo[] = {"actions",
                                               "approve",
                                               "cancel",
                                               "continue",
                                               "follow",
                                               "inventory ansible",
                                               "inventory prometheus",
                                               "pause",
                                               "report",
                                               "requalify",
                                               "resume",
                                               "retry",
                                               "run",
                                               "show",
                                               "skip",
                                               "status",
                                               "unpause"};

/// Commands on records that no service gives away, or that only its own machine may change.
constexpr std::string_view kHereAlone[] = {"audit",
                                           "backup",
                                           "certificate",
                                           "compliance",
                                           "controller",
                                           "export",
                                           "fabric after-swap",
                                           "fabric health",
                                           "fabric history",
                                           "fabric repaired",
                                           "firmware continue",
                                           "firmware forget",
                                           "firmware rewrite",
                                           "firmware show",
                                           "parts",
                                           "profile learn",
                                           "restore",
                                           "rma",
                                           "store",
                                           "token",
                                           "verdict"};

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// The socket of the package's service, where it runs, this user may ask it, and neither another
/// service nor a state folder is named; else empty.
std::string socket_of_package(const Context& context) {
  constexpr const char* kSocket = "/run/cupel/cupel.sock";
  const bool named = context.state_named || is_set("CUPEL_STATE") || is_set("CUPEL_SERVER");
  return !named && api::is_served(kSocket) ? kSocket : "";
}

/// A command on the records of this machine, where $CUPEL_SERVER says that they are elsewhere, or
/// where they are the service's, whose folder this user may not open: it would find none, and say
/// so as if there were none. Named by --state, they are meant.
std::optional<Error> meant_elsewhere(const Context& context, const CommandRow* chosen) {
  if (context.state_named || !is_one_of(kHereAlone, *context.program, chosen)) return std::nullopt;
  const auto name = path_of(*context.program, chosen);
  if (is_set("CUPEL_SERVER"))
    return Error{Code::kInvalid,
                 fmt::format("{} works on a state folder of this machine, and $CUPEL_SERVER names "
                             "{}: use it on that machine with --state, or unset CUPEL_SERVER",
                             name, printable(std::getenv("CUPEL_SERVER")))};
  const auto socket = ::geteuid() == 0 ? std::string{} : socket_of_package(context);
  if (socket.empty()) return std::nullopt;
  return Error{
      Code::kInvalid,
      fmt::format("{0} works on a state folder, and that of the service at {1} is for root "
                  "and the service's user alone: sudo {0}, or name your own with --state",
                  name, socket)};
}

/// A pipe whose reader has gone has had what it needed; anything else has lost output.
bool output_was_lost() {
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return false;
  pollfd reader{STDOUT_FILENO, POLLOUT, 0};
  const bool has_left = ::poll(&reader, 1, 0) > 0 && (reader.revents & POLLERR) != 0;
  return !has_left;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  Context context;
  context.state = store::default_folder();
  const auto program = program_for(context);
  context.program = &program;
  const auto words = as_options(own_words(argc, argv, context.behind));
  // Also where the words cannot be parsed.
  const bool wants_json = std::ranges::find(words, "--json") != words.end();
  if (const auto unknown = unknown_command(program, words)) {
    context.json = wants_json;
    return static_cast<int>(print_error(context, Error{Code::kInvalid, *unknown}, Exit::invalid));
  }
  const auto chosen = parse_command_line(program, in_order(program, words), wants_json);
  if (!chosen && chosen.error() != Exit::passed) return static_cast<int>(chosen.error());
  if (chosen)
    if (const auto elsewhere = meant_elsewhere(context, *chosen))
      return static_cast<int>(print_error(context, *elsewhere, Exit::invalid));
  const bool of_services = chosen && is_one_of(kOfServicesToo, program, *chosen);
  if (of_services) context.socket = socket_of_package(context);
  const bool is_asked = of_services && (is_set("CUPEL_SERVER") || !context.socket.empty());
  // After the options are read, and before anything else is. A service knows who asks it.
  if (chosen && !is_asked && works_on_state(program, *chosen) &&
      !works_on_own_images(program, *chosen, words)) {
    const auto owner = act_as_owner_of(context.state);
    if (!owner) return static_cast<int>(print_error(context, owner.error(), Exit::unfinished));
  }
  auto exit = Exit::passed;
  try {
    if (chosen) exit = (*chosen)->run();
  } catch (const std::exception& bug) {
    fmt::print(stderr, "cupel: this is a fault of Cupel: {}\n", printable(bug.what()));
    exit = Exit::unfinished;
  }
  if (output_was_lost()) {
    std::fputs("cupel: standard output could not be written\n", stderr);
    if (exit == Exit::passed) exit = Exit::unfinished;
  }
  return static_cast<int>(exit);
}

}  // namespace cupel::cli
