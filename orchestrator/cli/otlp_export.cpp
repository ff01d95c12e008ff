#include "orchestrator/cli/otlp_export.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "inventory/check_files.h"
#include "inventory/read_access.h"
#include "inventory/read_bmc.h"
#include "inventory/secret.h"
#include "orchestrator/api/notice_settings.h"
#include "orchestrator/api/otlp_run.h"
#include "orchestrator/api/otlp_sender.h"
#include "orchestrator/cli/ca_file.h"
#include "orchestrator/cli/say.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr std::chrono::minutes kPatience{10};
constexpr milliseconds kFirstPause{1000}, kLongestPause{30'000};
constexpr int kMostTries = 4;  // of the same request

struct OtlpOptions {
  engine::RunId run = 0;
  std::string url{}, token{}, ca{};
};

/// All that is wrong with the options at once. Errors: kInvalid; kNotFound.
Result<handoff::ApiClient> client_of(const OtlpOptions& options) {
  std::vector<std::string> faults;
  if (const auto fault = api::fault_in_hook_url(api::NoticeHook::Kind::otlp, options.url))
    faults.push_back("--url: " + *fault);
  else if (options.url.contains('?'))
    faults.emplace_back("--url: the address has a query: it ends in front of /v1/traces");
  std::optional<inventory::SecretRef> token;
  if (!options.token.empty()) {
    std::error_code unknown;
    token = inventory::secret_of(options.token, fs::current_path(unknown));
    if (!token) faults.push_back("--token " + std::string{inventory::kSecretForm});
  }
  if (token && token->kind == inventory::SecretRef::Kind::file)
    if (const auto fit = inventory::check_secret_file(token->where); !fit)
      faults.push_back(fit.error().what);
  if (const auto fit = check_ca_file(options.ca); !fit) faults.push_back(fit.error().what);
  std::string all;
  for (const auto& fault : faults) all += (all.empty() ? "" : "; ") + fault;
  if (!all.empty()) return Error{Code::kInvalid, all};
  return api::otlp_client(options.url, options.ca, std::move(token), "the command line");
}

/// Sends them all; what a receiver puts off is tried again after as long as it asks for. Errors: as
/// api::send_otlp().
Task<Result<void>> send_all(handoff::ApiClient& client,
                            const std::vector<api::OtlpRequest>& requests,
                            api::OtlpProgress& progress) {
  const auto deadline = Deadline::in(kPatience);
  std::size_t at = 0;
  auto pause = kFirstPause;
  for (int tries = 1;; ++tries) {
    auto sent = co_await api::send_otlp(client, requests, progress, deadline);
    if (sent || !is_transient(sent.error().code)) co_return sent;
    if (progress.next > at) {
      at = progress.next;
      tries = 1;
      pause = kFirstPause;
    }
    const auto wait = std::max(pause, sent.error().retry_after);
    if (tries == kMostTries || wait >= deadline.left()) co_return sent;
    pause = std::min(2 * pause, kLongestPause);
    CO_TRY(co_await pause_for(wait));
  }
}

json::object json_of(const std::vector<api::OtlpRequest>& requests,
                     const api::OtlpProgress& progress, engine::RunId run) {
  json::object counts{{"run", run}};
  for (const auto& [signal, key] : {std::pair{api::OtlpSignal::traces, "spans"},
                                    {api::OtlpSignal::logs, "records"},
                                    {api::OtlpSignal::metrics, "points"}}) {
    std::size_t items = 0;
    for (const auto& each : requests)
      if (each.signal == signal) items += each.items;
    counts[key] = items;
  }
  counts["rejected"] = progress.rejected;
  if (!progress.why.empty()) counts["why"] = progress.why;
  return counts;
}

std::int64_t count_in(const json::object& counts, std::string_view key) {
  return counts.at(key).to_number<std::int64_t>();
}

void say_counts(const Context& context, const json::object& counts) {
  if (context.json) return say("{}\n", json::serialize(counts));
  say("run {}: {} spans, {} log records and {} data points are sent\n", count_in(counts, "run"),
      count_in(counts, "spans"), count_in(counts, "records"), count_in(counts, "points"));
  const auto* why = counts.if_contains("why");
  if (count_in(counts, "rejected") > 0 || why != nullptr)
    say("the receiver rejected {} of them{}{}\n", count_in(counts, "rejected"),
        why == nullptr ? "" : ": ",
        why == nullptr ? std::string_view{} : std::string_view{why->as_string()});
}

Result<std::vector<api::OtlpRequest>> requests_of(const Context& context, engine::RunId& id) {
  TRY(const auto store, store::Store::open(context.state));
  TRY(const auto run, meant_run(*store, id));
  TRY(const auto journal, store::JournalReader::open(context.state));
  id = run.id;
  return api::otlp_of_run(run, journal, CUPEL_VERSION);
}

Exit export_run(const Context& context, const OtlpOptions& options) {
  auto client = client_of(options);
  if (!client) return print_error(context, client.error(), Exit::invalid);
  auto id = options.run;
  const auto requests = requests_of(context, id);
  if (!requests)
    return print_error(context, requests.error(),
                       requests.error().code == Code::kStorage ? Exit::unfinished : Exit::invalid);
  asio::io_context io{1};
  api::OtlpProgress progress;
  const auto sent = run_to_end(io, send_all(*client, *requests, progress));
  if (!sent)
    return print_error(
        context,
        Error{sent.error().code, fmt::format("{}; {} of {} requests were taken before it",
                                             sent.error().what, progress.next, requests->size())},
        Exit::unfinished);
  say_counts(context, json_of(*requests, progress, id));
  return progress.rejected == 0 ? Exit::passed : Exit::failed;
}

}  // namespace

CommandRow otlp_row(Context& context) {
  auto options = std::make_shared<OtlpOptions>();
  CommandRow row{"otlp",
                 "sends a run that is over to an OpenTelemetry receiver, by OTLP/HTTP JSON"};
  row.footer =
      "Example: cupel export otlp --url https://collector.example.com:4318 --token file:token\n"
      "Exit codes: 0 sent, 1 sent, and the receiver rejected a part, 2 the input is wrong, or the\n"
      "            run is not over, 3 it could not be sent.";
  row.options = {
      {"--run", &options->run, "its number [the newest]", {.range = NumberRange{1, 2e9}}},
      {"--url", &options->url,
       "of the receiver, without /v1/traces: https://collector.example.com:4318", kRequired},
      {"--token", &options->token,
       "sent as Authorization: Bearer; file:PATH, env:NAME or cmd:COMMAND [none]"},
      {"--ca", &options->ca, "PEM file of the authority of its certificate [the system's]"},
      json_flag(context)};
  row.run = [&context, options] { return export_run(context, *options); };
  return row;
}

}  // namespace cupel::cli
