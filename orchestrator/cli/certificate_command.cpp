// certificate and verify: what a run has found out about its machines, signed, and read by people
// who have neither the store nor trust in it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/file.h"
#include "base/login.h"
#include "base/ownership.h"
#include "base/text.h"
#include "inventory/node_range.h"
#include "inventory/yaml.h"
#include "orchestrator/certificate/envelope.h"
#include "orchestrator/certificate/meant_run.h"
#include "orchestrator/certificate/revoked.h"
#include "orchestrator/certificate/statement.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/signing_key.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/cli/time_stamps.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/store/audit_log.h"
#include "orchestrator/store/certificate_note.h"
#include "orchestrator/store/journal_file.h"

namespace cupel::cli {
namespace {

using certificate::Certified;

constexpr std::size_t kLargestKey = 16UL << 10U;
constexpr std::size_t kLargestCertificate = certificate::kLargestPayload * 2;
constexpr std::size_t kLargestRevoked = 1UL << 20U;
constexpr std::string_view kJournalEnding = ".journal";

struct IssueAsked {
  std::string what{};  // a number, a node or a rack; empty: the newest run
  engine::RunId run = 0;
  std::string nodes{}, key{}, file{}, tsa{}, tsa_ca{};
  std::string valid = "365d";
  bool journal = false;
};

engine::WallTime now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

Result<std::set<std::string>> names_in(const std::string& nodes) {
  std::set<std::string> names;
  if (nodes.empty()) return names;
  TRY(auto expanded, inventory::expand(nodes));
  names.insert(std::make_move_iterator(expanded.begin()), std::make_move_iterator(expanded.end()));
  return names;
}

/// Beside the certificate: "it.certificate.run-12.journal".
std::string kept_journal_name(const std::string& certificate, engine::RunId run) {
  return fmt::format("{}.run-{}{}", certificate, run, kJournalEnding);
}

/// Empty where the log has no entry.
Result<std::string> audit_head(const store::Store& store) {
  TRY(const auto log, store::AuditLog::open(store.folder()));
  TRY(const auto newest, log.newest("", 1));
  if (newest.empty()) return std::string{};
  return to_string(store::AuditHead{newest.back().sequence, newest.back().hash});
}

struct Issued {
  std::string sealed{};
  std::string payload_sha256{};  // by which it is revoked
};

/// The stamp first: without the one that was asked for there is no certificate.
Result<void> write_sealed(const IssueAsked& asked, std::string_view sealed,
                          const std::optional<Tsa>& tsa, engine::WallTime at) {
  if (tsa) {
    TRY(const auto stamped, within("no certificate is written", stamp(*tsa, sealed, at)));
    TRY(write_file(time_stamp_name(asked.file), stamped, kReadableByAll));
  } else {
    // The stamp of a former certificate of this name would be taken for this one's.
    std::error_code failed;
    std::filesystem::remove(time_stamp_name(asked.file), failed);
    if (failed)
      return Error{Code::kStorage,
                   fmt::format("cannot remove {}, the stamp of another certificate: {}",
                               time_stamp_name(asked.file), failed.message())};
  }
  return write_file(asked.file, sealed, kReadableByAll);
}

Result<Issued> issue(const store::Store& store, const IssueAsked& asked) {
  TRY(const auto key, signing_key(asked.key));
  TRY(const auto tsa, tsa_of(asked.tsa, asked.tsa_ca));
  TRY(const auto names, names_in(asked.nodes));
  const auto valid = inventory::duration_of(asked.valid);
  if (!valid)
    return Error{Code::kInvalid, "--valid " + printable(asked.valid) + ": expected such as 365d"};
  TRY(const auto summary, report::summarize(store, asked.run));
  TRY(const auto broken, store.broken_at(asked.run));
  if (broken)
    return Error{Code::kMalformed, fmt::format("the journal of run {} was changed at event {}: no "
                                               "certificate is made of it; cupel store verify",
                                               asked.run, *broken)};
  certificate::Issue issue{.at = now(), .by = login_name(), .nodes = names};
  issue.expires = issue.at + *valid;
  TRY(issue.audit_head, audit_head(store));
  TRY(issue.kept, certificate::kept_runs(store, summary));
  if (asked.journal) {
    TRY(const auto end,
        store::write_journal(store, asked.run, asked.file + std::string{kJournalEnding}));
    issue.journal_sha256 = end.sha256;
    for (auto& each : issue.kept) {
      const auto run = each.summary.run.id;
      TRY(const auto kept, store::write_journal(store, run, kept_journal_name(asked.file, run)));
      each.journal_sha256 = kept.sha256;
    }
  }
  TRY(const auto statement, certificate::statement_of(summary, issue));
  const auto payload = certificate::payload_of(statement);
  // What cupel verify would refuse is not signed.
  TRY([[maybe_unused]] const auto read,
      within("no certificate is made", certificate::read_statement(payload)));
  TRY(auto sealed, certificate::seal(payload, key));
  TRY(write_sealed(asked, sealed, tsa, issue.at));
  std::vector<engine::RunId> runs{asked.run};
  for (const auto& each : issue.kept) runs.push_back(each.summary.run.id);
  TRY(store::note_certificate(store.folder(), sha256_hex(sealed), runs, issue.expires));
  return Issued{std::move(sealed), sha256_hex(payload)};
}

/// The run that is meant, its nodes and the file. Errors: kInvalid; kNotFound; kStorage.
Result<void> settle(const store::Store& store, IssueAsked& asked) {
  if (const auto number = cupel::number<engine::RunId>(asked.what); number && *number > 0) {
    asked.run = *number;
  } else if (asked.what.empty()) {
    TRY(const auto run, meant_run(store, 0));
    asked.run = run.id;
  } else {
    if (!asked.nodes.empty())
      return Error{Code::kInvalid, "name a node or a rack, or a run with --nodes, not both"};
    TRY(const auto meant, certificate::meant_run(store, asked.what));
    asked.run = meant.run;
    asked.nodes = fmt::format("{}", fmt::join(meant.nodes, ","));
    if (asked.file.empty()) asked.file = asked.what + ".certificate";
  }
  if (asked.file.empty()) asked.file = fmt::format("run-{}.certificate", asked.run);
  return ok();
}

Exit issue(const Context& context, IssueAsked asked) {
  const auto store = store::Store::open(context.state);
  if (!store) return print_error(context, store.error(), Exit::unfinished);
  if (const auto settled = settle(**store, asked); !settled)
    return print_error(context, settled.error(),
                       settled.error().code == Code::kStorage ? Exit::unfinished : Exit::invalid);
  const auto issued = issue(**store, asked);
  if (!issued) {
    const auto code = issued.error().code;
    const bool may_come = is_transient(code) || code == Code::kCancelled;
    return print_error(context, issued.error(), may_come ? Exit::unfinished : Exit::invalid);
  }
  const auto digest = sha256_hex(issued->sealed);
  const auto stamp_file = asked.tsa.empty() ? std::string{} : time_stamp_name(asked.file);
  if (context.json)
    std::printf("%s\n", boost::json::serialize(
                            boost::json::object{
                                {"certificate", asked.file},
                                {"run", asked.run},
                                {"sha256", digest},
                                {"time_stamp", stamp_file.empty() ? boost::json::value{}
                                                                  : boost::json::value{stamp_file}},
                                {"payload_sha256", issued->payload_sha256}})
                            .c_str());
  else
    say("wrote {}{}{} of run {}\nSHA-256 {}\npayload SHA-256 {} (to revoke it)\ncheck it: cupel "
        "verify {} "
        "--key PUBLIC\n",
        asked.file, asked.journal ? " and " + asked.file + std::string{kJournalEnding} : "",
        stamp_file.empty() ? "" : " and " + stamp_file, asked.run, digest, issued->payload_sha256,
        asked.file);
  return Exit::passed;
}

struct VerifyAsked {
  std::string file{}, journal{}, revoked{}, tsa_ca{};
  std::vector<std::string> keys{};
};

struct Verified {
  Certified says{};
  std::string key_id{}, sha256{}, payload_sha256{};
  StampBeside time_stamp{};
  std::string journal{};  // what was found out about it, for people
  std::vector<std::pair<engine::RunId, std::string>> kept_journals{};  // the same
};

Result<void> check_revoked(const std::string& file, const Verified& verified) {
  if (file.empty()) return ok();
  TRY(const auto list, read_trusted_file(file, kLargestRevoked));
  return within(file, certificate::check_revoked(
                          list, {verified.payload_sha256, verified.sha256, verified.key_id}));
}

/// That the file is the journal of which the certificate tells, whole to the run's start. Empty
/// `file`: there is none.
Result<std::string> check_journal(const std::string& file, const certificate::KeptJournal& says) {
  if (file.empty()) return std::string{"not checked: no file of it beside the certificate"};
  TRY(const auto end, within(file, store::check_journal(file)));
  if (end.run != says.run || end.events != says.events || end.head != says.head)
    return Error{Code::kUntrusted,
                 fmt::format("{}: it is not the journal of this certificate: {} events of run {}, "
                             "not {} of run {}, or they end in another hash",
                             file, end.events, end.run, says.events, says.run)};
  if (says.file_sha256.empty() && end.cut > 0)
    return Error{Code::kUntrusted,
                 file + ": events of it are cut, and the certificate does not say its SHA-256"};
  if (!says.file_sha256.empty() && says.file_sha256 != end.sha256)
    return Error{Code::kUntrusted, file + ": it has another SHA-256 than the certificate says"};
  auto words = fmt::format(
      "whole: {} events up to the run's start, each held against the one before it", end.events);
  if (end.cut > 0)
    words +=
        fmt::format("; {} without the boot ticket that stood in {}, so its own hash is not checked",
                    end.cut, end.cut == 1 ? "it" : "them");
  return words;
}

/// Empty where there is none.
std::string where_it_is(const std::string& file) {
  std::error_code unknown;
  return std::filesystem::exists(file, unknown) ? file : std::string{};
}

/// Of the run and of each run whose evidence is kept.
Result<void> check_journals(const VerifyAsked& asked, Verified& verified) {
  const auto& says = verified.says;
  const auto own =
      asked.journal.empty() ? where_it_is(asked.file + std::string{kJournalEnding}) : asked.journal;
  TRY(verified.journal,
      check_journal(own, {says.run, says.events, says.head, says.journal_sha256}));
  for (const auto& each : says.kept) {
    TRY(auto words, check_journal(where_it_is(kept_journal_name(asked.file, each.run)), each));
    verified.kept_journals.emplace_back(each.run, std::move(words));
  }
  return ok();
}

Result<void> check_times(const Certified& says) {
  const auto time = now();
  if (says.issued > time + kClockSkew)
    return Error{Code::kUntrusted,
                 fmt::format("it is not valid yet: it was issued at {}, and here it is {}. Check "
                             "the clock of this machine; if it is right, that of the signer was "
                             "wrong: have the certificate issued again",
                             report::utc(says.issued), report::utc(time))};
  if (says.expires <= time)
    return Error{Code::kUntrusted, "it expired at " + report::utc(says.expires)};
  return ok();
}

Result<Verified> verify(const VerifyAsked& asked) {
  std::optional<std::string> authorities;
  if (!asked.tsa_ca.empty()) {
    TRY(authorities, authorities_in(asked.tsa_ca));
  }
  TRY(const auto text, read_file(asked.file, kLargestCertificate));
  std::vector<std::string> keys;
  for (const auto& file : asked.keys) {
    TRY(const auto text_of_key, read_trusted_file(file, kLargestKey));
    TRY(auto key, within(file, public_key_pem(text_of_key)));
    keys.push_back(std::move(key));
  }
  TRY(const auto opened, within(asked.file, certificate::open(text, keys)));
  Verified verified{.key_id = opened.key_id,
                    .sha256 = sha256_hex(text),
                    .payload_sha256 = sha256_hex(opened.payload)};
  TRY(verified.says, within(asked.file, certificate::read_statement(opened.payload)));
  TRY(check_revoked(asked.revoked, verified));
  TRY(within(asked.file, check_times(verified.says)));
  TRY(verified.time_stamp, check_stamp_beside(asked.file, text, authorities, verified.says.issued));
  TRY(check_journals(asked, verified));
  return verified;
}

/// null: it was not checked, or there is none.
boost::json::value to_json(const StampBeside& beside) {
  if (!beside.stamp) return nullptr;
  const auto& stamp = *beside.stamp;
  return boost::json::object{{"at", report::utc(stamp.at)},
                             {"by", stamp.by},
                             {"serial", stamp.serial},
                             {"policy", stamp.policy}};
}

boost::json::array media_json(const certificate::CertifiedNode& node) {
  boost::json::array all;
  for (const auto& each : node.media)
    all.push_back({{"serial", each.serial},
                   {"result", each.result},
                   {"method", each.method},
                   {"technique", each.technique},
                   {"tool", each.tool},
                   {"why", each.why},
                   {"at", each.at}});
  return all;
}

boost::json::object to_json(const Verified& verified) {
  const auto& says = verified.says;
  boost::json::array nodes;
  for (const auto& node : says.nodes)
    nodes.push_back({{"node", node.node},
                     {"chassis_serial", node.serial},
                     {"profile", node.profile},
                     {"verdict", node.decision},
                     {"criteria", node.criteria},
                     {"not_met", node.not_met},
                     {"media", media_json(node)},
                     {"kept_runs", boost::json::array(node.kept.begin(), node.kept.end())}});
  boost::json::array kept;
  for (const auto& [run, words] : verified.kept_journals)
    kept.push_back({{"run", run}, {"journal", words}});
  return {{"valid", true},
          {"sha256", verified.sha256},
          {"payload_sha256", verified.payload_sha256},
          {"key_id", verified.key_id},
          {"site", says.site},
          {"run", says.run},
          {"playbook", says.playbook},
          {"rehearsal", says.rehearsal},
          {"issued", report::utc(says.issued)},
          {"issued_by", says.issued_by},
          {"expires", report::utc(says.expires)},
          {"time_stamp", to_json(verified.time_stamp)},
          {"journal", verified.journal},
          {"kept_journals", std::move(kept)},
          {"nodes", std::move(nodes)}};
}

void print_media(const Certified& says) {
  std::vector<Row> rows{{"node", "medium", "result", "NIST 800-88", "how, or why not", "at"}};
  for (const auto& node : says.nodes)
    for (const auto& each : node.media)
      rows.push_back({node.node, each.serial, each.result,
                      each.method.empty() ? std::string{"-"} : each.method,
                      each.tool.empty() ? each.why : each.tool, each.at});
  if (rows.size() > 1) say("\n{}\n", table(rows));
}

void print(const VerifyAsked& asked, const Verified& verified) {
  const auto& says = verified.says;
  if (says.rehearsal) say("REHEARSAL: virtual machines, nothing here was tested on hardware\n");
  say("{}: valid, signed by key {}\n", asked.file, verified.key_id);
  say("  site {}, run {} ({}), issued {} by {}, until {}\n", says.site, says.run, says.playbook,
      report::utc(says.issued), says.issued_by, report::utc(says.expires));
  say("  payload SHA-256 {}\n", verified.payload_sha256);
  say("  time stamp: {}\n", verified.time_stamp.words);
  say("  journal {}\n", verified.journal);
  for (const auto& [run, words] : verified.kept_journals)
    say("  journal of run {}, whose evidence is kept: {}\n", run, words);
  std::vector<Row> rows{{"node", "chassis serial", "profile", "verdict", "criteria", "not met"}};
  for (const auto& node : says.nodes)
    rows.push_back({node.node, node.serial, node.profile, node.decision,
                    std::to_string(node.criteria), std::to_string(node.not_met)});
  say("\n{}\n", table(rows));
  print_media(says);
  for (const auto& node : says.nodes)
    if (!node.kept.empty())
      say("{}: some of these are of earlier runs, which it passed and whose evidence no repair has "
          "made void: {}\n",
          node.node, fmt::join(node.kept, ", "));
}

Exit verify(const Context& context, const VerifyAsked& asked) {
  const auto verified = verify(asked);
  if (!verified) {
    const auto code = verified.error().code;
    const bool is_bad = code == Code::kUntrusted || code == Code::kMalformed;
    return print_error(context, verified.error(), is_bad ? Exit::failed : Exit::invalid);
  }
  if (context.json)
    std::printf("%s\n", boost::json::serialize(to_json(*verified)).c_str());
  else
    print(asked, *verified);
  return Exit::passed;
}

}  // namespace

CommandRow certificate_command(Context& context) {
  auto asked = std::make_shared<IssueAsked>();
  CommandRow row{"certificate", "sign what a run has found out, for others"};
  row.footer =
      "Examples: cupel certificate 12 --key site.key --journal\n"
      "          cupel certificate a01-n07 --key site.key";
  row.options = {
      {"RUN", &asked->what,
       "its number [the newest]; or a node or a rack: the newest run that has a verdict "
       "of it, with these nodes alone"},
      {"-n,--nodes", &asked->nodes, "such as a01-n[01-08] [all of the run]"},
      {"--key", &asked->key, kSigningKeyHelp, kRequired},
      {"-o,--output", &asked->file, "[run-RUN.certificate, NODE.certificate]"},
      {"--valid", &asked->valid, "how long, such as 365d [365d]"},
      {"--tsa", &asked->tsa,
       "URL of a time-stamping authority (RFC 3161): its answer is written beside the "
       "certificate, as FILE.tsr"},
      {"--tsa-ca", &asked->tsa_ca, "certificates (PEM) of those who may have signed that of --tsa"},
      {"--journal", &asked->journal,
       "write the run's journal beside it, to be checked up to its start, and those of "
       "runs whose evidence is kept"},
      json_flag(context)};
  row.run = [&context, asked] { return issue(context, *asked); };
  return row;
}

CommandRow verify_command(Context& context) {
  auto asked = std::make_shared<VerifyAsked>();
  CommandRow row{"verify", "check a certificate; needs no store"};
  row.footer = "Example: cupel verify run-12.certificate --key site.pub";
  row.options = {
      {"CERTIFICATE", &asked->file, "", kRequired},
      {"--key", &asked->keys,
       "public key of Ed25519, PEM or as ssh-keygen writes it; any of several", kRequired},
      {"--journal", &asked->journal, "[CERTIFICATE.journal where it is there]"},
      {"--revoked", &asked->revoked,
       "lines of SHA-256, of certificates' payloads and of keys that do not count any more; a line "
       "without one is an error"},
      {"--tsa-ca", &asked->tsa_ca,
       "certificates (PEM) of those who may have signed the time-stamping authority's: "
       "CERTIFICATE.tsr must be there and hold"},
      json_flag(context)};
  row.run = [&context, asked] { return verify(context, *asked); };
  return row;
}

}  // namespace cupel::cli
