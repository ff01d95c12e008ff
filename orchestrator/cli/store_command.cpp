// store: whether what is kept is whole; an end for a run that nobody can go on with; less of it;
// another place for it.
#include <fmt/ranges.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "base/login.h"
#include "base/paths.h"
#include "base/text.h"
#include "inventory/node_range.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/store/chain_heads.h"
#include "orchestrator/store/check.h"
#include "orchestrator/store/prune.h"
#include "orchestrator/store/repair.h"
#include "orchestrator/store/store_move.h"

namespace cupel::cli {
namespace {

boost::json::array to_json(const std::vector<store::Fault>& faults) {
  boost::json::array all;
  for (const auto& fault : faults)
    all.push_back({{"where", valid_utf8(fault.where)},
                   {"what", valid_utf8(fault.what)},
                   {"advice", fault.advice}});
  return all;
}

boost::json::object to_json(const Context& context, const store::Checked& checked) {
  return {{"store", context.state.string()},
          {"runs", checked.runs},
          {"events", checked.events},
          {"snapshots", checked.snapshots},
          {"evidence", checked.evidence},
          {"audit", to_string(checked.audit)},
          {"not_checked", store::kNotChecked},
          {"faults", to_json(checked.faults)},
          {"repaired", to_json(checked.repaired)}};
}

void print(const Context& context, const store::Checked& checked) {
  for (const auto& fault : checked.faults)
    say("{}: {}\n    -> {}\n", printable(fault.where), printable(fault.what), fault.advice);
  for (const auto& fault : checked.repaired)
    say("{}: {}; {}\n", printable(fault.where), printable(fault.what), printable(fault.advice));
  const auto many = checked.faults.size();
  const auto whole = checked.repaired.empty() ? "whole" : "nothing is broken but what was repaired";
  const auto verdict = many == 0 ? std::string{whole}
                                 : fmt::format("{}{} broken; nothing was changed",
                                               many == store::kMostFaults ? "at least " : "", many);
  say("{}: {} runs, {} events, {} snapshots, {} pieces of evidence, {} entries of the audit log: "
      "{}\n",
      context.state.string(), checked.runs, checked.events, checked.snapshots, checked.evidence,
      checked.audit.sequence, verdict);
  if (checked.audit.sequence > 0) say("audit log: {}\n", to_string(checked.audit));
  say("not checked: {}\n", store::kNotChecked);
}

/// What the store could not do; 2 where nothing was touched.
Exit refuse(const Context& context, const Error& error) {
  return print_error(context, error,
                     error.code == Code::kStorage ? Exit::unfinished : Exit::invalid);
}

struct VerifyAsked {
  std::string audit_head{}, heads{};
};

Exit check(const Context& context, const VerifyAsked& asked) {
  std::optional<store::AuditHead> kept;
  if (!asked.audit_head.empty()) {
    const auto head = store::audit_head_of(asked.audit_head);
    if (!head) return print_error(context, head.error(), Exit::invalid);
    kept = *head;
  }
  store::ChainHeads heads;
  if (!asked.heads.empty()) {
    auto read = store::read_heads(asked.heads);
    if (!read) return print_error(context, read.error(), Exit::invalid);
    heads = *std::move(read);
  }
  const auto checked = store::check_store(context.state, kept, heads);
  if (!checked) return refuse(context, checked.error());
  if (context.json)
    std::printf("%s\n", boost::json::serialize(to_json(context, *checked)).c_str());
  else
    print(context, *checked);
  return checked->faults.empty() ? Exit::passed : Exit::failed;
}

boost::json::object to_json(const store::Repair& repair, bool dry_run) {
  boost::json::object object{
      {"run", repair.run},   {"dry_run", dry_run},
      {"by", repair.by},     {"reason", repair.reason},
      {"was", repair.phase}, {"freed", boost::json::value_from(repair.freed)}};
  if (repair.damaged_at != 0)
    object["damage"] = {{"event", repair.damaged_at}, {"what", valid_utf8(repair.damage)}};
  return object;
}

void print(const store::Repair& repair, bool dry_run) {
  const bool over = repair.phase == "ended" || repair.phase == "cancelled";
  if (repair.damaged_at != 0)
    say("run {}: its journal is damaged at event {}: {}\n", repair.run, repair.damaged_at,
        printable(repair.damage));
  if (!over && repair.phase != "missing")
    say("run {}: {} cancelled (it is {})\n", repair.run, dry_run ? "would be" : "is",
        printable(repair.phase));
  if (!repair.freed.empty())
    say("{} {} free\n", inventory::fold(repair.freed), dry_run ? "would be" : "are");
  if (dry_run)
    say("nothing was changed\n");
  else
    say("what stands in the journal was left as it is. What the run had started on its nodes ends "
        "at its own limit; in Slurm they stay as they are\n");
}

Exit repair(const Context& context, const store::RepairRequest& request) {
  const auto repaired = store::repair_run(context.state, request);
  if (!repaired) return refuse(context, repaired.error());
  if (context.json)
    std::printf("%s\n", boost::json::serialize(to_json(*repaired, request.dry_run)).c_str());
  else
    print(*repaired, request.dry_run);
  return Exit::passed;
}

std::string megabytes(std::uintmax_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

boost::json::object to_json(const store::Pruned& pruned, bool dry_run) {
  boost::json::object object{{"runs", boost::json::value_from(pruned.runs)},
                             {"dry_run", dry_run},
                             {"events", pruned.events},
                             {"evidence", pruned.evidence},
                             {"evidence_bytes", pruned.evidence_bytes},
                             {"database_bytes", pruned.database_bytes}};
  boost::json::array held;
  for (const auto& [run, why] : pruned.held) held.push_back({{"run", run}, {"why", why}});
  object["held"] = std::move(held);
  if (!pruned.not_given_back.empty()) object["error"] = valid_utf8(pruned.not_given_back);
  return object;
}

void print(const store::Pruned& pruned, bool dry_run) {
  const auto runs = pruned.runs.empty() ? std::string{"no run"}
                                        : fmt::format("run {}", fmt::join(pruned.runs, ", "));
  say("{}{}: {} events, {} pieces of evidence ({})\n", dry_run ? "would remove " : "removed ", runs,
      pruned.events, pruned.evidence, megabytes(pruned.evidence_bytes));
  for (const auto& [run, why] : pruned.held) say("run {} stays: {}\n", run, why);
  if (dry_run)
    say("nothing was changed\n");
  else
    say("the database is {} smaller\n", megabytes(pruned.database_bytes));
}

Exit prune(const Context& context, const store::PruneRequest& request) {
  const auto pruned = store::prune(context.state, request);
  if (!pruned) return refuse(context, pruned.error());
  if (context.json)
    std::printf("%s\n", boost::json::serialize(to_json(*pruned, request.dry_run)).c_str());
  else
    print(*pruned, request.dry_run);
  const auto& why = pruned->not_given_back;
  if (why.empty()) return Exit::passed;
  return print_error(context, Error{Code::kStorage, why}, Exit::unfinished);
}

/// A line each time that another hundredth is done; on a terminal in place of the one before.
class MoveProgress {
 public:
  void operator()(const store::CopyProgress& now) {
    const auto part = now.of == 0 ? 100 : 100 * now.done / now.of;
    const bool terminal = ::isatty(STDERR_FILENO) == 1;
    const auto step = terminal ? 1 : 10;
    if (now.what == what_ && part / step == part_ / step) return;
    what_ = now.what;
    part_ = part;
    say(stderr, "{}{}: {} of {} ({} %){}", terminal ? "\r\x1b[K" : "", now.what, now.done, now.of,
        part, terminal ? "" : "\n");
  }
  ~MoveProgress() {
    if (!what_.empty() && ::isatty(STDERR_FILENO) == 1) say(stderr, "\n");
  }

 private:
  std::string what_{};
  std::int64_t part_ = -1;
};

boost::json::object to_json(const Context& context, const store::Moved& moved) {
  auto object = to_json(context, moved.checked);
  object["rows"] = moved.rows;
  object["evidence_moved"] = moved.evidence;
  object["kept"] = valid_utf8(moved.before);
  return object;
}

void print(const Context& context, const store::Moved& moved) {
  print(context, moved.checked);
  say("{} rows were copied, read back and found the same; {} pieces of evidence were copied\n",
      moved.rows, moved.evidence);
  if (!moved.before.empty())
    say("what was there before is kept, and nothing reads it: {}\n", printable(moved.before));
}

Exit give_up(const Context& context) {
  const auto left = store::give_up_move(context.state);
  if (!left) return refuse(context, left.error());
  if (context.json)
    std::printf("%s\n",
                boost::json::serialize(
                    boost::json::object{{"given_up", true}, {"to_remove", valid_utf8(*left)}})
                    .c_str());
  else
    say("the store stays where it was\n{}",
        left->empty() ? "" : "to remove the copy: " + *left + "\n");
  return Exit::passed;
}

Exit migrate(const Context& context, const std::string& to) {
  std::optional<store::Server> server;
  if (to != "sqlite") {
    auto named = store::parse_server_url(to, working_folder());
    if (!named) return print_error(context, named.error(), Exit::invalid);
    server = *std::move(named);
  }
  const auto moved = [&] {
    MoveProgress progress;
    return store::move_store(context.state, server,
                             [&](const store::CopyProgress& now) { progress(now); });
  }();
  if (!moved) return refuse(context, moved.error());
  if (context.json)
    std::printf("%s\n", boost::json::serialize(to_json(context, *moved)).c_str());
  else
    print(context, *moved);
  return moved->checked.faults.empty() ? Exit::passed : Exit::failed;
}

CommandRow migrate_command(Context& context) {
  auto to = std::make_shared<std::string>();
  auto gives_up = std::make_shared<bool>(false);
  CommandRow row{"migrate", "move the store of the state folder to a PostgreSQL server, or back"};
  row.footer =
      "All of it is copied, read back and compared; only then does store.yaml name the new place.\n"
      "What was there before is kept. No command writes to the store meanwhile. A move that was "
      "cut\n"
      "off goes on with the same command. Refused while a controller works, and where the target\n"
      "is not empty. Step by step: docs/do/postgresql.md.\n"
      "Examples: cupel store migrate --to 'postgresql:///cupel?host=/run/postgresql'\n"
      "          cupel store migrate --to "
      "'postgresql://cupel@db/cupel?ca=/etc/db.pem&password=file:pw'\n"
      "          cupel store migrate --to sqlite\n"
      "Exit codes: 0 moved and intact, 1 moved, and something is broken as it was before, 2 \n"
      "            nothing was moved, 3 it could not be read or written: repeat.";
  row.options = {{"--to", to.get(), "postgresql://...: a server; sqlite: cupel.db in the folder"},
                 {"--give-up",
                  gives_up.get(),
                  "leave the store where it is, after a move that was cut off",
                  {.excludes = {"--to"}}},
                 json_flag(context)};
  row.run = [&context, to, gives_up] {
    if (*gives_up) return give_up(context);
    if (!to->empty()) return migrate(context, *to);
    return print_error(context, Error{Code::kInvalid, "where to? name --to, or --give-up"},
                       Exit::invalid);
  };
  return row;
}

CommandRow store_verify_command(Context& context) {
  CommandRow row{"verify", "read all that is kept and list what is broken; changes nothing"};
  row.footer =
      "Examples: cupel store verify\n"
      "          cupel store verify --audit-head 56:9f86d081...\n"
      "          cupel store verify --heads /elsewhere/heads.json\n"
      "Exit codes: 0 all is intact, 1 something is broken, 2 there is no store or it is of a\n"
      "            newer Cupel, 3 it could not be read.";
  auto asked = std::make_shared<VerifyAsked>();
  row.options = {{"--audit-head", &asked->audit_head,
                  "the audit log's end as it was logged or printed before: shows a log that was "
                  "cut or made anew"},
                 {"--heads", &asked->heads,
                  "the same of all chains, a file: heads.json of a backup, or the JSON that one "
                  "printed [heads.json in the state folder, where it is a backup]"},
                 json_flag(context)};
  row.run = [&context, asked] { return check(context, *asked); };
  return row;
}

CommandRow repair_command(Context& context) {
  auto request = std::make_shared<store::RepairRequest>();
  CommandRow row{"repair",
                 "cancel a run whose journal is damaged, and free the nodes that it holds"};
  row.footer =
      "The journal is not changed: what is still readable may show what happened. The\n"
      "repair is recorded with your name. Refused while a controller works.\n"
      "Example: cupel store repair 12 --reason 'disk was replaced'\n"
      "Exit codes: 0 the run is over and holds no node, 2 it needs no repair, there is no such "
      "run\n"
      "            or a controller works, 3 the store could not be read or written.";
  row.options = {{"RUN", &request->run, "its number", kRequired},
                 {"--reason", &request->reason, "the reason, recorded with your name"},
                 {"--dry-run", &request->dry_run, "show what would be done; change nothing"},
                 json_flag(context)};
  row.run = [&context, request] {
    request->by = login_name();
    return repair(context, *request);
  };
  return row;
}

std::string not_an_age(const std::string& text) {
  return inventory::duration_of(text) ? std::string{} : "not a time, such as 90d: " + text;
}

CommandRow prune_command(Context& context) {
  auto request = std::make_shared<store::PruneRequest>();
  CommandRow row{"prune", "remove old runs, and the evidence that no other run refers to"};
  row.footer =
      "Runs that are not over stay, and so do pinned keys and facts about BMCs. A number is\n"
      "never given to another run. A run stays that a certificate refers to which has not\n"
      "expired, or of which a requalification keeps a part. Refused while a controller works.\n"
      "Example: cupel store prune --older-than 90d --keep 20\n"
      "Exit codes: 0 done (or nothing was to be done), 2 a run named is not over or not there, or\n"
      "            a controller works (nothing was touched), 3 the store could not be written.";
  row.options = {
      {"--older-than",
       [request](const std::string& text) { request->older_than = inventory::duration_of(text); },
       "runs that ended longer ago than this (90d, 12h)",
       {.check = not_an_age, .placeholder = "DURATION"}},
      {"--keep",
       &request->keep,
       "the newest so many runs stay",
       {.range = NumberRange{0, 1'000'000}}},
      {"--verdict",
       [request](const std::string& word) { request->passed = word == "pass"; },
       "only runs of which every machine passed (pass), or only the others (other)",
       {.among = {"pass", "other"}}},
      {"--run",
       &request->runs,
       "this run; repeatable",
       {.excludes = {"--older-than", "--keep", "--verdict"}}},
      {"--dry-run", &request->dry_run, "show what would be removed; change nothing"},
      json_flag(context)};
  row.run = [&context, request] {
    request->by = login_name();
    return prune(context, *request);
  };
  return row;
}

}  // namespace

CommandRow store_command(Context& context) {
  CommandRow row{"store", "journal, snapshots and evidence"};
  row.subcommands = {store_verify_command(context), repair_command(context), prune_command(context),
                     migrate_command(context)};
  return row;
}

}  // namespace cupel::cli
