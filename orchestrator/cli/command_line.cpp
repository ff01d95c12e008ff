// The one place where the parts meet: a table of commands, and nothing else.
#include "orchestrator/cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <cstdio>

#include "base/text.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/boot_command.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/former_words.h"
#include "orchestrator/cli/headless.h"
#include "orchestrator/cli/service_commands.h"
#include "orchestrator/cli/verdict_command.h"

namespace cupel::cli {
namespace {

/// Every command there is, in the order in which a newcomer meets them.
constexpr AddCommand kCommands[] = {
    add_inventory,   add_playbook,   add_plan,     add_run,       add_resume,   add_follow,
    add_cancel,      add_controller, add_pause,    add_unpause,   add_approve,  add_retry,
    add_skip,        add_continue,   add_status,   add_actions,   add_show,     add_report,
    add_certificate, add_verify,     add_verdict,  add_requalify, add_check,    add_rma,
    add_profile,     add_audit,      add_exec,     add_bmc,       add_firmware, add_settings,
    add_fabric,      add_slurm,      add_rehearse, add_rack,      add_store,    add_image,
    add_boot,        add_serve,      add_token,    add_backup,    add_restore,  add_doctor,
    add_manual,      add_completion,
};

constexpr const char* kFooter =
    "Exit codes: 0 all nodes passed, 1 some node failed or is inconclusive,\n"
    "            2 the input is wrong (nothing was touched), 3 the run could not finish.";

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

/// A word in the command's place that is no command. CLI11 reports only that one is required.
std::optional<std::string> unknown_command(CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty() || words[0].starts_with('-')) return std::nullopt;
  const std::string_view typed = words[0];
  std::vector<std::string> known;
  for (const auto* command : app.get_subcommands({})) known.push_back(command->get_name());
  if (std::ranges::find(known, typed) != known.end()) return std::nullopt;
  return fmt::format("there is no command '{}'{}; see cupel --help", typed,
                     inventory::did_you_mean(typed, std::span<const std::string>{known}));
}

/// Whether a command line that cannot be parsed asks for JSON.
bool wants_json(const std::vector<std::string>& words) {
  return std::ranges::find(words, "--json") != words.end();
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

int refused(CLI::App& app, const CLI::ParseError& error, bool json) {
  const auto words = plain_words(app, error);
  const int code = words == error.what() ? app.exit(error) : static_cast<int>(Exit::invalid);
  if (code == 0) return 0;
  if (words != error.what()) fmt::print(stderr, "cupel: {}\n", words);
  if (json) {
    const boost::json::object object{{"error", valid_utf8(words)},
                                     {"code", to_string(Code::kInvalid)}};
    std::printf("%s\n", boost::json::serialize(object).c_str());
  }
  return static_cast<int>(Exit::invalid);
}

/// A pipe whose reader has gone has had what it wanted; anything else has lost output.
bool output_was_lost() {
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return false;
  pollfd reader{STDOUT_FILENO, POLLOUT, 0};
  const bool has_left = ::poll(&reader, 1, 0) > 0 && (reader.revents & POLLERR) != 0;
  return !has_left;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{"Cupel takes GPU racks from \"cabled\" to \"in Slurm\", and keeps the proof.",
               "cupel"};
  app.footer(kFooter);
  app.set_version_flag("--version", "cupel " CUPEL_VERSION);
  app.require_subcommand(1);
  Context context;
  context.state = store::default_folder();
  app.add_option("--state", context.state,
                 "folder of the journal, pins and evidence [$CUPEL_STATE]")
      ->each([&context](const std::string&) { context.state_named = true; });
  app.add_option("--programs", context.programs,
                 "folder of the programs for nodes (cupel-node, cupel-burn) and of cupel-sim, the "
                 "virtual rack [beside cupel, or ../libexec/cupel]")
      ->check(CLI::ExistingDirectory);
  app.add_option("--log", context.log,
                 "where the controller logs: stderr, none or a file [cupel controller: stderr, "
                 "others: none]");
  app.fallthrough();
  Exit exit = Exit::passed;
  for (const auto add : kCommands) add(app, context, exit);
  auto words = own_words(argc, argv, context.behind);
  const bool json = wants_json(words);
  constexpr std::string_view kWithValues[] = {"--state", "--programs", "--log"};
  for (const auto& warning : replace_former_words(words, kWithValues))
    fmt::print(stderr, "cupel: warning: {}\n", warning);
  if (const auto unknown = unknown_command(app, words)) {
    context.json = json;
    return static_cast<int>(complain(context, Error{Code::kInvalid, *unknown}, Exit::invalid));
  }
  try {
    std::ranges::reverse(words);  // as CLI11 wants a vector of them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    const int code = refused(app, error, json);
    if (code != 0) return code;
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
