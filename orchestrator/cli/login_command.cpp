// `cupel login` and `cupel logout`: a person's login at a service by the site's identity provider.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/paths.h"
#include "base/text.h"
#include "inventory/read_slurm.h"
#include "orchestrator/api/kept_login.h"
#include "orchestrator/api/service_client.h"
#include "orchestrator/cli/ca_file.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/report/summary.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kAskPatience{60};
constexpr std::chrono::hours kPatience{1};
constexpr const char* kUsualScope = "openid offline_access";

struct LoginOptions {
  std::string server{}, issuer{}, client{}, scope{}, ca{};
};

/// Where the login is kept. Errors: kInvalid.
struct Place {
  api::ServerAddress server{};
  fs::path file{};
};
Result<Place> place_of(std::string url) {
  if (url.empty()) {
    const char* named = std::getenv("CUPEL_SERVER");
    url = named == nullptr ? "" : named;
  }
  if (url.empty())
    return Error{Code::kInvalid, "which service? --server https://HOST:PORT, or $CUPEL_SERVER"};
  Place place;
  TRY(place.server, api::server_address(url, "--server"));
  TRY(place.file, api::login_file(place.server));
  return place;
}

/// As it was asked for; else as it was the last time. Errors: kInvalid, with all that is missing.
Result<api::Provider> provider_of(const LoginOptions& options,
                                  const std::optional<api::KeptLogin>& known) {
  const auto last = known ? known->provider : api::Provider{};
  const auto chosen = [](const std::string& output, const std::string& before) {
    return output.empty() ? before : output;
  };
  api::Provider provider{chosen(options.issuer, last.issuer), chosen(options.client, last.client),
                         chosen(options.scope, last.scope), chosen(options.ca, last.ca)};
  if (provider.scope.empty()) provider.scope = kUsualScope;
  std::string wrong;
  const auto add = [&](const std::string& what) { wrong += (wrong.empty() ? "" : "; ") + what; };
  if (provider.issuer.empty())
    add("--issuer is missing: the issuer: of the service's oidc: settings");
  else if (const auto fault = inventory::fault_in_server_url(provider.issuer, false))
    add("--issuer " + *fault);
  if (provider.client.empty())
    add("--client-id is missing: the audience: of the service's oidc: settings");
  for (const auto& each : {provider.client, provider.scope})
    if (printable(each) != each)
      add("--client-id and --scope are words without control characters");
  if (!wrong.empty()) return Error{Code::kInvalid, wrong};
  TRY(check_ca_file(provider.ca));
  if (!provider.ca.empty()) provider.ca = absolute_path(provider.ca).string();
  return provider;
}

/// Shows the code, and waits for the person.
Task<Result<api::KeptLogin>> log_in(api::Provider provider) {
  api::KeptLogin login{.provider = provider};
  CO_TRY(login.endpoints, co_await api::find_endpoints(provider, Deadline::in(kAskPatience)));
  CO_TRY(auto code,
         co_await api::ask_device_code(provider, login.endpoints, Deadline::in(kAskPatience)));
  say("open {} and enter {}; it waits {} minutes\n", code.page, code.user,
      (code.lasts.count() + 59) / 60);
  std::fflush(stdout);
  CO_TRY(login.tokens, co_await api::wait_for_login(std::move(provider), login.endpoints,
                                                    std::move(code), {}, Deadline::in(kPatience)));
  co_return login;
}

std::string until_text(const api::KeptLogin& login) {
  return report::utc(engine::WallTime{login.tokens.expires});
}

Exit run_login(const Context& context, const LoginOptions& options) {
  const auto ca = check_ca_file(options.ca);
  if (!ca) return print_error(context, ca.error(), Exit::invalid);
  const auto place = place_of(options.server);
  if (!place) return print_error(context, place.error(), Exit::invalid);
  const auto known = api::read_login(place->file);
  const bool complete = !options.issuer.empty() && !options.client.empty();
  if (!known && !complete) return print_error(context, known.error(), Exit::invalid);
  const auto provider = provider_of(options, known ? *known : std::nullopt);
  if (!provider) return print_error(context, provider.error(), Exit::invalid);
  asio::io_context io{1};
  const auto login = run_to_end(io, log_in(*provider));
  if (!login) return print_error(context, login.error(), Exit::unfinished);
  const auto written = api::write_login(place->file, *login);
  if (!written) return print_error(context, written.error(), Exit::unfinished);
  say("logged in until {}{}\n", until_text(*login),
      login->tokens.refresh.empty() ? "" : "; it is renewed by itself");
  return Exit::passed;
}

Exit run_logout(const Context& context, const std::string& server) {
  const auto place = place_of(server);
  if (!place) return print_error(context, place.error(), Exit::invalid);
  std::error_code failed;
  const bool removed = fs::remove(place->file, failed);
  if (failed)
    return print_error(
        context,
        Error{Code::kStorage, fmt::format("{}: {}", place->file.string(), failed.message())},
        Exit::unfinished);
  say("{}\n", removed ? "the login is forgotten; the identity provider ends its session itself"
                      : "no login is kept for that service");
  return Exit::passed;
}

}  // namespace

CommandRow login_command(Context& context) {
  auto options = std::make_shared<LoginOptions>();
  CommandRow row{"login", "logs in to a service by the site's identity provider"};
  row.footer =
      "Example: cupel login --server https://cupel.example.com:8443 --issuer URL --client-id ID\n"
      "Exit codes: 0 logged in, 2 the input is wrong, 3 the login was not made.";
  row.options = {
      {"--server", &options->server, "the service: https://HOST:PORT [$CUPEL_SERVER]"},
      {"--issuer", &options->issuer, "of the service's oidc: settings [as the last time]"},
      {"--client-id", &options->client,
       "the audience of the service's oidc: settings, a client without a secret that may use the "
       "device flow [as the last time]"},
      {"--scope", &options->scope, "what is asked for [openid offline_access]"},
      {"--ca", &options->ca,
       "PEM file of the authority of the provider's certificate [the system's]"}};
  row.run = [&context, options] { return run_login(context, *options); };
  return row;
}

CommandRow logout_command(Context& context) {
  auto server = std::make_shared<std::string>();
  CommandRow row{"logout", "forgets the login at a service"};
  row.footer =
      "Example: cupel logout --server https://cupel.example.com:8443\n"
      "Exit codes: 0 forgotten, or there was none, 2 the input is wrong, 3 it could not be "
      "removed.";
  row.options = {{"--server", server.get(), "the service: https://HOST:PORT [$CUPEL_SERVER]"}};
  row.run = [&context, server] { return run_logout(context, *server); };
  return row;
}

}  // namespace cupel::cli
