#include "orchestrator/cli/archive_export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <boost/url/parse.hpp>

#include "base/digest.h"
#include "base/file.h"
#include "base/never_null.h"
#include "base/paths.h"
#include "base/text.h"
#include "inventory/check_files.h"
#include "inventory/read_access.h"
#include "inventory/read_slurm.h"
#include "inventory/yaml.h"
#include "orchestrator/archive/copy.h"
#include "orchestrator/cli/ca_file.h"
#include "orchestrator/cli/interrupt.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/store/certificate_note.h"
#include "orchestrator/store/purpose.h"

namespace cupel::cli {
namespace {

namespace json = boost::json;
using inventory::Problem;

constexpr std::size_t kLargestCertificate = 64u << 20, kLongestPrefix = 200, kLongestRegion = 40;

struct ArchiveOptions {
  archive::Bucket bucket{};
  std::string key{}, prefix = "cupel/", retain{}, lock = "governance";
  std::vector<store::RunId> runs{};
  std::vector<std::string> certificates{};
  bool check = false;
};

bool is_made_of(std::string_view text, std::string_view signs) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || signs.contains(c);
  });
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/// Source: Amazon S3 User Guide, "General purpose bucket naming rules".
bool is_bucket_name(std::string_view name) {
  return name.size() >= 3 && name.size() <= 63 && is_made_of(name, ".-") &&
         is_made_of(name.substr(0, 1), "") && is_made_of(name.substr(name.size() - 1), "") &&
         !name.contains("..");
}

/// Of characters that are never encoded: what is signed is then what is sent. No "." or "..", which
/// some servers resolve.
bool is_prefix(std::string_view prefix) {
  std::string lower{prefix};
  for (char& c : lower)
    if (is_upper(c)) c = 'a';
  if (prefix.size() > kLongestPrefix || !is_made_of(lower, "._-/")) return false;
  if (prefix.ends_with('/')) prefix.remove_suffix(1);
  return std::ranges::none_of(split(prefix, '/'), [](std::string_view part) {
    return part.empty() || part == "." || part == "..";
  });
}

std::optional<std::string> fault_in_endpoint(std::string_view url) {
  if (auto fault = inventory::fault_in_server_url(url, false)) return fault;
  const auto parsed = boost::urls::parse_uri(never_null(url));
  if (parsed && !parsed->encoded_path().empty() && parsed->encoded_path() != "/")
    return "has a host and a port: no path, and the bucket goes into --bucket";
  return std::nullopt;
}

/// Each fault of the options, and of the files that they name.
struct Faults {
  std::vector<Problem> problems{};
  void add(const char* option, std::string_view what) {
    problems.push_back({{option, 0, 0}, printable(what)});
  }
  void add(const char* option, const Result<void>& result) {
    if (!result) add(option, result.error().what);
  }
};

void check_bucket(ArchiveOptions& options, Faults& faults) {
  auto& bucket = options.bucket;
  if (const auto fault = fault_in_endpoint(bucket.endpoint)) faults.add("--endpoint", *fault);
  while (bucket.endpoint.ends_with('/')) bucket.endpoint.pop_back();
  if (!is_bucket_name(bucket.name))
    faults.add("--bucket",
               "a name has 3 to 63 lower-case letters, digits, dots and hyphens, and begins and "
               "ends with a letter or digit");
  if (bucket.in_host && bucket.name.contains('.'))
    faults.add("--virtual-host",
               "no certificate covers a bucket with a dot in its name: leave "
               "--virtual-host out");
  if (bucket.region.empty() || bucket.region.size() > kLongestRegion ||
      !is_made_of(bucket.region, "-"))
    faults.add("--region", "a region is such as eu-central-1");
  std::error_code unknown;
  const auto key = inventory::secret_of(options.key, std::filesystem::current_path(unknown));
  if (!key)
    faults.add("--key",
               "say where it is: file:PATH, env:NAME or cmd:COMMAND; never the key itself");
  else if (key->kind == inventory::SecretRef::Kind::file)
    faults.add("--key", inventory::check_secret_file(key->where));
  if (key) bucket.key = *key;
  faults.add("--ca", check_ca_file(bucket.ca));
}

void check_retention(const ArchiveOptions& options, archive::CopyRequest& request, Faults& faults) {
  if (options.retain.empty()) return;
  const auto span = inventory::duration_of(options.retain);
  if (!span || *span <= std::chrono::seconds{0})
    return faults.add("--retain",
                      "not a time of up to ten years, such as 365d: " + printable(options.retain));
  request.retention = {options.lock == "compliance" ? "COMPLIANCE" : "GOVERNANCE",
                       report::utc(report::wall_now() + *span)};
}

/// Certificates that this store has issued, as its notes say.
void read_certificates(const Context& context, const ArchiveOptions& options,
                       archive::CopyRequest& request, Faults& faults) {
  for (const auto& name : options.certificates) {
    auto bytes = read_file(name, kLargestCertificate);
    if (!bytes) {
      faults.add("--certificate", bytes.error().what);
      continue;
    }
    const auto note = context.state / store::kCertificateFolder / (sha256_hex(*bytes) + ".json");
    if (is_there(note))
      request.certificates.push_back(*std::move(bytes));
    else
      faults.add("--certificate", printable(name) +
                                      " is no certificate that was made of this store, or it was "
                                      "changed since");
  }
}

void check_runs(const store::Store& store, const std::vector<store::RunId>& runs, Faults& faults) {
  for (const auto id : runs) {
    const auto run = store.run(id);
    const bool over =
        run && (run->phase == store::RunPhase::ended || run->phase == store::RunPhase::cancelled);
    if (!run) faults.add("--run", run.error().what);
    if (run && !over) faults.add("--run", fmt::format("run {} is not over", id));
  }
}

OrExit<std::unique_ptr<store::Store>> store_or_exit(const Context& context) {
  if (!store::has_store(context.state))
    return print_error(
        context,
        Error{Code::kNotFound, "there is no store in " + printable(context.state.string())},
        Exit::invalid);
  if (store::purpose_of(context.state) == store::Purpose::rehearsal)
    return print_error(context,
                       Error{Code::kInvalid,
                             "the state folder is a rehearsal's: its machines are virtual, and "
                             "nothing of them goes to a bucket"},
                       Exit::invalid);
  auto store = store::Store::open(context.state);
  if (!store) return print_error(context, store.error(), Exit::unfinished);
  return *std::move(store);
}

json::object to_json(const archive::CopyReport& report) {
  json::object object{
      {"copied", report.copied},
      {"present", report.present},
      {"runs", report.runs},
      {"not_over", json::array(report.not_over.begin(), report.not_over.end())},
      {"audit", to_string(report.audit)},
      {"certificates_missing", json::array(report.certificates.begin(), report.certificates.end())},
      {"locked", report.locked},
      {"unlocked", report.unlocked},
      {"faults", report.faults},
      {"named_faults", json::array(report.named_faults.begin(), report.named_faults.end())}};
  if (report.retention)
    object["retention"] = {{"mode", report.retention->mode}, {"until", report.retention->until}};
  return object;
}

/// "0f3a8812..., and 3 more"
std::string some_of(const std::vector<std::string>& digests) {
  constexpr std::size_t kMost = 5, kDigits = 16;
  std::vector<std::string> some;
  for (std::size_t i = 0; i < std::min(digests.size(), kMost); ++i)
    some.push_back(digests[i].substr(0, kDigits));
  const auto more = digests.size() - some.size();
  return fmt::format("{}{}", fmt::join(some, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

void say_report(const archive::CopyReport& report, const std::string& who, bool check) {
  for (const auto& each : report.named_faults) say("{}\n", printable(each));
  if (report.faults > report.named_faults.size())
    say("and {} more\n", report.faults - report.named_faults.size());
  if (check)
    say("{}: {} objects have the bytes that the store has", who, report.present);
  else
    say("{}: {} objects were copied, {} were there", who, report.copied, report.present);
  say("; {} runs are whole\n", report.runs);
  if (!report.not_over.empty())
    say("not over, and not copied: run {}\n", fmt::join(report.not_over, ", "));
  if (report.audit.sequence > 0) say("audit log: {}\n", to_string(report.audit));
  if (!report.certificates.empty())
    say("{} certificates of this store are not there (SHA-256 {}): name their files with "
        "--certificate\n",
        report.certificates.size(), some_of(report.certificates));
  if (report.retention)
    say("retention, as the server says: {} until {} or later for {} of {} objects looked at\n",
        report.retention->mode, report.retention->until, report.locked,
        report.locked + report.unlocked);
  else if (report.unlocked > 0)
    say("retention, as the server says: none for the {} objects looked at\n", report.unlocked);
}

Exit exit_for(Code code) {
  if (code == Code::kConflict) return Exit::failed;
  return code == Code::kInvalid ? Exit::invalid : Exit::unfinished;
}

Exit export_to_bucket(const Context& context, ArchiveOptions options) {
  Faults faults;
  archive::CopyRequest request{.runs = options.runs, .compares = options.check};
  check_bucket(options, faults);
  request.prefix = options.prefix;
  if (!request.prefix.empty() && !request.prefix.ends_with('/')) request.prefix += '/';
  if (!request.prefix.empty() && !is_prefix(request.prefix))
    faults.add("--prefix",
               "it has at most 200 letters, digits, dots, hyphens, underscores and slashes, and "
               "does not begin with a slash");
  check_retention(options, request, faults);
  read_certificates(context, options, request, faults);
  if (!faults.problems.empty()) return print_error(context, faults.problems);
  TRY(const auto store, store_or_exit(context));
  check_runs(*store, options.runs, faults);
  if (!faults.problems.empty()) return print_error(context, faults.problems);
  asio::io_context io{1};
  archive::BucketClient bucket{options.bucket};
  auto work = archive::copy_store(*store, bucket, std::move(request));
  const auto ended = run_to_end(io, until_interrupted(std::move(work)));
  const auto& report = ended.value;
  if (!report) return print_error(context, report.error(), exit_for(report.error().code));
  if (context.json)
    say("{}\n", json::serialize(to_json(*report)));
  else
    say_report(*report, options.bucket.who(), options.check);
  return report->faults == 0 ? Exit::passed : Exit::failed;
}

}  // namespace

CommandRow s3_row(Context& context) {
  auto options = std::make_shared<ArchiveOptions>();
  CommandRow row{"s3", "copies evidence, journals, certificates and the audit log to a bucket"};
  row.footer =
      "Objects are only added: one that is there with other bytes is an error. What is there is\n"
      "not sent again, so the command may be broken off and repeated, for instance each night.\n"
      "Example: cupel export s3 --endpoint https://s3.example.com --bucket evidence --key "
      "file:s3-key --retain 365d\n"
      "Exit codes: 0 all lies there, 1 something differs, is missing or is not locked as asked,\n"
      "            2 the input is wrong, 3 the bucket or the store could not be read or written.";
  row.options = {
      {"--endpoint", &options->bucket.endpoint,
       "of the server: https://s3.eu-central-1.amazonaws.com", kRequired},
      {"--bucket", &options->bucket.name, "that is there already", kRequired},
      {"--key", &options->key,
       "ACCESS:SECRET or ACCESS:SECRET:SESSION_TOKEN in file:PATH, env:NAME or cmd:COMMAND",
       kRequired},
      {"--region", &options->bucket.region, "of the bucket [us-east-1]"},
      {"--virtual-host", &options->bucket.in_host,
       "the bucket's name goes before the host's, and not into the path"},
      {"--ca", &options->bucket.ca,
       "PEM file of the authority of the server's certificate [the system's]"},
      {"--prefix", &options->prefix, "of all keys; each store needs its own [cupel/]"},
      {"--run", &options->runs, "this run; repeatable [all that are over]"},
      {"--certificate",
       &options->certificates,
       "a certificate that was made of this store; repeatable",
       {.repeatable = true, .placeholder = "FILE"}},
      {"--retain",
       &options->retain,
       "new objects cannot be removed before so long (object lock), such as 365d",
       {.placeholder = "DURATION"}},
      {"--lock",
       &options->lock,
       "who may remove a locked object: who has a right of its own for that (governance), or no "
       "user at all (compliance) [governance]",
       {.among = {"governance", "compliance"}}},
      {"--check", &options->check,
       "write nothing: read each object, and compare it with the store"},
      json_flag(context)};
  row.run = [&context, options] { return export_to_bucket(context, *options); };
  return row;
}

}  // namespace cupel::cli
