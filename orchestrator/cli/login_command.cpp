// `cupel login` and `cupel logout`: a person's login at a service by the site's identity provider.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/json.h"
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

/// As it was asked for; else as it was the last time.
api::Provider chosen_provider(const LoginOptions& options, const api::Provider& last) {
  const auto chosen = [](const std::string& asked, const std::string& before) {
    return asked.empty() ? before : asked;
  };
  return {chosen(options.issuer, last.issuer), chosen(options.client, last.client),
          chosen(options.scope, last.scope), chosen(options.ca, last.ca)};
}

std::string url_of(const api::ServerAddress& server) {
  const bool is_v6 = server.host.contains(':');
  return fmt::format("https://{}{}{}:{}", is_v6 ? "[" : "", printable(server.host),
                     is_v6 ? "]" : "", server.port);
}

/// The provider that the service names, over TLS that is verified by $CUPEL_CA or the system's
/// authorities. Errors: those of ServiceClient::get(); kMalformed: what no service of Cupel says.
Result<api::Provider> provider_of_service(api::ServerAddress server) {
  constexpr std::size_t kLongestWord = 1000;
  const char* ca = std::getenv("CUPEL_CA");
  server.ca = ca == nullptr ? "" : ca;
  TRY(const auto answer, api::ServiceClient{std::move(server)}.get("/api/v1/login"));
  api::Provider named;
  named.issuer = text_at(answer, "issuer").value_or("");
  named.client = text_at(answer, "client_id").value_or("");
  named.scope = text_at(answer, "scope").value_or(kUsualScope);
  // --issuer may name http:// on loopback; a service elsewhere may not send a person there.
  const bool is_safe =
      named.issuer.starts_with("https://") && !inventory::fault_in_server_url(named.issuer, false);
  const bool is_sound = !named.client.empty() && named.client.size() <= kLongestWord &&
                        named.scope.size() <= kLongestWord &&
                        printable(named.client + named.scope) == named.client + named.scope;
  if (!is_safe || !is_sound)
    return Error{Code::kMalformed, "it names no https:// issuer with a client"};
  return named;
}

/// Takes what is missing from what the service names, and says so. Errors: those of
/// provider_of_service(); kConflict: the service's client is one of another issuer.
Result<void> take_from_service(api::Provider& provider, const api::ServerAddress& server) {
  TRY(const auto named, provider_of_service(server));
  const auto bare = [](std::string_view url) {
    return url.substr(0, url.find_last_not_of('/') + 1);
  };
  if (provider.issuer.empty()) provider.issuer = named.issuer;
  if (bare(provider.issuer) != bare(named.issuer))
    return Error{Code::kConflict, fmt::format("it names another issuer, {}", named.issuer)};
  if (provider.client.empty()) provider.client = named.client;
  if (provider.scope.empty()) provider.scope = named.scope;
  say("{} names the issuer {} and the client {}\n", url_of(server), named.issuer, named.client);
  return ok();
}

/// Of what is there.
std::vector<std::string> faults_of(const api::Provider& provider) {
  std::vector<std::string> faults;
  if (!provider.issuer.empty())
    if (const auto fault = inventory::fault_in_server_url(provider.issuer, false))
      faults.push_back("--issuer " + *fault);
  if (printable(provider.client + provider.scope) != provider.client + provider.scope)
    faults.emplace_back("--client-id and --scope are words without control characters");
  return faults;
}

/// As it was asked for, as it was the last time, or as the service names it. Errors: kInvalid, with
/// all that is wrong or missing.
Result<api::Provider> provider_of(const LoginOptions& options,
                                  const std::optional<api::KeptLogin>& known,
                                  const api::ServerAddress& server) {
  auto provider = chosen_provider(options, known ? known->provider : api::Provider{});
  auto faults = faults_of(provider);
  const bool lacks = provider.issuer.empty() || provider.client.empty();
  const auto completed = lacks && faults.empty() ? take_from_service(provider, server) : ok();
  if (provider.issuer.empty())
    faults.emplace_back("--issuer is missing: the issuer: of the service's oidc: settings");
  if (provider.client.empty())
    faults.emplace_back("--client-id is missing: the audience: of the service's oidc: settings");
  if (!completed) faults.push_back("the service was asked for it: " + completed.error().what);
  if (!faults.empty()) return Error{Code::kInvalid, fmt::format("{}", fmt::join(faults, "; "))};
  if (provider.scope.empty()) provider.scope = kUsualScope;
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
  say("login at {}: open {} and enter {}; it waits {} minutes\n", provider.issuer, code.page,
      code.user, (code.lasts.count() + 59) / 60);
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
  const auto provider = provider_of(options, known ? *known : std::nullopt, place->server);
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
      "Example: cupel login --server https://cupel.example.com:8443\n"
      "Exit codes: 0 logged in, 2 the input is wrong, 3 the login was not made.";
  row.options = {
      {"--server", &options->server, "the service: https://HOST:PORT [$CUPEL_SERVER]"},
      {"--issuer", &options->issuer,
       "the provider's address [as the last time; else as the service names it]"},
      {"--client-id", &options->client,
       "a client without a secret that may use the device flow [as the last time; else as the "
       "service names it]"},
      {"--scope", &options->scope,
       "what is asked for [as the service names it, or openid offline_access]"},
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
