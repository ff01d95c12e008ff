// backup, restore: a copy of the state folder, and the way back.
#include <boost/json.hpp>

#include "base/text.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/store/backup.h"

namespace cupel::cli {
namespace {

boost::json::object document_of(const std::string& from, const std::string& to,
                                const store::Copied& copied) {
  boost::json::array faults;
  for (const auto& fault : copied.checked.faults)
    faults.push_back({{"where", valid_utf8(fault.where)},
                      {"what", valid_utf8(fault.what)},
                      {"advice", fault.advice}});
  boost::json::array journals;
  for (const auto& each : copied.checked.journals)
    journals.push_back({{"run", each.run}, {"events", each.events}, {"head_sha256", each.hash}});
  return {{"from", valid_utf8(from)},
          {"to", valid_utf8(to)},
          {"runs", copied.checked.runs},
          {"events", copied.checked.events},
          {"evidence_copied", copied.files},
          {"evidence_present", copied.present},
          {"bytes_written", copied.bytes},
          {"audit", to_string(copied.checked.audit)},
          {"journals", std::move(journals)},
          {"compared_with_heads", copied.compared},
          {"faults", faults}};
}

void print_copy(const std::string& from, const std::string& to, const store::Copied& copied) {
  for (const auto& fault : copied.checked.faults)
    say("{}: {}\n    -> {}\n", printable(fault.where), printable(fault.what), fault.advice);
  say("copied {} to {}: {} runs, {} events; {} pieces of evidence copied, {} were there; {:.1f} MB "
      "written\n",
      printable(from), printable(to), copied.checked.runs, copied.checked.events, copied.files,
      copied.present, static_cast<double>(copied.bytes) / 1e6);
  // Kept elsewhere, they show what was cut off or made anew.
  if (copied.checked.audit.sequence > 0) say("audit log: {}\n", to_string(copied.checked.audit));
  if (!copied.checked.journals.empty()) {
    const auto& newest = copied.checked.journals.back();
    say("journal of run {}: {}:{}\n", newest.run, newest.events, newest.hash);
  }
  say("{}\n", copied.compared ? "the chains were compared with heads.json of the backup"
                              : "the backup had no heads.json to compare the chains with");
  if (copied.checked.faults.empty())
    say("the copy was read back: all of it is intact\n");
  else
    say("the copy was read back: {} broken\n", copied.checked.faults.size());
}

/// 2 where nothing was touched.
Exit copied_or_exit(const Context& context, const std::string& from, const std::string& to,
                    const Result<store::Copied>& copied) {
  if (!copied) {
    const bool touched = copied.error().code == Code::kStorage;
    return print_error(context, copied.error(), touched ? Exit::unfinished : Exit::invalid);
  }
  if (context.json)
    std::printf("%s\n", boost::json::serialize(document_of(from, to, *copied)).c_str());
  else
    print_copy(from, to, *copied);
  return copied->checked.faults.empty() ? Exit::passed : Exit::failed;
}

}  // namespace

CommandRow backup_command(Context& context) {
  auto folder = std::make_shared<std::string>();
  CommandRow row{"backup", "copy the state folder while runs go on, and read the copy back"};
  row.footer =
      "The next backup to the same folder copies only new evidence, and the database. The copy is\n"
      "a state folder: cupel --state FOLDER status reads it. Its heads.json says where each chain\n"
      "ends: kept on another machine it shows what was cut off, by cupel store verify --heads "
      "FILE.\n"
      "Example: cupel backup /backup/cupel\n"
      "Exit codes: 0 copied and intact, 1 the copy is broken (as the state folder is, or a prune\n"
      "            ran meanwhile: repeat), 2 nothing was touched, 3 it could not be written.";
  row.options = {
      {"FOLDER", folder.get(), "an empty folder, or that of an earlier backup", kRequired},
      json_flag(context)};
  row.run = [&context, folder] {
    const auto from = context.state.string();
    return copied_or_exit(context, from, *folder, store::back_up(context.state, *folder));
  };
  return row;
}

CommandRow restore_command(Context& context) {
  auto folder = std::make_shared<std::string>();
  CommandRow row{"restore", "copy a backup to a state folder without records"};
  row.footer =
      "Refused where the state folder holds records, or while a controller works. Runs that were\n"
      "active when the backup was made are resumed with cupel resume.\n"
      "Example: cupel --state /var/lib/cupel restore /backup/cupel\n"
      "Exit codes: 0 copied and intact, 1 the copy is broken, 2 nothing was touched, 3 it could "
      "not\n"
      "            be written.";
  row.options = {{"FOLDER", folder.get(), "the folder of a backup", kRequired}, json_flag(context)};
  row.run = [&context, folder] {
    const auto to = context.state.string();
    return copied_or_exit(context, *folder, to, store::restore(*folder, context.state));
  };
  return row;
}

}  // namespace cupel::cli
