// rma: what goes with a part that goes back, as one tar.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "base/digest.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "inventory/model.h"
#include "inventory/parts.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/diagnostic_files.h"
#include "orchestrator/cli/interrupt.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/controller/connections.h"
#include "orchestrator/controller/site_secrets.h"
#include "orchestrator/rma/bug_report.h"
#include "orchestrator/rma/bundle.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kLargestAttached = 256UL << 20U;
constexpr std::chrono::minutes kBugReport{10}, kDiagnostics{30};
constexpr std::chrono::seconds kConnect{20};

struct RmaAsked {
  std::string node{}, part{}, file{};
  std::string inventory{};  // empty: the usual one, where there is one
  engine::RunId run = 0;
  std::vector<std::string> attached{};
  bool no_inventory = false;
  bool bug_report = false;
  bool diagnostics = false;
};

/// The newest run in which something was wrong with it.
Result<report::RunSummary> run_to_complain_of(const store::Store& store, const RmaAsked& asked) {
  if (asked.run != 0) return report::summarize(store, asked.run);
  TRY(const auto runs, store.runs_of(asked.node, 100));
  for (const auto id : runs) {
    TRY(auto summary, report::summarize(store, id));
    for (const auto& node : summary.nodes)
      for (const auto& cause : node.causes)
        if (node.record.node == asked.node && cause.decision == burnin::Decision::fail &&
            inventory::is_about(cause.part, asked.part))
          return summary;
  }
  return Error{Code::kNotFound,
               fmt::format("no run found anything wrong with {}: cupel show {}",
                           asked.part.empty() ? printable(asked.node) : printable(asked.part),
                           printable(asked.node))};
}

/// "rma-a01-n07-gpu3.tar".
std::string file_of(const RmaAsked& asked) {
  if (!asked.file.empty()) return asked.file;
  auto name = fmt::format("rma-{}{}{}.tar", asked.node, asked.part.empty() ? "" : "-", asked.part);
  for (char& c : name)
    if (c == '/' || c == ' ') c = '_';
  return name;
}

/// What the site's inventory gives to a bundle.
struct OfSite {
  std::vector<std::string> secrets{};         // its own passwords around the node
  std::optional<inventory::SshAccess> ssh{};  // to the node
  std::optional<inventory::Inventory> all{};
};

/// The passwords are to be taken out wherever they stand. Without an inventory there are none.
OrExit<OfSite> site_or_exit(const Context& context, const RmaAsked& asked) {
  const auto file = asked.inventory.empty() ? default_inventory() : asked.inventory;
  if (asked.no_inventory) return OfSite{};
  if (asked.inventory.empty() && !is_there(file)) {
    say(stderr,
        "cupel: warning: no inventory ({}), so that the site's own passwords are not looked for: "
        "name it with --inventory\n",
        file);
    return OfSite{};
  }
  TRY(const auto site, inventory_or_exit(context, file));
  auto secrets = controller::site_secrets(site, asked.node);
  const auto* node = site.node(asked.node);
  for (const auto& why : secrets.unread)
    say(stderr, "cupel: warning: {}: this secret is not looked for in what is sent\n",
        printable(why));
  return OfSite{std::move(secrets.values), node ? std::optional{node->ssh} : std::nullopt, site};
}

Task<Result<std::optional<std::string>>> fetch_bug_report(std::string node,
                                                          inventory::SshAccess access,
                                                          inventory::KnownKeys& known) {
  const auto deadline = Deadline::in(kBugReport);
  CO_TRY(const auto session, co_await ssh::connect(node, access, known, deadline.sooner(kConnect)));
  co_return co_await rma::nvidia_bug_report(*session, access.sudo, deadline);
}

/// Of a node that does not answer, or has no such tool, there is none: the rest is sent without it.
/// Errors: kCancelled.
Result<std::string> bug_report_or_warn(store::Store& store, const RmaAsked& asked,
                                       const OfSite& site) {
  if (!site.ssh) {
    say(stderr, "cupel: warning: no inventory says how to log in to {}: no nvidia-bug-report\n",
        printable(asked.node));
    return std::string{};
  }
  asio::io_context io{1};
  auto work = fetch_bug_report(asked.node, *site.ssh, store);
  const auto ended = run_to_end(io, until_interrupted(std::move(work)));
  if (ended.interrupted) return Error{Code::kCancelled, "interrupted: nothing was written"};
  if (!ended.value)
    say(stderr, "cupel: warning: no nvidia-bug-report of {}: {}\n", printable(asked.node),
        printable(ended.value.error().what));
  else if (!*ended.value)
    say(stderr, "cupel: warning: {} has no nvidia-bug-report.sh: left out\n",
        printable(asked.node));
  return ended.value && *ended.value ? **ended.value : std::string{};
}

/// In memory: an archive is made whole.
class FilesInMemory final : public DiagnosticFiles {
 public:
  Result<void> begin(const std::string&) override {
    part_.clear();
    return ok();
  }
  Result<void> add(std::string_view piece) override {
    if (piece.size() > kLargestAttached - held_ - part_.size())
      return Error{Code::kInvalid,
                   fmt::format("what the BMC collected has more than {} MiB: fetch it with cupel "
                               "bmc NODE diagnostics, and send it beside the archive",
                               kLargestAttached >> 20U)};
    part_ += piece;
    return ok();
  }
  Result<void> end(const std::string& name) override {
    // A tar has room for 100 bytes of a path. The end of the name has the entry and the time.
    constexpr std::size_t kLongest = 57;
    held_ += part_.size();
    auto kept = name.substr(name.size() - std::min(name.size(), kLongest));
    const bool taken = std::ranges::find(files, kept, &rma::BundleFile::name) != files.end();
    if (taken) kept = fmt::format("{}-{}", files.size() + 1, kept);
    files.push_back({std::move(kept), std::exchange(part_, {})});
    return ok();
  }

  std::vector<rma::BundleFile> files{};

 private:
  std::string part_{};
  std::size_t held_ = 0;
};

Task<Result<Collected>> fetch_diagnostics(controller::Connections& connections,
                                          const inventory::Node& node, FilesInMemory& into) {
  const auto bmc = connections.bmc(node);
  auto collected = co_await collect_diagnostics(*bmc, node.name, std::string{kUsualDiagnostics},
                                                kLargestAttached, into, Deadline::in(kDiagnostics));
  co_await bmc->log_out();
  co_return collected;
}

void warn_of_unscrubbed(const std::vector<rma::BundleFile>& files) {
  for (const auto& each : files)
    if (!rma::is_text(each.bytes))
      say(stderr,
          "cupel: warning: diagnostics/{} is put in as the BMC made it: passwords, keys and "
          "addresses may be in it; unpack and read it before you send it\n",
          each.name);
}

/// What the BMC does not offer, or did not collect, is named: the rest is sent without it.
/// Errors: kCancelled.
Result<std::vector<rma::BundleFile>> diagnostics_or_warn(store::Store& store, const RmaAsked& asked,
                                                         const OfSite& site) {
  const auto warn = [&](const std::string& why) {
    say(stderr, "cupel: warning: diagnostic data of {}: {}\n", printable(asked.node), why);
  };
  const auto* node = site.all ? site.all->node(asked.node) : nullptr;
  if (node == nullptr) {
    warn("no inventory has its BMC");
    return std::vector<rma::BundleFile>{};
  }
  controller::Connections connections{*site.all, store};
  FilesInMemory into;
  const auto ended =
      run_to_end(connections.io(), until_interrupted(fetch_diagnostics(connections, *node, into)));
  if (ended.interrupted) return Error{Code::kCancelled, "interrupted: nothing was written"};
  if (!ended.value) warn(printable(ended.value.error().what));
  for (const auto& each : ended.value ? ended.value->failures : std::vector<std::string>{})
    warn(each);
  warn_of_unscrubbed(into.files);
  return std::move(into.files);
}

Result<std::vector<rma::BundleFile>> files_of(store::Store& store, const RmaAsked& asked,
                                              OfSite site, report::RunSummary& summary) {
  TRY(summary, run_to_complain_of(store, asked));
  rma::BundleRequest request{.node = asked.node, .part = asked.part};
  if (asked.bug_report) {
    TRY(request.bug_report, bug_report_or_warn(store, asked, site));
  }
  if (asked.diagnostics) {
    TRY(request.diagnostics, diagnostics_or_warn(store, asked, site));
  }
  request.secrets = std::move(site.secrets);
  for (const auto& path : asked.attached) {
    TRY(auto bytes, read_file(path, kLargestAttached));
    request.attached.push_back({std::filesystem::path{path}.filename().string(), std::move(bytes)});
  }
  TRY(auto files, rma::bundle_of(store, summary, request));
  const auto folder = std::filesystem::path{file_of(asked)}.stem().string();
  for (auto& each : files) each.name = folder + "/" + each.name;
  return files;
}

Exit write_bundle(const Context& context, const RmaAsked& asked) {
  const auto store = store::Store::open(context.state);
  if (!store) return print_error(context, store.error(), Exit::unfinished);
  TRY(auto site, site_or_exit(context, asked));
  report::RunSummary summary;
  const auto files = files_of(**store, asked, std::move(site), summary);
  if (!files)
    return print_error(context, files.error(),
                       files.error().code == Code::kCancelled ? Exit::unfinished : Exit::invalid);
  const auto ended = std::chrono::floor<std::chrono::seconds>(summary.run.ended);
  const auto file = file_of(asked);
  auto tar = rma::tar_of(*files, ended);
  if (!tar) return print_error(context, std::move(tar).error().within(file), Exit::invalid);
  const auto written = write_file(file, *tar, 0600);
  if (!written) return print_error(context, written.error(), Exit::unfinished);
  const auto digest = sha256_hex(*tar);
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"file", file},
                                                           {"run", summary.run.id},
                                                           {"files", files->size()},
                                                           {"sha256", digest}}));
  else
    say("{}wrote {}: {} files of run {}, {} bytes\nSHA-256 {}\nread it: tar -xOf {} {}\n",
        rehearsal_line(context.state), file, files->size(), summary.run.id, tar->size(), digest,
        file, files->front().name);
  return Exit::passed;
}

}  // namespace

CommandRow rma_command(Context& context) {
  auto asked = std::make_shared<RmaAsked>();
  CommandRow row{
      "rma",
      "what a vendor wants with a part that goes back, as one tar; known secrets are taken out"};
  row.footer =
      "Examples: cupel rma a01-n07 --part gpu3\n"
      "          cupel rma a01-n07 --part gpu3 --bug-report\n"
      "          cupel rma a01-n07 --part gpu3 --diagnostics\n"
      "          cupel rma a01-n07 --part gpu3 --attach nvidia-bug-report.log.gz";
  row.options = {
      {"NODE", &asked->node, "its name", kRequired},
      {"--part", &asked->part, "such as gpu3 [all that failed]"},
      {"--run", &asked->run, "[the newest run that found something wrong with it]"},
      {"--attach",
       &asked->attached,
       "a file to put in as it is, such as nvidia-bug-report.log.gz; repeatable",
       {.repeatable = true}},
      {"--bug-report", &asked->bug_report,
       "log in to the node, run nvidia-bug-report.sh where it has it, and put in what it wrote, "
       "without secrets; at most 10 minutes"},
      {"--diagnostics", &asked->diagnostics,
       "have the BMC collect its diagnostic data, and put that in: texts without secrets, what is "
       "packed as it is; at most 30 minutes"},
      {"-o,--output", &asked->file, "[rma-NODE-PART.tar]"},
      {"-i,--inventory", &asked->inventory,
       "whose passwords are taken out wherever they stand [$CUPEL_INVENTORY, ./inventory.yaml, "
       "/etc/cupel/inventory.yaml]"},
      {"--no-inventory",
       &asked->no_inventory,
       "look for no password of the site; what stands behind words such as password is taken out "
       "all the same",
       {.excludes = {"--inventory", "--bug-report", "--diagnostics"}}},
      json_flag(context)};
  row.run = [&context, asked] { return write_bundle(context, *asked); };
  return row;
}

}  // namespace cupel::cli
